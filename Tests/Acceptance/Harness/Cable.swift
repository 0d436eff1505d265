import Foundation
import Synchronization
import TernTransport

/// A client's way to the server, which a test can cut, hold, silence and listen in on.
final class Cable: Transport {
  enum Cut: Error { case unplugged }

  /// The traffic, for observers.
  enum Event {
    case attempted
    case opened
    case sent([UInt8])
    case received([[UInt8]])
  }

  fileprivate struct State {
    var isPlugged: Bool
    var isSilent = false
    var isHolding = false
    var held: [[UInt8]] = []
    var framesUntilCut: Int?
    var bytesUntilCut: Int?
    var wasCut = false
    var conditionalStatus: String?
    var conditionalPuts = 0
    var received: [String] = []
    var sent: [String] = []
    var link: (any Link)?
    var handler: (any LinkHandler)?
  }

  private let base: any Transport
  private let state: Mutex<State>
  private let news = Trace()
  private let tap: (@Sendable (Event) -> Void)?

  /// - Parameter tap: Hears everything before the ends do.
  init(
    _ base: any Transport, isPlugged: Bool = true, tapped tap: (@Sendable (Event) -> Void)? = nil
  ) {
    self.base = base
    self.tap = tap
    state = Mutex(State(isPlugged: isPlugged))
  }

  var executor: any SerialExecutor { base.executor }

  func enqueue(_ work: @escaping @Sendable () -> Void) { base.enqueue(work) }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    tap?(.attempted)
    guard state.withLock({ $0.isPlugged }) else { throw .refused(host: "unplugged", port: 0) }
    return try await base.connect { link in
      self.tap?(.opened)
      let end = CableEnd(self, link)
      self.state.withLock { $0.link = end }
      return CableHandler(self, open(end))
    }
  }

  func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    try await base.listen(accept)
  }

  func shutdown() async {}
}

extension Cable.State {
  /// Takes a frame's bytes, length and all, from those that may still pass. A frame that does not
  /// fit is cut in two, and its reader gets nothing of it.
  fileprivate mutating func carries(_ frame: [UInt8]) -> Bool {
    guard let left = bytesUntilCut else { return true }
    let rest = left - frame.count - 4
    bytesUntilCut = rest < 0 ? nil : rest
    return rest >= 0
  }
}

// MARK: - What a test does to it

extension Cable {
  /// Everything that came from the server, one frame an entry.
  var received: [String] { state.withLock { $0.received } }

  /// Returns the number of requests of one action that were sent.
  func sent(action: String) -> Int {
    state.withLock { $0.sent.count { $0.contains("\"a\":\"\(action)\"") } }
  }

  /// The number of conditional writes that were sent.
  var conditionalPuts: Int { state.withLock { $0.conditionalPuts } }

  func plug() { state.withLock { $0.isPlugged = true } }

  /// Lets no new connection through; an existing one breaks if the ends are to notice.
  func unplug(noticed: Bool = true) {
    let link = state.withLock { state in
      state.isPlugged = false
      return state.link
    }
    if noticed { link?.close() }
  }

  /// Breaks the connection and lets the next one through.
  func flap() { state.withLock { $0.link }?.close() }

  /// Loses everything in both directions without closing anything.
  func silence() { state.withLock { $0.isSilent = true } }

  func hold() { state.withLock { $0.isHolding = true } }

  func release() {
    let (frames, link) = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return (state.held, state.link)
    }
    for frame in frames { link?.send(frame) }
    link?.flush()
  }

  /// Breaks the cable for good after this many more frames to the server.
  func cut(afterFrames count: Int) { state.withLock { $0.framesUntilCut = count } }

  /// Breaks the connection once this many bytes have passed, in both directions together; the next
  /// connection gets through.
  func cut(afterBytes count: Int) { state.withLock { $0.bytesUntilCut = count } }

  /// True while bytes are still to pass before the cut.
  var awaitsCut: Bool { state.withLock { $0.bytesUntilCut != nil } }

  func waitForCut() async throws { try await news.wait(for: "cut") }

  /// Keeps conditional writes from the server and answers them with a status.
  func answerConditionalPuts(with status: String) {
    state.withLock { $0.conditionalStatus = status }
  }
}

