import TernCore
import TernDocumentWire
import Testing

@testable import TernServer

@Suite("calls that other nodes answer")
struct ForwardedCallsTests {
  private typealias Calls = ForwardedCalls<String>

  private static func open(
    _ call: UInt32, _ method: DocumentMethod, _ message: [UInt8]? = nil
  ) -> [UInt8] {
    DocumentClientFrame.open(stream: call, DocumentCallOpening(method, message: message)).encode()
  }

  private static func message(_ call: UInt32, _ node: String) -> [UInt8] {
    DocumentClientFrame.message(stream: call, Array(node.utf8)).encode()
  }

  /// The node is named by the message; commits belong to `a` whatever that says.
  private static func place(_ method: DocumentMethod, _ message: [UInt8]?) -> FramePlace<String>? {
    if method == .commit { return .node("a") }
    guard let message else { return nil }
    return message.isEmpty ? .here : .node(String(decoding: message, as: UTF8.self))
  }

  private static func route(_ calls: inout Calls, _ frame: [UInt8]) -> [PlacedFrame<String>] {
    calls.route(frame, by: place)
  }

  @Test("a call belongs to one node from its opening to its answer")
  func nodes() {
    var calls = Calls()
    let opening = Self.open(1, .commit)
    #expect(Self.route(&calls, opening) == [PlacedFrame(opening, .node("a"))])
    let more = Self.message(1, "b")
    #expect(Self.route(&calls, more) == [PlacedFrame(more, .node("a"))])
    let here = Self.open(2, .getDocument, [])
    #expect(Self.route(&calls, here) == [PlacedFrame(here, .here)])
    #expect(calls.uses("a") && !calls.uses("b"))
    let answer = DocumentServerFrame.answer(stream: 1, [1]).encode()
    #expect(calls.receive(answer, from: "b") == .ignored)
    #expect(calls.receive(DocumentServerFrame.pong.encode(), from: "a") == .ignored)
    #expect(calls.receive([255], from: "a") == .end)
    #expect(calls.receive(answer, from: "a") == .forClient)
    #expect(calls.receive(answer, from: "a") == .ignored && !calls.uses("a"))
    #expect(Self.route(&calls, more) == [PlacedFrame(more, .here)])
  }

  @Test("a cancellation goes where its call is, and nothing of the call after it")
  func cancellation() {
    var calls = Calls()
    _ = Self.route(&calls, Self.open(1, .commit))
    let cancel = DocumentClientFrame.cancel(stream: 1).encode()
    #expect(Self.route(&calls, cancel) == [PlacedFrame(cancel, .node("a"))])
    let answer = DocumentServerFrame.answer(stream: 1, [1]).encode()
    #expect(calls.receive(answer, from: "a") == .ignored)
    // One that is cancelled before its first message is answered here, and what waited goes on.
    let opening = Self.open(2, .runQuery)
    #expect(Self.route(&calls, opening) == [])
    let later = Self.open(3, .commit)
    #expect(Self.route(&calls, later) == [])
    let early = DocumentClientFrame.cancel(stream: 2).encode()
    #expect(
      Self.route(&calls, early) == [
        PlacedFrame(opening, .here), PlacedFrame(early, .here), PlacedFrame(later, .node("a")),
      ])
  }

  @Test("frames of later calls wait in their order, and those of earlier calls do not")
  func order() {
    var calls = Calls()
    _ = Self.route(&calls, Self.open(1, .commit))
    let opening = Self.open(2, .runQuery)
    #expect(Self.route(&calls, opening) == [])
    let third = Self.open(3, .getDocument)
    let fourth = Self.open(4, .getDocument, Array("c".utf8))
    #expect(Self.route(&calls, third) == [] && Self.route(&calls, fourth) == [])
    let earlier = DocumentClientFrame.halfClose(stream: 1).encode()
    #expect(Self.route(&calls, earlier) == [PlacedFrame(earlier, .node("a"))])
    let ping = DocumentClientFrame.ping.encode()
    #expect(Self.route(&calls, ping) == [PlacedFrame(ping, .here)])
    let second = Self.message(2, "b")
    #expect(
      Self.route(&calls, second) == [
        PlacedFrame(opening, .node("b")), PlacedFrame(second, .node("b")),
      ])
    // The next one waits in its turn.
    let next = Self.message(3, "")
    #expect(
      Self.route(&calls, next) == [
        PlacedFrame(third, .here), PlacedFrame(next, .here), PlacedFrame(fourth, .node("c")),
      ])
  }

  @Test("an earlier call that does not say first what it is about is refused")
  func descent() {
    var calls = Calls()
    let opening = Self.open(2, .runQuery)
    #expect(Self.route(&calls, opening) == [])
    let earlier = Self.open(1, .runQuery)
    #expect(Self.route(&calls, earlier) == [PlacedFrame(earlier, .refused)])
    let message = Self.message(2, "b")
    #expect(
      Self.route(&calls, message) == [
        PlacedFrame(opening, .node("b")), PlacedFrame(message, .node("b")),
      ])
  }

  @Test("so many frames wait, and so many bytes with the opening, and no more")
  func limits() {
    var calls = Calls()
    _ = Self.route(&calls, Self.open(1, .runQuery))
    for call in 2..<UInt32(2 + ForwardedCallLimits.heldFrames) {
      #expect(Self.route(&calls, Self.open(call, .getDocument)) == [])
    }
    let over = Self.open(9_000, .getDocument)
    #expect(Self.route(&calls, over) == [PlacedFrame(over, .refused)])
    var large = Calls()
    let opening = Self.open(1, .runQuery)
    _ = Self.route(&large, opening)
    let head = Self.open(2, .commit, []).count
    let room = ForwardedCallLimits.heldBytes - opening.count - head
    let full = Self.open(2, .commit, [UInt8](repeating: 0, count: room))
    #expect(Self.route(&large, full) == [])
    let one = DocumentClientFrame.cancel(stream: 2).encode()
    #expect(Self.route(&large, one) == [PlacedFrame(one, .refused)])
    // Once it is decided, as much may wait for the next one.
    #expect(Self.route(&large, Self.message(1, "b")).count == 3)
    #expect(Self.route(&large, Self.open(3, .runQuery)) == [])
    #expect(Self.route(&large, Self.open(4, .commit, [UInt8](repeating: 0, count: room))) == [])
  }

  @Test("the calls of a node that is lost end as unavailable, in their order, and no others")
  func loss() throws {
    var calls = Calls()
    for call: UInt32 in [5, 6, 7] {
      _ = Self.route(&calls, Self.open(call, .getDocument, Array((call == 6 ? "b" : "a").utf8)))
    }
    let ends = calls.lose("a", "gone").map { try? DocumentServerFrame.decode($0) }
    let status = DocumentStatus(.unavailable, "gone")
    #expect(ends == [.end(stream: 5, status), .end(stream: 7, status)])
    #expect(calls.lose("a", "gone") == [] && calls.uses("b"))
  }
}
