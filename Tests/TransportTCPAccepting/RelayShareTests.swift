#if TCP
  import NIOEmbedded
  import Testing

  @testable import TernTransportTCP

  @Suite("shares of the connections to other nodes", .timeLimit(.minutes(2)))
  struct RelayShareTests {
    private func relay(limit: Int) -> NodeRelay {
      NodeRelay(
        NodeRelay.Setting(
          address: "127.0.0.1:1", code: { _ in [] }, now: { 1_000_000 }, randomBits: { 7 },
          place: { .unknown }), limit: limit)
    }

    @Test("one address takes no more than its share of links, in any of its spellings")
    func upstream() {
      let relay = relay(limit: 160)
      var greedy = 0
      while relay.beginUpstream(for: "2001:db8::\(greedy)") { greedy += 1 }
      #expect(greedy == 120)
      #expect(relay.beginUpstream(for: "192.0.2.1"))
      #expect(relay.figures.upstream == 121 && relay.figures.upstreamRefused == 1)
      relay.endUpstream(for: "192.0.2.1")
      for number in 0..<120 { relay.endUpstream(for: "2001:db8::\(number)") }
      #expect(relay.figures.upstream == 0)
      #expect(relay.beginUpstream(for: "2001:db8::1"))
    }

    @Test("relayed connections share the places of links")
    func relayed() throws {
      let relay = relay(limit: 64)
      var channels: [EmbeddedChannel] = []
      for _ in 0..<48 {
        let channel = EmbeddedChannel()
        #expect(relay.begin(channel, for: "192.0.2.1"))
        channels.append(channel)
      }
      let last = EmbeddedChannel()
      #expect(!relay.begin(last, for: "192.0.2.1"))
      #expect(!relay.beginUpstream(for: "192.0.2.1"))
      #expect(relay.begin(last, for: "192.0.2.2"))
      // Counted out once, however it ends.
      relay.end(last)
      _ = try last.finish()
      for channel in channels { _ = try channel.finish() }
      #expect(relay.figures.open == 0)
      #expect((0..<48).allSatisfy { _ in relay.beginUpstream(for: "192.0.2.1") })
    }

    @Test("connections that wait for a leader are shared as well")
    func held() {
      final class Gate {}
      let relay = relay(limit: 160)
      var gates: [Gate] = []
      while true {
        let gate = Gate()
        guard relay.hold(ObjectIdentifier(gate), for: "192.0.2.1", {}) else { break }
        gates.append(gate)
      }
      #expect(gates.count == 120)
      let other = Gate()
      var isHeld = relay.hold(ObjectIdentifier(other), for: "192.0.2.2") {}
      #expect(isHeld)
      for gate in gates + [other] { relay.letGo(ObjectIdentifier(gate)) }
      #expect(relay.figures.held == 0)
      isHeld = relay.hold(ObjectIdentifier(other), for: "192.0.2.1") {}
      #expect(isHeld)
    }
  }
#endif
