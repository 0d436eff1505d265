#if TCP
  import NIOCore
  import NIOEmbedded
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Tests the memory of arrays that a client of WebChannel does not read.
  @Suite("WebChannel, clients that do not read") struct WebChannelUnsentTests {
    private static let add =
      #"{"database":"projects/p/databases/d","addTarget":{"documents":{"documents":["#
      + #""projects/p/databases/d/documents/c/a"]},"targetId":2}}"#

    private static func message(_ count: Int) -> String {
      let id = String(repeating: "x", count: count)
      return #"{"documentDelete":{"document":"projects/p/databases/d/documents/c/\#(id)"}}"#
    }

    private func open(_ world: ChannelWorld) throws -> (ChannelScript, ChannelWorld.Heard) {
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      return (script, try #require(world.heard.last))
    }

    /// A back channel whose client reads nothing.
    private func openBack(_ world: ChannelWorld, _ script: ChannelScript) throws
      -> ChannelConnection
    {
      let connection = try world.connect()
      _ = try connection.holdOutput()
      try connection.send(script.back(aid: 0))
      world.settle()
      return connection
    }

    @Test("what was not sent is charged until its connection is closed, whatever the session does")
    func terminated() throws {
      let world = ChannelWorld()
      let (script, heard) = try open(world)
      let back = try openBack(world, script)
      try heard.say(Self.message(100_000))
      world.settle()
      #expect(world.budget.usedBytes(for: .answers) >= 200_000, "kept, and not sent")
      #expect(try world.request(script.terminate(aid: 0)).hasPrefix("HTTP/1.1 200"))
      #expect(heard.closure != nil)
      #expect(world.budget.usedBytes(for: .answers) >= 100_000)
      world.wait(seconds: world.limits.bodySeconds)
      #expect(!back.channel.isActive)
      #expect(world.budget.usedBytes == 0)
    }

    @Test("a response that is replaced before its client has read it is cut off")
    func replaced() throws {
      let world = ChannelWorld()
      let (script, heard) = try open(world)
      let first = try openBack(world, script)
      try heard.say(Self.message(100_000))
      world.settle()
      let second = try world.connect()
      try second.send(script.back(aid: 0))
      let told = try second.sent()
      #expect(told.contains("documentDelete"), "it is sent again")
      #expect(!first.channel.isActive)
      #expect(second.channel.isActive)
      #expect(world.budget.usedBytes(for: .answers) < 150_000, "kept alone")
      #expect(heard.closure == nil)
    }

    @Test("an ended session whose client asks for its last arrays and reads none is given up")
    func ended() throws {
      let world = ChannelWorld(budget: MemoryBudget(limitBytes: 4 << 20))
      let (script, heard) = try open(world)
      try heard.say(Self.message(300_000))
      heard.end(nil)
      world.settle()
      var backs: [ChannelConnection] = []
      for _ in 0..<10 {
        backs.append(try openBack(world, script))
        #expect(world.budget.usedBytes <= world.budget.addressBytes)
      }
      let answer = try world.request(script.back(aid: 0))
      #expect(answer.hasSuffix("Unknown SID"), "\(answer.prefix(200))")
      #expect(world.table.count == 0)
      for back in backs where back.channel.isActive { try back.close() }
      world.settle()
      #expect(world.budget.usedBytes == 0)
    }

    @Test("sessions are counted by the network of IPv6, not by its addresses")
    func networks() throws {
      var limits = GatewayLimits()
      limits.webChannel.sessionsPerAddress = 3
      let world = ChannelWorld(limits: limits)
      var backs: [ChannelConnection] = []
      for number in 1...3 {
        var script = ChannelScript()
        let address = "2001:db8::\(number)"
        try script.learn(try world.request(script.handshake([Self.add]), from: address))
        let back = try world.connect(from: address)
        try back.send(script.back(aid: 0))
        backs.append(back)
      }
      let handshake = ChannelScript().handshake([Self.add])
      #expect(try world.request(handshake, from: "2001:db8::9").hasPrefix("HTTP/1.1 503"))
      #expect(try world.request(handshake, from: "2001:db8:0:1::9").hasPrefix("HTTP/1.1 200"))
    }
  }
#endif
