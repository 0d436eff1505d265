#if TCP
  import NIOCore
  import TernCore
  import TernServer
  import TernTransport
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// Tests the places of sessions over long polling, and the end of those that break a rule.
  @Suite("Sessions that poll, without sockets") struct PollShareTests {
    /// A session, and the server's end of it.
    private struct Session {
      let world: ChannelWorld
      let connection: ChannelConnection
      let heard: ChannelWorld.Heard?
      /// The answer that came at once; empty while the poll waits.
      let answer: String

      init(_ world: ChannelWorld, from address: String = "127.0.0.1") throws {
        self.world = world
        let before = world.heard.count
        connection = try world.connect(from: address)
        try connection.send("GET /.lp?start=t&cb=3&v=5 HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = try connection.sent()
        heard = world.heard.count > before ? world.heard.last : nil
      }

      /// Answers the first poll, so that none waits; returns how later ones begin.
      func greet() throws -> String {
        heard?.link.send(TreeServerMessage.pong.encode())
        heard?.link.flush()
        let found = try #require(try connection.sent().firstMatch(of: /"start","(\w+)","(\w+)"/))
        return "/.lp?id=\(found.output.1)&pw=\(found.output.2)"
      }

      func poll(_ target: String) throws -> String {
        try connection.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        return try connection.sent()
      }
    }

    @Test(
      "a session ends with what it cannot read, and nothing of that is kept",
      arguments: [
        "seg0=0&ts0=2&d0=\(String(repeating: "e", count: 1_000))&seg1=1&ts1=2&d1=*",
        "seg0=0&ts0=1&d0=e3*", "seg0=5&ts0=1&d0=e30&seg1=x&ts1=1&d1=e30", "seg0=0&ts0=1",
      ])
    func unreadable(query: String) throws {
      let world = ChannelWorld()
      let session = try Session(world)
      let way = try session.greet()
      #expect(try session.poll("\(way)&seg0=1&ts0=2&d0=w7wifQ..") == "")
      #expect(world.budget.usedBytes(for: .receiving) == 8)
      let other = try world.connect()
      try other.send("GET \(way)&\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try other.sent().hasPrefix("HTTP/1.1 400"))
      #expect(session.heard?.closure != nil)
      #expect(world.budget.usedBytes(for: .receiving) == 0)
      #expect(try session.connection.sent().contains("pLPCommand(\"close\",1);"))
      #expect(try session.poll("\(way)&seg0=0&ts0=1&d0=e30.").hasPrefix("HTTP/1.1 404"))
    }

    @Test("a session that ends while no poll waits takes nothing more, and says so")
    func ended() throws {
      let world = ChannelWorld()
      let session = try Session(world)
      let way = try session.greet()
      #expect(try session.poll("\(way)&seg0=0&ts0=1").hasPrefix("HTTP/1.1 400"))
      let answer = try session.poll("\(way)&seg0=7&ts0=1&d0=e30.&seg1=8&ts1=1&d1=*")
      #expect(answer.contains("pLPCommand(\"close\",1);"), "\(answer)")
      #expect(world.budget.usedBytes(for: .receiving) == 0)
    }

    @Test(
      "one address gets its share of the places, an IPv6 network as one address",
      arguments: [false, true])
    func shares(isNetwork: Bool) throws {
      var limits = GatewayLimits()
      limits.pollSessions = 32
      let world = ChannelWorld(limits: limits)
      func address(_ number: Int) -> String { isNetwork ? "2001:db8::\(number)" : "192.0.2.7" }
      // Its client is absent for as long as the others wait.
      let absent = try Session(world, from: "198.51.100.1")
      _ = try absent.greet()
      var sessions: [Session] = []
      for number in 1...40 { sessions.append(try Session(world, from: address(number))) }
      #expect(sessions.count { $0.heard != nil } == 23, "and the absent one are three quarters")
      #expect(sessions.last?.answer.hasPrefix("HTTP/1.1 503") == true)
      #expect(absent.heard?.closure == nil)
      for number in 1...8 {
        let other = try Session(world, from: "203.0.113.\(number)")
        #expect(other.heard != nil, "\(other.answer)")
      }
      // Beyond its share an address has its own sessions make room.
      _ = try sessions[0].greet()
      let last = try Session(world, from: address(41))
      #expect(last.heard != nil)
      #expect(sessions[0].heard?.closure != nil)
      #expect(absent.heard?.closure == nil)
    }
  }
#endif