// MARK: - What passes through

extension Cable {
  /// Decides about a frame to the server: whether it goes on, and what is answered in its place.
  func outgoing(_ frame: [UInt8]) -> (passes: Bool, answer: [UInt8]?, cuts: Bool) {
    tap?(.sent(frame))
    let text = String(decoding: frame, as: UTF8.self)
    return state.withLock { state in
      if state.isSilent { return (false, nil, false) }
      state.sent.append(text)
      guard state.carries(frame) else { return (false, nil, true) }
      if state.isHolding {
        state.held.append(frame)
        return (false, nil, false)
      }
      if text.contains(#""a":"p""#), text.contains(#""h":"#) {
        state.conditionalPuts += 1
        if let status = state.conditionalStatus, let request = Self.requestNumber(in: text) {
          let answer = #"{"t":"d","d":{"r":\#(request),"b":{"s":"\#(status)","d":""}}}"#
          return (false, Array(answer.utf8), false)
        }
      }
      guard let left = state.framesUntilCut else { return (true, nil, false) }
      state.framesUntilCut = left - 1
      if left <= 1 { state.isPlugged = false }
      return (true, nil, left <= 1)
    }
  }

  func incoming(_ frames: [[UInt8]]) -> [[UInt8]] {
    let (passed, isCut, link) = state.withLock { state -> ([[UInt8]], Bool, (any Link)?) in
      if state.isSilent { return ([], false, nil) }
      let whole = frames.prefix { state.carries($0) }
      state.received += whole.map { String(decoding: $0, as: UTF8.self) }
      return (Array(whole), whole.count < frames.count, state.link)
    }
    if isCut {
      wasCut()
      link?.close()
    }
    if !passed.isEmpty { tap?(.received(passed)) }
    return passed
  }

  func wasCut() { state.withLock { $0.wasCut = true } }

  /// The client has been told of the end of a link: a test that waits for the cut may resume now.
  func hasEnded() {
    let isCut = state.withLock { state in
      defer { state.wasCut = false }
      return state.wasCut
    }
    if isCut { news.add("cut") }
  }

  func attach(_ handler: any LinkHandler) { state.withLock { $0.handler = handler } }

  /// Tells the client something in the server's name.
  func answer(_ frame: [UInt8]) {
    state.withLock { $0.handler }?.linkDidReceive([frame])
  }

  private static func requestNumber(in text: String) -> Int? {
    guard let start = text.range(of: #""r":"#) else { return nil }
    return Int(text[start.upperBound...].prefix { $0.isNumber })
  }
}

private final class CableEnd: Link {
  private let cable: Cable
  private let link: any Link

  init(_ cable: Cable, _ link: any Link) {
    self.cable = cable
    self.link = link
  }

  var peer: String { link.peer }
  var queuedBytes: Int { link.queuedBytes }
  func flush() { link.flush() }
  func setReading(_ on: Bool) { link.setReading(on) }
  func close() { link.close() }

  func send(_ frame: [UInt8]) {
    let decision = cable.outgoing(frame)
    if decision.passes { link.send(frame) }
    if let answer = decision.answer {
      cable.enqueue { [cable] in cable.answer(answer) }
    }
    if decision.cuts {
      link.flush()
      cable.wasCut()
      link.close()
    }
  }
}

private final class CableHandler: LinkHandler {
  private let cable: Cable
  private let handler: any LinkHandler

  init(_ cable: Cable, _ handler: any LinkHandler) {
    self.cable = cable
    self.handler = handler
    cable.attach(handler)
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    let frames = cable.incoming(frames)
    if !frames.isEmpty { handler.linkDidReceive(frames) }
  }

  func linkDidDrain() { handler.linkDidDrain() }

  func linkDidClose(_ reason: LinkClosure) {
    handler.linkDidClose(reason)
    cable.hasEnded()
  }
}
