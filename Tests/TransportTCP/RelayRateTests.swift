#if TCP && canImport(Glibc)
  import Dispatch
  import TernLinkTesting
  import Testing

  @testable import TernTransportTCP

  @Suite("rates of nodes' connections", .timeLimit(.minutes(4))) struct RelayRateTests {
    /// The preamble of our framing, and a frame, which comes back.
    private static let greeting: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1, 0, 0, 0, 2, 7, 9]

    /// Opens connections one after the other, at one a second and 50 at once.
    ///
    /// - Returns: The number of those that were served.
    private func opened(_ count: UInt128, withHeader hasHeader: Bool) async throws -> Int {
      let server = EchoServer()
      let listener = try await RelayedListener(
        adjust: { $0.connectionsPerAddress = 1 },
        relay: {
          NodeRelay(
            NodeRelay.Setting(
              address: $0, code: keyedCode(1), now: { 1_000_000 }, randomBits: { 7 },
              place: { .here }))
        }, accept: { server.open($0) })
      var opened = 0
      for number in 0..<count {
        let header = RelayHeader(
          client: ProxyHeader.Client(address: "192.0.2.\(number)", port: 4_321), time: 1_000_000,
          nonce: number)
        let bytes = hasHeader ? header.bytes(to: listener.address, keyedCode(1)) ?? [] : []
        if try await answer(to: bytes + Self.greeting, from: listener.address) == Self.greeting {
          opened += 1
        }
      }
      await listener.transport.shutdown()
      return opened
    }

    /// Sends bytes, ends the output, and returns what comes back.
    private func answer(to bytes: [UInt8], from address: String) async throws -> [UInt8] {
      let port = RelayedListener.port(of: address)
      return try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Result {
              let peer = try RawPeer(port: port)
              peer.send(bytes)
              peer.closeOutput()
              return peer.readToEnd() ?? []
            })
        }
      }
    }

    @Test("a node opens connections for more clients than one address may")
    func rates() async throws {
      #expect(try await opened(200, withHeader: true) == 200)
      let own = try await opened(200, withHeader: false)
      #expect(own >= 50 && own < 200)
    }
  }
#endif
