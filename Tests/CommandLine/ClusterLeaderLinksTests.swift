import Synchronization
import TernServer
import TernTransport
import TernTransportTCP
import Testing

@testable import tern

/// Sends back what it is sent.
private final class Echo: LinkHandler {
  private let link: any Link
  init(_ link: any Link) { self.link = link }

  func linkDidReceive(_ frames: [[UInt8]]) {
    link.send(contentsOf: frames)
    link.flush()
  }

  func linkDidClose(_ reason: LinkClosure) {}
}

/// Keeps what it is sent.
private final class Ear: LinkHandler {
  private let report: AsyncStream<[UInt8]?>.Continuation
  private let events: AsyncStream<[UInt8]?>

  init() { (events, report) = AsyncStream<[UInt8]?>.makeStream() }

  func linkDidReceive(_ frames: [[UInt8]]) { for frame in frames { report.yield(frame) } }
  func linkDidClose(_ reason: LinkClosure) { report.yield(nil) }

  /// The next frame; `nil` when the link has ended.
  func next() async -> [UInt8]? {
    var iterator = events.makeAsyncIterator()
    return await iterator.next() ?? nil
  }
}

@Suite("links to the leader of a cluster", .timeLimit(.minutes(2)))
struct ClusterLeaderLinksTests {
  private func relay(_ address: String, _ secret: ClusterSecret) -> NodeRelay {
    NodeRelay(
      NodeRelay.Setting(
        address: address, code: { secret.code(of: $0) }, now: { 1_000_000 },
        randomBits: { UInt64.random(in: .min ... .max) }, place: { .here }))
  }

  @Test("a leader takes a link for the client's own when both nodes have the secret")
  func secrets() async throws {
    let secret = ClusterSecret([UInt8](repeating: 7, count: 32))
    let peers = Mutex<[String]>([])
    // The leader's own address is part of what headers are checked with.
    let free = try TCPTransport(TCPOptions(port: 0))
    let address = try await free.listen { Echo($0) }.address
    await free.shutdown()
    let leader = try TCPTransport(
      TCPOptions(port: Int(address.split(separator: ":").last ?? "") ?? 0))
    leader.relay(over: relay(address, secret))
    _ = try await leader.listen { link in
      peers.withLock { $0.append(link.peer) }
      return Echo(link)
    }
    let follower = try TCPTransport(TCPOptions(port: 0))
    for (own, answer) in [(secret, [1, 2, 3]), (ClusterSecret([1]), nil)] as [(_, [UInt8]?)] {
      let ear = Ear()
      let links: any LeaderLinks = ClusterLeaderLinks(
        transport: follower, relay: relay("127.0.0.1:1", own))
      let link = try await links.connect(to: address, for: "192.0.2.7:4321") { _ in ear }
      link.send([1, 2, 3])
      link.flush()
      #expect(await ear.next() == answer)
    }
    #expect(peers.withLock { $0 } == ["192.0.2.7:4321"])
    await follower.shutdown()
    await leader.shutdown()
  }
}
