import Synchronization
import TernTransport

/// Both ends of one loopback link, and the frames between them.
///
/// A frame goes from the sender's outbox (at `send`) to the receiver's inbox (at `flush`) and
/// to its handler (on the executor). ``LoopbackLink`` calls from any thread; handlers are
/// called on the executor alone, never under the lock.
final class LoopbackPair: Sendable {
  /// One of the two ends.
  enum Side: Int, Sendable {
    case opener, acceptor

    var other: Side { self == .opener ? .acceptor : .opener }
  }

  /// One end: what it sent and did not flush, what came for it, and whether it has ended.
  private struct End {
    /// `nil` before ``start(acceptor:opener:)`` and after the closure was told.
    var handler: (any LinkHandler)?
    /// Frames that were sent and not flushed.
    var outbox: [[UInt8]] = []
    var outboxBytes = 0
    /// Frames that the other end has flushed and the handler has not received.
    var inbox: [[UInt8]] = []
    var inboxBytes = 0
    /// False while the handler wants no frames; they gather in the inbox.
    var isReading = true
    /// True from the moment that more than `LinkPressure.highBytes` were queued from this end,
    /// until the drain was told.
    var isUnderPressure = false
    /// True while a delivery for this end waits on the executor.
    var isDeliveryOwed = false
    /// Set once the end is over; told to the handler when its last frames are delivered.
    var closure: LinkClosure?
    /// True when frames that arrived before the closure still go to the handler.
    var deliversRest = false
  }

  /// The number within its transport, from 1; it is part of the peer's name.
  let number: Int
  let limit: FrameLimit
  /// The owner; the transport forgets the pair when both handlers have been told of the end.
  private let transport: LoopbackTransport
  /// The end of the opener and that of the acceptor, by the raw values of ``Side``.
  private let ends: Mutex<[End]> = Mutex([End(), End()])

  init(number: Int, limit: FrameLimit, transport: LoopbackTransport) {
    self.number = number
    self.limit = limit
    self.transport = transport
  }

  /// Installs the handlers; what they sent meanwhile is delivered from now on.
  ///
  /// Deliveries are queued for both ends even if nothing waits, because a handler may have
  /// closed its link before it was installed.
  func start(acceptor: any LinkHandler, opener: any LinkHandler) {
    ends.withLock { ends in
      ends[Side.acceptor.rawValue].handler = acceptor
      ends[Side.opener.rawValue].handler = opener
    }
    emit(.acceptor)
    emit(.opener)
  }

  func queuedBytes(of side: Side) -> Int {
    ends.withLock { Self.queuedBytes(of: side, in: $0) }
  }

  /// Queues a frame in the sender's outbox. One above the limit closes the link from this side.
  func send(_ frame: [UInt8], from side: Side) {
    guard frame.count <= limit.bytes else {
      close(side, .frameTooLarge(bytes: frame.count, limitBytes: limit.bytes))
      return
    }
    ends.withLock { ends in
      guard ends[side.rawValue].closure == nil else { return }
      ends[side.rawValue].outbox.append(frame)
      ends[side.rawValue].outboxBytes += frame.count
      if Self.queuedBytes(of: side, in: ends) > LinkPressure.highBytes {
        ends[side.rawValue].isUnderPressure = true
      }
    }
  }

  /// Moves what was sent to the other end's inbox, and queues a delivery if there was anything.
  func flush(_ side: Side) {
    let hasMoved = ends.withLock { Self.moveOutbox(of: side, in: &$0) }
    if hasMoved { emit(side.other) }
  }

  func setReading(_ on: Bool, at side: Side) {
    ends.withLock { $0[side.rawValue].isReading = on }
    if on { emit(side) }
  }

  /// Ends the link from `side`: its frames still travel, the other's are dropped.
  ///
  /// The peer's end is closed with it as `closedByPeer`, and still gets what was sent to it.
  /// The first close wins; later ones do nothing.
  func close(_ side: Side, _ reason: LinkClosure) {
    let isFirst = ends.withLock { ends in
      guard ends[side.rawValue].closure == nil else { return false }
      _ = Self.moveOutbox(of: side, in: &ends)
      ends[side.rawValue].closure = reason
      Self.clear(side, in: &ends)
      if ends[side.other.rawValue].closure == nil {
        ends[side.other.rawValue].closure = .closedByPeer
        ends[side.other.rawValue].deliversRest = true
        ends[side.other.rawValue].outbox = []
        ends[side.other.rawValue].outboxBytes = 0
      }
      return true
    }
    guard isFirst else { return }
    emit(side)
    emit(side.other)
  }

