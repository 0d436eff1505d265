#if TCP && canImport(Glibc)
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Tests the memory of messages over a WebSocket that has not taken its session over yet.
  @Suite("Messages held for a move to WebSocket") struct HeldSocketMessagesTests {
    /// A session over long polling, and a WebSocket that wants to take it over.
    private struct Moving {
      let poll: PollPeer
      let socket: Peer
      private let text = String(repeating: "x", count: 400_000)

      init(_ gateway: GatewayUnderTest) throws {
        poll = try PollPeer(gateway)
        let session = try #require(poll.greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)).output.1
        socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=default&s=\(session)")
        socket.send(masked(1, Self.control("a")))
      }

      static func control(_ name: String) -> [UInt8] {
        Array(#"{"t":"c","d":{"t":"\#(name)","d":{}}}"#.utf8)
      }

      /// Sends writes that have to wait, and returns once the server holds them.
      func sendEarly(_ count: Int) -> String {
        for number in 1...count { socket.ask(number, "p", #"{"p":"/early","d":"\#(text)"}"#) }
        socket.send(masked(1, Self.control("p")))
        return socket.message()
      }
    }

    private enum Ending: String, CaseIterable {
      case moved, leftByPoll, closedSocket
    }

    @Test(
      "what waits is charged to its address, and released however it ends",
      arguments: Ending.allCases)
    private func charged(_ ending: Ending) async throws {
      let limits = ServerLimits(memoryBytes: 64 << 20)
      try await withGateway(serverLimits: limits) { gateway in
        let budget = gateway.server.budget
        let moving = try Moving(gateway)
        #expect(moving.sendEarly(3).contains(#""t":"o""#))
        #expect(budget.usedBytes(for: .receiving) >= 1_200_000)
        switch ending {
        case .moved:
          let heard = moving.poll.ask(String(decoding: Moving.control("n"), as: UTF8.self))
          #expect(heard.contains(#""t":"n""#), "\(heard)")
          for number in 1...3 {
            #expect(moving.socket.message().contains(#"{"r":\#(number),"b":{"s":"ok""#))
          }
        case .leftByPoll:
          moving.poll.leave()
          _ = moving.socket.readToEnd()
        case .closedSocket:
          moving.socket.send(masked(8, [3, 0xE8]))
          _ = moving.socket.readToEnd()
        }
        let deadline = ContinuousClock.now + .seconds(300)
        while budget.usedBytes(for: .receiving) > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/none.json"))
        }
        #expect(budget.usedBytes(for: .receiving) == 0)
      }
    }

    @Test("beyond the share of its address the new connection is given up, and the session goes on")
    func share() async throws {
      let limits = ServerLimits(memoryBytes: 4 << 20)
      try await withGateway(serverLimits: limits) { gateway in
        let moving = try Moving(gateway)
        #expect(moving.sendEarly(8).hasPrefix("closed 10"))
        let read = #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/early"}}}"#
        #expect(moving.poll.ask(read).contains(#""s":"ok","d":null"#))
        #expect(gateway.server.budget.usedBytes(for: .receiving) < 400_000)
      }
    }
  }
#endif
