import Synchronization
import TernTransport

/// Frames in order, and the sum of their bytes.
struct FrameQueue {
  private(set) var frames: [[UInt8]] = []
  private(set) var bytes = 0

  mutating func append(_ more: [[UInt8]]) {
    frames += more
    for frame in more { bytes += frame.count }
  }

  mutating func removeAll() -> [[UInt8]] {
    defer { (frames, bytes) = ([], 0) }
    return frames
  }
}

/// Both ends of one link.
final class Pipe: Sendable {
  struct End {
    var handler: (any LinkHandler)?
    /// Sent and not flushed.
    var unsent = FrameQueue()
    /// Flushed by the other end and not delivered.
    var inbox = FrameQueue()
    var isReading = true
    var isUnderPressure = false
    /// Set once the end is over, until its handler is told.
    var closure: LinkClosure?
  }

  let ends = Mutex([End(), End()])
  private let limit: FrameLimit
  private let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(
    limit: FrameLimit, enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.limit = limit
    self.enqueue = enqueue
  }

  func start(_ handlers: [any LinkHandler]) {
    for side in 0...1 { change(side) { ends, _ in ends[side].handler = handlers[side] } }
  }

  func send(_ frame: [UInt8], _ side: Int) {
    if frame.count > limit.bytes {
      return close(side, .frameTooLarge(bytes: frame.count, limitBytes: limit.bytes))
    }
    ends.withLock { ends in
      if ends[side].closure != nil { return }
      ends[side].unsent.append([frame])
      let queued = ends[side].unsent.bytes + ends[1 - side].inbox.bytes
      if queued > LinkPressure.highBytes { ends[side].isUnderPressure = true }
    }
  }

  func flush(_ side: Int) { change(1 - side) { ends, _ in Self.move(from: side, &ends) } }

  func setReading(_ on: Bool, _ side: Int) { change(side) { ends, _ in ends[side].isReading = on } }

  /// Ends the link: what `side` has sent still travels, what would come in is dropped.
  func close(_ side: Int, _ reason: LinkClosure) {
    change(side) { ends, other in
      if ends[side].closure != nil { return }
      Self.move(from: side, &ends)
      ends[side].closure = reason
      _ = ends[side].inbox.removeAll()
      _ = ends[other].unsent.removeAll()
      if ends[other].closure == nil {
        (ends[other].closure, ends[other].isReading) = (.closedByPeer, true)
      }
    }
    change(1 - side) { _, _ in }
  }

  private static func move(from side: Int, _ ends: inout [End]) {
    let frames = ends[side].unsent.removeAll()
    if ends[side].closure == nil, ends[1 - side].closure == nil {
      ends[1 - side].inbox.append(frames)
    }
  }

  /// Changes the pipe, and delivers to `side` what it may have then.
  private func change(_ side: Int, _ body: (inout [End], _ other: Int) -> Void) {
    ends.withLock { body(&$0, 1 - side) }
    enqueue { [self] in
      let (handler, frames, closure, relieved) = ends.withLock { Self.take(side, &$0) }
      guard let handler else { return }
      if !frames.isEmpty { handler.linkDidReceive(frames) }
      if let closure { handler.linkDidClose(closure) }
      relieved?.linkDidDrain()
    }
  }

  private static func take(
    _ side: Int, _ ends: inout [End]
  ) -> ((any LinkHandler)?, [[UInt8]], LinkClosure?, (any LinkHandler)?) {
    guard let handler = ends[side].handler else { return (nil, [], nil, nil) }
    let frames = ends[side].isReading ? ends[side].inbox.removeAll() : []
    if ends[side].closure != nil { ends[side].handler = nil }
    let sender = ends[1 - side]
    var relieved: (any LinkHandler)?
    if sender.isUnderPressure, sender.closure == nil,
      sender.unsent.bytes + ends[side].inbox.bytes <= LinkPressure.lowBytes
    {
      ends[1 - side].isUnderPressure = false
      relieved = sender.handler
    }
    return (handler, frames, ends[side].closure, relieved)
  }
}
