import Synchronization
import TernCore
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Keeps what is sent, and notes its end.
private final class KeepingLink: Link {
  private struct State {
    var frames: [[UInt8]] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var peer: String { "leader" }
  var queuedBytes: Int { 0 }
  func send(_ frame: [UInt8]) { state.withLock { $0.frames.append(frame) } }
  func flush() {}
  func setReading(_ on: Bool) {}
  func close() { state.withLock { $0.isClosed = true } }

  func takeFrames() -> [[UInt8]] {
    state.withLock { state in
      defer { state.frames = [] }
      return state.frames
    }
  }
}

@Suite("links of a node that follows to the leader")
struct ForwardedLinkTests {
  private static let opening = TreeClientMessage.open(TreeOpening()).encode()

  private static func put(_ number: UInt64) -> [UInt8] {
    TreeClientMessage.request(number, .put("a", 1, expectedHash: nil, .none)).encode()
  }

  /// A link over which one write was sent and answered.
  private static func used(at uptime: Int64) -> (link: ForwardedLink, carrier: KeepingLink) {
    let (link, carrier) = (ForwardedLink(number: 1), KeepingLink())
    _ = link.routes.route(opening)
    _ = link.routes.route(put(1))
    link.begin(with: link.routes.beginning(nil))
    link.append(put(1))
    link.carrier = carrier
    link.presence.used = uptime
    link.flush()
    link.isBlocked = false
    link.flush()
    return (link, carrier)
  }

  @Test("a link that owes nothing is closed after a while, and no other")
  func idle() {
    let (link, carrier) = Self.used(at: 5_000)
    link.closeIfUnused(at: 60_000)
    #expect(!carrier.isClosed, "it owes an answer")
    let answer = TreeServerMessage.response(1, TreeResponse(.ok, version: 1)).encode()
    #expect(link.routes.receive(answer) == .forClient)
    link.closeIfUnused(at: 14_999)
    #expect(!carrier.isClosed)
    link.closeIfUnused(at: 15_000)
    #expect(carrier.isClosed && link.carrier == nil)
    #expect(carrier.takeFrames() == [Self.opening, Self.put(1)])
  }

  @Test("another node is given up that answers no ping for three ticks and ten seconds")
  func silence() {
    var presence = LinkPresence()
    for tick in Int64(0)..<3 { #expect(presence.ping(at: tick * 5_000) == true) }
    var heard = presence
    #expect(presence.ping(at: 15_000) == false)
    heard.noteHeard()
    for tick in Int64(3)..<6 { #expect(heard.ping(at: tick * 5_000) == true) }
    #expect(heard.ping(at: 30_000) == false)
    // Short ticks do not shorten the time.
    var often = LinkPresence()
    for tick in Int64(0)..<1_000 { #expect(often.ping(at: tick * 10) == true) }
    #expect(often.ping(at: 10_000) == false)
    // One that is not read from cannot be heard.
    var unread = LinkPresence()
    unread.isRead = false
    for tick in Int64(0)..<9 { #expect(unread.ping(at: tick * 5_000) == true) }
  }

  @Test("the leader is told that a client is there by a frame of the client alone")
  func presence() {
    var presence = LinkPresence()
    #expect(presence.ask() == true, "its frame has opened the link")
    #expect(presence.noteClient() == false)
    // The link is opened again, without the client.
    presence = LinkPresence(isClientHeard: false)
    #expect(presence.ask() == false)
    #expect(presence.noteClient() == true)
    #expect(presence.noteClient() == false)
    #expect(presence.ask() == true)
  }

  @Test("a link that begins again without the client does not speak for it")
  func beginsAgain() {
    let link = ForwardedLink(number: 1)
    _ = link.routes.route(Self.opening)
    link.begin(with: link.routes.beginning(nil))
    link.carrier = KeepingLink()
    link.flush()
    #expect(link.beginAgain())
    #expect(link.presence.ask() == false)
  }

  @Test("a read that waits for an old copy goes on when the log is out of reach")
  func heldReads() {
    let link = ForwardedLink(number: 1)
    link.hold([1], until: 3, isRead: true)
    link.hold([2], until: 3)
    link.hold([3], until: 0, isRead: true)
    #expect(link.takeReady(after: 2) == [])
    #expect(link.takeReady(after: 2, isUnreached: true) == [[1]])
    #expect(link.takeReady(after: 2, isUnreached: true) == [], "the opening waits")
    #expect(link.takeReady(after: 3) == [[2], [3]])
  }

  @Test("pings ask for an answer, in both dialects, and no answer is for the client")
  func pings() {
    var tree = LinkRoutes()
    _ = tree.route(Self.opening)
    #expect(tree.keepAlive == TreeClientMessage.ping.encode())
    #expect(tree.isPong(TreeServerMessage.pong.encode()))
    #expect(!tree.isPong(TreeServerMessage.inquiry.encode()))
    let upstream = ShardUpstream()
    upstream.carrier = KeepingLink()
    #expect(!upstream.takesPong(TreeServerMessage.pong.encode()), "the client has asked")
    upstream.ping(tree.keepAlive)
    #expect(upstream.takesPong(TreeServerMessage.pong.encode()))
    #expect(!upstream.takesPong(TreeServerMessage.pong.encode()))
  }
}
