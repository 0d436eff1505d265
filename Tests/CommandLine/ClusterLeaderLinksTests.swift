import TernLinkTesting
import TernServer
import TernTransport
import TernTransportTCP
import Testing

@testable import tern

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
    let server = EchoServer()
    let leader = try await RelayedListener(
      relay: { relay($0, secret) }, accept: { server.open($0) })
    let follower = try TCPTransport(TCPOptions(port: 0))
    for (own, answer) in [(secret, [1, 2, 3]), (ClusterSecret([1]), nil)] as [(_, [UInt8]?)] {
      let receiver = FrameReceiver()
      let links: any LeaderLinks = ClusterLeaderLinks(
        transport: follower, relay: relay("127.0.0.1:1", own))
      let link = try await links.connect(
        to: leader.address, for: "192.0.2.7:4321"
      ) { _ in receiver }
      link.send([1, 2, 3])
      link.flush()
      #expect(await receiver.next() == answer)
    }
    #expect(server.peers == ["192.0.2.7:4321"])
    await follower.shutdown()
    await leader.transport.shutdown()
  }
}
