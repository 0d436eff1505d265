#if TCP && canImport(Glibc)
  import Testing

  @testable import TernGateway

  /// Tests which session over long polling makes room for a new one.
  @Suite("Room for sessions that poll") struct PollRoomTests {
    @Test("the session whose client is absent for the longest time makes room")
    func room() async throws {
      var limits = GatewayLimits()
      limits.pollSessions = 2
      try await withGateway(limits: limits) { gateway in
        let get = #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/x"}}}"#
        let first = try PollPeer(gateway)
        let second = try PollPeer(gateway)
        #expect(first.ask(get).contains("pRTLPCB"))
        let third = try PollPeer(gateway)
        #expect(second.ask(get).contains("no such session"))
        #expect(first.ask(get).contains("pRTLPCB"))
        #expect(third.ask(get).contains("pRTLPCB"))
      }
    }

    @Test("a session that has moved to a WebSocket leaves its place, and goes on")
    func moved() async throws {
      var limits = GatewayLimits()
      limits.pollSessions = 1
      try await withGateway(limits: limits) { gateway in
        let poll = try PollPeer(gateway)
        let session = try #require(poll.greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)).output.1
        let socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=default&s=\(session)")
        socket.send(masked(1, Array(#"{"t":"c","d":{"t":"a","d":{}}}"#.utf8)))
        socket.send(masked(1, Array(#"{"t":"c","d":{"t":"p","d":{}}}"#.utf8)))
        #expect(socket.message().contains(#""t":"o""#))
        #expect(poll.ask(#"{"t":"c","d":{"t":"n","d":{}}}"#).contains(#""t":"n""#))
        let next = try PollPeer(gateway)
        socket.ask(1, "g", #"{"p":"/x","q":{}}"#)
        #expect(socket.message().contains(#""s":"ok""#))
        #expect(next.ask(frame(1, "g", #"{"p":"/x"}"#)).contains(#""s":"ok""#))
      }
    }

    @Test("the first is the one that was added before all others that are in")
    func order() {
      var order = AbsenceOrder<Int>()
      var model: [Int] = []
      var differences: [Int] = []
      for step in 0..<2_000 {
        let name = step * 7 % 31
        if step % 3 == 0 {
          order.remove(name)
          model.removeAll { $0 == name }
        } else {
          order.add(name)
          model.removeAll { $0 == name }
          model.append(name)
        }
        let agrees = order.first() == model.first && order.isEmpty == model.isEmpty
        if !agrees { differences.append(step) }
      }
      #expect(differences == [])
      for name in 0..<31 { order.remove(name) }
      #expect(order.first() == nil && order.isEmpty)
    }
  }
#endif
