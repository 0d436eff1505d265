#if TCP
  import NIOCore
  import TernCore
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  @Suite("WebChannel, hostile clients")
  struct WebChannelHostileTests {
    private static let add =
      #"{"database":"projects/p/databases/d","addTarget":{"documents":{"documents":["#
      + #""projects/p/databases/d/documents/c/a"]},"targetId":2}}"#
    private static let remove = #"{"database":"projects/p/databases/d","removeTarget":2}"#
    private static let unknown = "Error: Unknown SID"

    @Test("a guessed or stolen id gets nothing, and harms nothing")
    func stolen() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      try script.learn(
        try world.request(script.handshake([Self.add], headers: "Authorization:Bearer t\r\n")))
      let heard = try #require(world.heard.last)
      var thieves = (0..<4).map { _ in script }
      thieves[0].session = "A" + script.session.dropFirst()
      thieves[1].secret = ""
      thieves[2].origin = "http://evil.example"
      thieves[3].method = "Write"
      for thief in thieves {
        let requests = [thief.back(aid: 0), thief.forward([Self.remove], from: 1, aid: 0)]
        for request in requests {
          let answer = try world.request(request)
          #expect(answer.hasPrefix("HTTP/1.1 400") && answer.hasSuffix(Self.unknown))
        }
        #expect(try world.request(thief.terminate(aid: 0)).hasPrefix("HTTP/1.1 200"))
      }
      let other = script.forward([Self.remove], from: 1, aid: 0)
        .replacing("\r\nHost", with: "\r\nAuthorization: Bearer u\r\nHost")
      #expect(try world.request(other).hasSuffix(Self.unknown))
      #expect(heard.closure == nil)
      #expect(heard.messages() == [Self.add])
      // A page asks its own origin without naming it, and may repeat its credential.
      script.origin = nil
      let own = script.forward([Self.remove], from: 1, aid: 0)
        .replacing("\r\nHost", with: "\r\nAuthorization: Bearer t\r\nHost")
      #expect(try world.request(own).hasPrefix("HTTP/1.1 200"))
      #expect(heard.messages() == [Self.add, Self.remove])
    }

    @Test(
      "a form that breaks a rule changes nothing",
      arguments: [
        "count=2&ofs=1&req0___data__=x", "count=0&ofs=1&req0___data__=x",
        "count=-1&ofs=1&req0___data__=x", "count=1e3&req0___data__=x", "count=&req0___data__=x",
        "count=99999999999999999999&ofs=1&req0___data__=x", "count=1&ofs=-1&req0___data__=x",
        "count=1&ofs=99999999999999999999&req0___data__=x", "count=1&ofs=%31%&req0___data__=x",
        "count=1&ofs=%FF&req0___data__=x", "count=1&ofs=1&reqx___data__=x",
        "count=1&ofs=1&req-1___data__=x", "count=1&ofs=1&req5000___data__=x",
        "count=1&ofs=1&req0___data__=%", "count=1&ofs=1&req0___data__=%4",
        "count=1&ofs=1&req0___data__=%zz", "count=1&ofs=9007199254740992&req0___data__=x",
        "count=1&ofs=5000&req0___data__=x", "headers=x&count=0",
        "count=1001&ofs=1&" + (0...1_000).map { "req\($0)___data__=x" }.joined(separator: "&"),
      ])
    func badForm(form: String) throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let answer = try world.request(script.forward(form: form, aid: 0))
      #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
      #expect(!answer.contains("Unknown SID"))
      let heard = try #require(world.heard.last)
      #expect(heard.messages() == [Self.add])
      #expect(
        try world.request(script.forward([Self.remove], from: 1, aid: 0)).hasPrefix("HTTP/1.1 200"))
      #expect(heard.messages() == [Self.add, Self.remove])
    }

    @Test(
      "an address that breaks a rule opens and changes nothing",
      arguments: [
        ("VER=8", "VER=7", 400), ("VER=8", "", 400), ("RID=rpc", "RID=5", 400),
        ("GET ", "PUT ", 405), ("GET ", "HEAD ", 405), ("AID=0", "AID=7", 400),
        ("AID=0", "AID=-1", 400), ("AID=0", "AID=x", 400), ("CI=0", "CI=0&TO=x", 400),
        ("TYPE=xmlhttp", "MODE=init", 400),
      ])
    func badAddress(part: String, other: String, status: Int) throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let request = script.back(aid: 0).replacing(part, with: other)
      #expect(try world.request(request).hasPrefix("HTTP/1.1 \(status)"))
      #expect(world.heard.last?.closure == nil)
      #expect(
        try world.request(script.handshake([]).replacing("VER=8", with: "VER=9"))
          .hasPrefix("HTTP/1.1 400"))
      #expect(world.table.count == 1)
    }

    @Test("header fields in a body are bounded")
    func headers() throws {
      var limits = GatewayLimits()
      limits.headBytes = 2_000
      let world = ChannelWorld(limits: limits)
      let many = String(repeating: "a:b\r\n", count: world.limits.headFields + 1)
      let long = "Authorization:" + String(repeating: "x", count: world.limits.headBytes)
      for headers in [many, long] {
        let answer = try world.request(ChannelScript().handshake([Self.add], headers: headers))
        #expect(answer.hasPrefix("HTTP/1.1 431"))
      }
      #expect(world.heard.isEmpty)
      #expect(world.budget.usedBytes == 0)
    }

    @Test("sessions are bounded by address; the one without a client for longest makes room")
    func sessions() throws {
      var limits = GatewayLimits()
      limits.webChannel.sessionsPerAddress = 3
      limits.webChannel.sessions = 5
      let world = ChannelWorld(limits: limits)
      var scripts: [ChannelScript] = []
      var backs: [ChannelConnection] = []
      for _ in 0..<3 {
        var script = ChannelScript()
        try script.learn(try world.request(script.handshake([Self.add])))
        scripts.append(script)
        world.wait(seconds: 1)
      }
      for script in scripts.prefix(2) {
        let back = try world.connect()
        try back.send(script.back(aid: 0))
        backs.append(back)
      }
      #expect(try world.request(ChannelScript().handshake([Self.add])).hasPrefix("HTTP/1.1 200"))
      #expect(world.heard[2].closure != nil, "the only one without a back channel")
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      #expect(world.heard[3].closure != nil)
      let third = try world.connect()
      try third.send(script.back(aid: 0))
      #expect(try world.request(ChannelScript().handshake([Self.add])).hasPrefix("HTTP/1.1 503"))
      for _ in 0..<3 {
        let answer = try world.request(ChannelScript().handshake([Self.add]), from: "10.0.0.7")
        #expect(answer.hasPrefix("HTTP/1.1 200"), "others are served")
      }
      #expect(world.table.count == 5)
    }

    @Test("thousands of sessions without a back channel hold what they are charged, for a minute")
    func flood() throws {
      let world = ChannelWorld()
      let connection = try world.connect()
      for _ in 0..<2_100 {
        try connection.send(ChannelScript().handshake([Self.add]))
        #expect(try connection.sent().hasPrefix("HTTP/1.1 200"))
      }
      #expect(world.table.count == world.limits.webChannel.sessionsPerAddress)
      #expect(
        world.budget.usedBytes
          == WebChannelLimits.sessionBytes * world.limits.webChannel.sessionsPerAddress)
      world.wait(seconds: 60)
      #expect(world.table.count == 0)
      #expect(world.budget.usedBytes == 0)
      #expect(world.heard.allSatisfy { $0.closure != nil })
    }

    @Test("a client that does not read holds no more than the window and what one call may")
    func unread() throws {
      var limits = GatewayLimits()
      limits.streamBytes = 1 << 20
      let world = ChannelWorld(limits: limits)
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let heard = try #require(world.heard.last)
      let id = String(repeating: "x", count: 100_000)
      let message =
        #"{"documentDelete":{"document":"projects/p/databases/d/documents/c/\#(id)"}}"#
      var peak = 0
      for _ in 0..<100 where heard.closure == nil {
        try heard.say(message)
        world.settle()
        peak = max(peak, world.budget.usedBytes)
      }
      #expect(heard.closure != nil, "the call has ended")
      #expect(peak < 3 << 20)
      var reader = ChannelReader()
      for _ in 0..<40 where !reader.received.contains(#"["close"]"#) {
        try reader.read(try world.request(script.back(aid: reader.lastID)).channelBody)
      }
      #expect(reader.received.dropLast().last?.contains(#""status":"UNAVAILABLE""#) == true)
    }

    @Test("a session that there is no memory for is stopped")
    func noMemory() throws {
      let budget = MemoryBudget(limitBytes: 1 << 20)
      let world = ChannelWorld(budget: budget)
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let heard = try #require(world.heard.last)
      let id = String(repeating: "x", count: 30_000)
      #expect(budget.charge(budget.roomBytes(for: "127.0.0.1") - 20_000, .output, to: "127.0.0.1"))
      try heard.say(
        #"{"documentDelete":{"document":"projects/p/databases/d/documents/c/\#(id)"}}"#)
      world.settle()
      #expect(heard.closure != nil)
      let told = try world.request(script.back(aid: 0))
      #expect(told.channelBody == "14\n[[1,[\"stop\"]]]", "\(told)")
    }

    @Test("a server with enough to do lets the client wait for its answer")
    func pressure() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let heard = try #require(world.heard.last)
      heard.link.setReading(false)
      let forward = try world.connect()
      try forward.send(script.forward([Self.remove], from: 1, aid: 0))
      #expect(try forward.sent() == "")
      #expect(heard.messages() == [Self.add])
      heard.link.setReading(true)
      #expect(try forward.sent().channelBody == "7\n[0,0,0]")
      #expect(heard.messages() == [Self.add, Self.remove])
      heard.link.setReading(false)
      try forward.send(script.forward([Self.add], from: 2, aid: 0))
      #expect(try world.request(script.terminate(aid: 0)).hasPrefix("HTTP/1.1 200"))
      #expect(try forward.sent().hasSuffix(Self.unknown), "no request waits for ever")
      #expect(world.budget.usedBytes == 0)
    }

    @Test("a large form is read whole, and one beyond the limit is not")
    func large() throws {
      let world = ChannelWorld()
      var script = ChannelScript(method: "Write")
      try script.learn(
        try world.request(script.handshake([#"{"database":"projects/p/databases/d"}"#])))
      let answer = try world.request(
        script.forward(
          form: String(repeating: "x", count: world.limits.webChannel.formBytes + 1), aid: 0))
      #expect(answer.hasPrefix("HTTP/1.1 413"))
      #expect(world.budget.usedBytes(for: .parsing) == 0)
    }
  }
#endif
