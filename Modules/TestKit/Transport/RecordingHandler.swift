import Synchronization
import TernTransport

/// Writes down everything its link tells it, and notices what the contract forbids.
///
/// Callbacks come on the transport's executor, where errors cannot be thrown: what the contract
/// forbids is kept as a complaint, which ``check()`` throws in the test.
final class RecordingHandler: LinkHandler {
  let link: any Link
  /// All frames, in the order of their arrival.
  let frames = Inbox<[UInt8]>()
  /// The reason of each close; a second one is a fault of the transport.
  let closures = Inbox<LinkClosure>()
  /// The bytes that were still queued at each drain.
  let drains = Inbox<Int>()
  private let respond = Mutex<(@Sendable ([UInt8], any Link) -> Void)?>(nil)
  /// The latest thing that was noticed.
  private let complaint = Mutex<String?>(nil)

  init(_ link: any Link) {
    self.link = link
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    if frames.isEmpty { complain("an empty list of frames was delivered") }
    if closures.count > 0 { complain("frames were delivered after the close") }
    self.frames.add(frames)
    guard let respond = respond.withLock({ $0 }) else { return }
    for frame in frames { respond(frame, link) }
    link.flush()
  }

  func linkDidDrain() {
    if closures.count > 0 { complain("a drain was told after the close") }
    drains.add(link.queuedBytes)
  }

  func linkDidClose(_ reason: LinkClosure) {
    if closures.count > 0 { complain("the close was told twice") }
    closures.add(reason)
  }

  /// Answers every frame from now on.
  func answer(_ respond: @escaping @Sendable ([UInt8], any Link) -> Void) {
    self.respond.withLock { $0 = respond }
  }

  /// Sends frames and flushes once.
  func send(_ frames: [[UInt8]]) {
    for frame in frames { link.send(frame) }
    link.flush()
  }

  /// Waits for the end of the link, and checks why it came.
  func expectClose(_ allowed: LinkClosure...) async throws {
    let reason = try await closures.first(1, "close")[0]
    try require(allowed.contains(reason), "closed with \(reason), expected \(allowed)")
    try check()
  }

  /// Throws what was noticed.
  func check() throws {
    if let complaint = complaint.withLock({ $0 }) { throw TransportFailure(complaint) }
  }

  private func complain(_ text: String) {
    complaint.withLock { $0 = text }
  }
}
