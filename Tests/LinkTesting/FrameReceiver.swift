import Synchronization
package import TernTransport

/// Keeps the frames that a link receives, for a test that takes them one at a time.
package final class FrameReceiver: LinkHandler {
  private let frames = ArrivalQueue<[UInt8]>()
  private let ends = Mutex(0)
  private let onEvent: @Sendable () -> Void

  /// - Parameter onEvent: Called with each thing that the link tells, where the link tells it.
  package init(onEvent: @escaping @Sendable () -> Void = {}) { self.onEvent = onEvent }

  /// The number of times that the link has told its end.
  package var endCount: Int { ends.withLock { $0 } }

  package func linkDidReceive(_ frames: [[UInt8]]) {
    onEvent()
    self.frames.add(frames)
  }

  package func linkDidClose(_ reason: LinkClosure) {
    onEvent()
    ends.withLock { $0 += 1 }
    frames.end()
  }

  /// The next frame; `nil` when the link has ended.
  package func next() async -> [UInt8]? { await frames.next() }

  /// The next frame, as text; `nil` when the link has ended.
  package func nextText() async -> String? {
    await next().map { String(decoding: $0, as: UTF8.self) }
  }
}
