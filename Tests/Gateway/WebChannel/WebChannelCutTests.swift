#if TCP
  import TernCore
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Connections that break between any two bytes.
  @Suite("WebChannel, cut connections")
  struct WebChannelCutTests {
    private static let add =
      #"{"database":"projects/p/databases/d","addTarget":{"documents":{"documents":["#
      + #""projects/p/databases/d/documents/c/é🐧"]},"targetId":2}}"#
    private static let remove = #"{"database":"projects/p/databases/d","removeTarget":2}"#

    @Test("a handshake that does not arrive whole opens nothing")
    func handshake() throws {
      let world = ChannelWorld()
      let request = ChannelScript().handshake([Self.add])
      for count in 0..<request.utf8.count {
        let connection = try world.connect()
        try connection.send(String(decoding: request.utf8.prefix(count), as: UTF8.self))
        #expect(try connection.sent() == "")
        try connection.close()
      }
      #expect(world.heard.isEmpty)
      #expect(world.budget.usedBytes == 0)
    }

    @Test("messages whose connection broke are sent again, and applied once")
    func forward() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      try script.learn(try world.request(script.handshake([Self.add])))
      let heard = try #require(world.heard.last)
      var next = 1
      let length = script.forward([Self.remove], from: next, aid: 0).utf8.count
      for count in stride(from: 0, through: length, by: 7) {
        let request = script.forward([Self.remove], from: next, aid: 0)
        let connection = try world.connect()
        try connection.send(String(decoding: request.utf8.prefix(count), as: UTF8.self))
        try connection.close()
        // The same request, with one message more.
        let retry = script.forward([Self.remove, Self.add], from: next, aid: 0)
        #expect(try world.request(retry).channelBody == "7\n[0,0,0]")
        #expect(try world.request(retry).channelBody == "7\n[0,0,0]", "its answer was lost")
        next += 2
      }
      let wanted = [Self.add] + (1..<next).map { $0 % 2 == 1 ? Self.remove : Self.add }
      #expect(heard.messages() == wanted)
    }

    @Test("arrays whose response broke are sent again, and read once", arguments: [false, true])
    func back(isLongPoll: Bool) throws {
      let messages = (1...6).map { index in
        #"{"documentDelete":{"document":"projects/p/databases/d/documents/c/é🐧\#(index)","#
          + #""readTime":"2026-01-02T03:04:05Z"}}"#
      }
      var length = 1
      var cut = 0
      while cut <= length {
        let world = ChannelWorld()
        var script = ChannelScript()
        try script.learn(try world.request(script.handshake([Self.add])))
        let heard = try #require(world.heard.last)
        try heard.say(Array(messages.prefix(3)))
        var reader = ChannelReader()
        let connection = try world.connect()
        try connection.send(script.back(aid: 0, longPoll: isLongPoll))
        try heard.say(Array(messages.suffix(3)))
        let body = try connection.sent().channelBody
        length = body.utf8.count
        try reader.read(String(decoding: body.utf8.prefix(cut), as: UTF8.self))
        try connection.close()
        let rest = try world.request(script.back(aid: reader.lastID, longPoll: true))
        try reader.read(rest.channelBody)
        #expect(reader.data == messages.map { "[\($0)]" }, "cut at \(cut)")
        cut += 1
      }
    }
  }
#endif
