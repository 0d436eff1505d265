#if TCP
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Scripted sessions of a browser's client, byte for byte. The client itself cannot run here.
  @Suite("WebChannel, scripted sessions")
  struct WebChannelTraceTests {
    private static let add =
      #"{"database":"projects/demo/databases/(default)","addTarget":{"query":{"#
      + #""parent":"projects/demo/databases/(default)/documents","structuredQuery":{"from":"#
      + #"[{"collectionId":"rooms"}],"orderBy":[{"field":{"fieldPath":"__name__"},"#
      + #""direction":"ASCENDING"}]}},"targetId":2}}"#
    private static let remove =
      #"{"database":"projects/demo/databases/(default)","removeTarget":2}"#
    private static let headers =
      "X-Goog-Api-Client:gl-js/ fire/12.6.0\r\nContent-Type:text/plain\r\n"
      + "Authorization:Bearer t\r\n"

    private static func added(_ id: Int = 2) -> String {
      #"{"targetChange":{"targetChangeType":"ADD","targetIds":[\#(id)]}}"#
    }

    /// The handshake of a session that a test goes on with.
    private static func open(
      _ world: ChannelWorld, _ script: inout ChannelScript, _ messages: [String] = [add]
    ) throws -> ChannelWorld.Heard {
      try script.learn(try world.request(script.handshake(messages)))
      return try #require(world.heard.last)
    }

    private static func head(_ fields: String) -> String {
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
        + "Cache-Control: no-cache, no-store, max-age=0, must-revalidate\r\n"
        + "X-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\n\(fields)"
    }

    private static let cors =
      "Access-Control-Allow-Origin: http://app.example\r\n"
      + "Access-Control-Allow-Credentials: true\r\n"

    @Test("a listen session, from the handshake to its end")
    func listen() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let greeting = try world.request(script.handshake([Self.add], headers: Self.headers))
      try script.learn(greeting)
      #expect(script.session.utf8.count == 22)
      #expect(greeting.hasPrefix(Self.head("X-HTTP-Session-Id: \(script.secret)\r\n\(Self.cors)")))
      #expect(greeting.contains("Access-Control-Expose-Headers: "))
      #expect(greeting.lowercased().contains("x-http-session-id,"))
      #expect(
        greeting.channelBody == "50\n[[0,[\"c\",\"\(script.session)\",\"\",8,14,30000]]]")
      let heard = try #require(world.heard.first)
      #expect(heard.opening?.method == "Listen")
      let metadata = heard.opening?.metadata.map { "\($0.name)=\($0.value)" }
      #expect(metadata == ["authorization=Bearer t", "x-goog-api-client=gl-js/ fire/12.6.0"])
      #expect(heard.messages() == [Self.add])

      let back = try world.connect()
      try back.send(script.back(aid: 0))
      let first = try back.sent()
      #expect(first.hasPrefix(Self.head(Self.cors)))
      #expect(first.channelBody == "14\n[[1,[\"noop\"]]]")
      try heard.say(Self.added())
      #expect(
        try back.sent().channelParts
          == "67\n[[2,[\(Self.added())]]]")
      // What comes together leaves together.
      let current =
        #"{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2],"resumeToken":"CAE="}}"#
      let boundary =
        #"{"targetChange":{"resumeToken":"CAE=","readTime":"2026-01-02T03:04:05.000006Z"}}"#
      try heard.say([current, boundary])
      let arrays = "[[3,[\(current)]],[4,[\(boundary)]]]"
      #expect(try back.sent().channelParts == "\(arrays.utf16.count)\n\(arrays)")

      let answer = try world.request(script.forward([Self.remove], from: 1, aid: 4))
      #expect(answer.hasPrefix(Self.head(Self.cors)))
      #expect(answer.channelBody == "7\n[1,4,0]")
      #expect(heard.messages() == [Self.add, Self.remove])
      let removed = #"{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2]}}"#
      try heard.say(removed)
      #expect(try back.sent().channelParts == "70\n[[5,[\(removed)]]]")

      let end = try world.request(script.terminate(aid: 5))
      #expect(end.hasPrefix("HTTP/1.1 200"))
      #expect(end.channelBody == "")
      #expect(try back.sent() == "0\r\n\r\n")
      #expect(heard.closure == .closedByPeer)
      #expect(world.table.count == 0)
      #expect(try world.request(script.terminate(aid: 5)).hasPrefix("HTTP/1.1 200"), "twice")
      let late = try world.request(script.forward([Self.remove], from: 2, aid: 5))
      #expect(late.hasPrefix("HTTP/1.1 400"))
      #expect(late.hasSuffix("\r\n\r\nError: Unknown SID"))
      #expect(late.contains(Self.cors))
    }

    @Test("a write session")
    func write() throws {
      let world = ChannelWorld()
      var script = ChannelScript(method: "Write")
      let database = #"{"database":"projects/demo/databases/(default)"}"#
      let heard = try Self.open(world, &script, [database])
      #expect(heard.opening?.method == "Write")
      let back = try world.connect()
      try back.send(script.back(aid: 0))
      _ = try back.sent()
      let greeting = #"{"streamId":"1","streamToken":"AQ=="}"#
      try heard.say([greeting], .write)
      #expect(try back.sent().channelParts == "45\n[[2,[\(greeting)]]]")
      let write =
        #"{"writes":[{"update":{"name":"projects/demo/databases/(default)/documents/c/a","#
        + #""fields":{"n":{"integerValue":"1"}}}}],"streamToken":"AQ=="}"#
      #expect(
        try world.request(script.forward([write], from: 1, aid: 2)).channelBody == "7\n[1,2,0]")
      #expect(heard.messages(.write) == [database, write])
      try heard.say(
        [#"{"streamToken":"Ag==","writeResults":[{"updateTime":"2026-01-02T03:04:05Z"}]}"#], .write)
      #expect(try back.sent().channelParts.contains(#"[[3,[{"streamToken":"Ag==""#))
    }

    @Test("a call that ends is sent the code and the text, and then the close")
    func failure() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      heard.end(DocumentStatus(.permissionDenied, "Missing or insufficient permissions."))
      let arrays =
        #"[[1,[{"error":{"code":403,"message":"Missing or insufficient permissions.","#
        + #""status":"PERMISSION_DENIED"}}]],[2,["close"]]]"#
      for _ in 0..<2 {
        let told = try world.request(script.back(aid: 0))
        #expect(told.channelBody == "\(arrays.utf16.count)\n\(arrays)", "until it is acknowledged")
        #expect(told.hasSuffix("\r\n0\r\n\r\n"), "the response ends")
      }
      #expect(try world.request(script.back(aid: 2)).hasSuffix("Error: Unknown SID"))
      #expect(world.table.count == 0)
      #expect(heard.closure != nil)
    }

    @Test("a message that is not one of the call ends the session with its reason")
    func malformedMessage() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script, [Self.add, #"{"addTarget":5}"#, Self.remove])
      #expect(heard.messages() == [Self.add], "nothing behind it counts")
      let told = try world.request(script.back(aid: 0))
      #expect(told.channelBody.contains(#""status":"INVALID_ARGUMENT"}}]],[2,["close"]]]"#))
    }

    @Test("a long poll waits for one chunk, or for a keep-alive at the time its client names")
    func longPoll() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      let poll = try world.connect()
      try poll.send(script.back(aid: 0, longPoll: true))
      #expect(try poll.sent() == "")
      try heard.say([Self.added(), Self.added(4)])
      let arrays = "[[1,[\(Self.added())]],[2,[\(Self.added(4))]]]"
      let told = try poll.sent()
      #expect(told.channelBody == "\(arrays.utf16.count)\n\(arrays)")
      #expect(told.contains("Content-Length: "), "the response is whole")
      try poll.send(script.back(aid: 2, longPoll: true, hold: 5_000))
      world.wait(milliseconds: 4_999)
      #expect(try poll.sent() == "")
      world.wait(milliseconds: 1)
      #expect(try poll.sent().channelBody == "14\n[[3,[\"noop\"]]]")
      try poll.send(script.back(aid: 3, longPoll: true))
      world.wait(seconds: world.limits.webChannel.keepAliveSeconds)
      #expect(try poll.sent().channelBody == "14\n[[4,[\"noop\"]]]")
      // Arrays that wait are told at once.
      try heard.say(Self.added(6))
      #expect(
        try world.request(script.back(aid: 4, longPoll: true)).channelBody
          == "67\n[[5,[\(Self.added(6))]]]")
    }

    @Test("a silent stream has keep-alives, and ends in time for its arrays to be acknowledged")
    func keepAlive() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      let back = try world.connect()
      try back.send(script.back(aid: 0))
      _ = try back.sent()
      world.wait(seconds: 20)
      try heard.say(Self.added())
      _ = try back.sent()
      world.wait(seconds: 29)
      #expect(try back.sent() == "", "30 seconds since the last array")
      world.wait(seconds: 1)
      // The response is 50 seconds old.
      #expect(try back.sent().hasSuffix("0\r\n\r\n"))
      try back.send(script.back(aid: 2))
      #expect(try back.sent().channelBody == "14\n[[3,[\"noop\"]]]", "on the same connection")
      world.wait(seconds: 30)
      #expect(try back.sent().channelParts == "14\n[[4,[\"noop\"]]]")
    }

    @Test("a newer back channel takes the place of the older, and gets what was not acknowledged")
    func replaced() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      let old = try world.connect()
      try old.send(script.back(aid: 0))
      try heard.say(Self.added())
      _ = try old.sent()
      let new = try world.connect()
      try new.send(script.back(aid: 1))
      #expect(try old.sent() == "0\r\n\r\n")
      #expect(try new.sent().channelBody == "67\n[[2,[\(Self.added())]]]")
      // The end of the old connection is not that of the new one.
      try old.close()
      try heard.say(Self.added(4))
      #expect(try new.sent().channelParts == "67\n[[3,[\(Self.added(4))]]]")
    }

    @Test("a client that is gone keeps its session for a minute")
    func absence() throws {
      let world = ChannelWorld()
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      world.wait(seconds: 59)
      let back = try world.connect()
      try back.send(script.back(aid: 0))
      world.wait(seconds: 45)
      try back.close()
      world.wait(seconds: 59)
      #expect(heard.closure == nil)
      // Messages alone do not keep it.
      #expect(
        try world.request(script.forward([Self.remove], from: 1, aid: 0)).channelBody
          .hasPrefix("8\n[0,2,"))
      world.wait(seconds: 1)
      #expect(heard.closure != nil)
      #expect(world.table.count == 0)
      #expect(world.budget.usedBytes == 0)
      #expect(try world.request(script.back(aid: 0)).hasSuffix("Error: Unknown SID"))
    }

    @Test("what is larger than the window waits at the server until arrays are acknowledged")
    func window() throws {
      var limits = GatewayLimits()
      limits.webChannel.keptArrays = 5
      let world = ChannelWorld(limits: limits)
      var script = ChannelScript()
      let heard = try Self.open(world, &script)
      try heard.say((1...23).map { Self.added($0) })
      heard.end(nil)
      var reader = ChannelReader()
      for _ in 0..<5 {
        let body = try world.request(script.back(aid: reader.lastID))
        #expect(body.hasSuffix("\r\n0\r\n\r\n"), "the response ends to be acknowledged")
        try reader.read(body.channelBody)
      }
      let wanted = (1...23).map { "[\(Self.added($0))]" } + [#"["close"]"#]
      #expect(reader.received == wanted)
      #expect(world.budget.usedBytes(for: .answers) > 0)
      world.wait(seconds: 60)
      #expect(world.budget.usedBytes == 0)
    }
  }
#endif