  /// Breaks the link: nothing more arrives anywhere.
  ///
  /// An end that has closed itself keeps its reason; the others are told `lost`. Frames in both
  /// inboxes and outboxes are dropped.
  func cut() {
    ends.withLock { ends in
      for side in [Side.acceptor, .opener] {
        Self.clear(side, in: &ends)
        let reason = ends[side.rawValue].closure ?? .closedByPeer
        ends[side.rawValue].deliversRest = false
        if reason == .closedByPeer { ends[side.rawValue].closure = .lost("cut") }
      }
    }
    emit(.acceptor)
    emit(.opener)
  }
}

// MARK: - Delivery

extension LoopbackPair {
  /// Puts one delivery for `side` on the executor unless one waits there already.
  private func emit(_ side: Side) {
    let isNew = ends.withLock { ends in
      if ends[side.rawValue].isDeliveryOwed { return false }
      ends[side.rawValue].isDeliveryOwed = true
      return true
    }
    if isNew { transport.loop.add { self.deliver(to: side) } }
  }

  /// Calls the handler with what is there. Order: frames, closure, and last the drain of the
  /// sender, who may send at once.
  private func deliver(to side: Side) {
    let (handler, frames, sender, closure) = ends.withLock { Self.take(for: side, from: &$0) }
    guard let handler else { return }
    if !frames.isEmpty { handler.linkDidReceive(frames) }
    if let closure {
      handler.linkDidClose(closure)
      finish()
    }
    sender?.linkDidDrain()
  }

  /// Takes what `side` may have now, and the sender to tell if that ended its pressure.
  private static func take(
    for side: Side, from ends: inout [End]
  ) -> (
    handler: (any LinkHandler)?, frames: [[UInt8]], drained: (any LinkHandler)?,
    closure: LinkClosure?
  ) {
    var end = ends[side.rawValue]
    defer { ends[side.rawValue] = end }
    end.isDeliveryOwed = false
    let handler = end.handler
    let closure = end.closure
    var frames: [[UInt8]] = []
    if closure == nil ? end.isReading : end.deliversRest {
      frames = exchange(&end.inbox, with: [])
      end.inboxBytes = 0
    }
    // Taken out under the lock, so that the closure is told once, and nothing after it.
    if closure != nil { end.handler = nil }

    var sender = ends[side.other.rawValue]
    var drained: (any LinkHandler)?
    if sender.isUnderPressure, sender.closure == nil,
      sender.outboxBytes + end.inboxBytes <= LinkPressure.lowBytes
    {
      sender.isUnderPressure = false
      ends[side.other.rawValue] = sender
      drained = sender.handler
    }
    return (handler, frames, drained, closure)
  }

  /// Lets the transport forget the pair once neither end has a handler.
  private func finish() {
    let isOver = ends.withLock { $0.allSatisfy { $0.handler == nil } }
    if isOver { transport.forget(number) }
  }

  /// The bytes that a side has sent and the other's handler has not received: its own outbox
  /// and the other's inbox.
  private static func queuedBytes(of side: Side, in ends: [End]) -> Int {
    ends[side.rawValue].outboxBytes + ends[side.other.rawValue].inboxBytes
  }

  /// Moves a side's outbox to the other's inbox; frames for an end that is over are dropped.
  ///
  /// - Returns: `true` if a delivery is due.
  private static func moveOutbox(of side: Side, in ends: inout [End]) -> Bool {
    let frames = exchange(&ends[side.rawValue].outbox, with: [])
    let bytes = exchange(&ends[side.rawValue].outboxBytes, with: 0)
    guard !frames.isEmpty, ends[side.other.rawValue].closure == nil else { return false }
    ends[side.other.rawValue].inbox += frames
    ends[side.other.rawValue].inboxBytes += bytes
    return true
  }

  /// Drops what would still come in at `side` and what it has not flushed.
  private static func clear(_ side: Side, in ends: inout [End]) {
    ends[side.rawValue].inbox = []
    ends[side.rawValue].inboxBytes = 0
    ends[side.rawValue].outbox = []
    ends[side.rawValue].outboxBytes = 0
  }
}
