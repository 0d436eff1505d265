#if TCP && canImport(Glibc)
  import NIOCore
  import NIOEmbedded
  import TernCore
  import TernQuery
  import TernServer
  import TernTransport
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// Tests the memory of server-sent events, with time and sockets in the test's hand.
  @Suite("Streams whose clients do not read") struct StreamMemoryTests {
    private static let request =
      "GET /a.json HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"

    /// A stream, and the server's end of its session.
    private struct Stream {
      let connection: ChannelConnection
      let heard: ChannelWorld.Heard

      init(_ world: ChannelWorld, from address: String = "127.0.0.1") throws {
        connection = try world.connect(from: address)
        try connection.send(StreamMemoryTests.request)
        heard = try #require(world.heard.last)
        say(.response(2, .listening()))
        #expect(try connection.sent().contains("event: put"))
      }

      func say(_ message: TreeServerMessage) {
        heard.link.send(message.encode())
        heard.link.flush()
      }
    }

    private static func put(_ count: Int) throws -> TreeServerMessage {
      let text = String(repeating: "x", count: count)
      return .put(TreePush(path: try TreePath("a"), TreeNode(.string(text))))
    }

    @Test("many streams share the bytes of one event")
    func sharing() throws {
      let world = ChannelWorld()
      let streams = try (0..<3).map { _ in try Stream(world) }
      let shared = SharedFrames([try Self.put(100_000).encode(), try Self.put(1).encode()])
      for stream in streams {
        stream.heard.link.send(shared)
        stream.heard.link.flush()
      }
      var places: Set<UInt> = []
      for stream in streams {
        var text = ""
        while let bytes = try stream.connection.channel.readOutbound(as: ByteBuffer.self) {
          text += String(buffer: bytes)
          if bytes.readableBytes > 100_000 {
            let place = unsafe bytes.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
            places.insert(place)
          }
        }
        #expect(text.contains("{\"path\":\"/\",\"data\":\"x\"}\n\n"))
        #expect(Array(text.utf8).occurrences(of: "event: put") == 2)
      }
      #expect(places.count == 1)
    }

    @Test("frames that are more than data are taken by each stream")
    func endings() throws {
      let world = ChannelWorld()
      let streams = try (0..<2).map { _ in try Stream(world) }
      let revoked = TreeServerMessage.listenRevoked(try TreePath("a"), .all)
      let shared = SharedFrames([try Self.put(1).encode(), revoked.encode()])
      for stream in streams {
        stream.heard.link.send(shared)
        stream.heard.link.flush()
        let text = try stream.connection.sent()
        #expect(text.contains("\"data\":\"x\"}"))
        #expect(text.contains("event: cancel"))
        #expect(stream.heard.closure != nil)
      }
    }

    @Test("what was not sent is charged until it is, also behind the end of the session")
    func charged() throws {
      let world = ChannelWorld()
      let stream = try Stream(world)
      let output = try stream.connection.holdOutput()
      stream.say(try Self.put(100_000))
      #expect(world.budget.usedBytes(for: .answers) >= 100_000)
      stream.heard.link.close()
      #expect(stream.heard.closure != nil)
      #expect(world.budget.usedBytes(for: .answers) >= 100_000)
      output.release()
      #expect(world.budget.usedBytes(for: .answers) == 0)
    }

    @Test("streams of one address hold no more than its share, and others are served")
    func share() throws {
      let world = ChannelWorld(budget: MemoryBudget(limitBytes: 4 << 20))
      let streams = try (0..<3).map { _ in try Stream(world, from: "192.0.2.7") }
      let other = try Stream(world, from: "192.0.2.8")
      for stream in streams {
        _ = try stream.connection.holdOutput()
        stream.say(try Self.put(400_000))
      }
      other.say(try Self.put(400_000))
      #expect(streams.map(\.connection.channel.isActive) == [true, true, false])
      #expect(streams[2].heard.closure == .lost("what is sent is read too slowly"))
      #expect(other.heard.closure == nil)
      #expect(world.budget.usedBytes(for: .answers) < 1 << 20)
      for stream in streams.prefix(2) { try stream.connection.close() }
      world.settle()
      #expect(world.budget.usedBytes(for: .answers) == 0)
    }

    @Test("the connection of a stream that is over is closed when its client reads nothing")
    func over() throws {
      let world = ChannelWorld()
      let stream = try Stream(world)
      _ = try stream.connection.holdOutput()
      stream.say(try Self.put(100_000))
      stream.heard.link.close()
      world.wait(seconds: world.limits.bodySeconds - 1)
      #expect(stream.connection.channel.isActive)
      world.wait(seconds: 1)
      #expect(!stream.connection.channel.isActive)
      world.settle()
      #expect(world.budget.usedBytes == 0)
    }

    @Test("a long answer that is complete has its time to be read")
    func complete() throws {
      let world = ChannelWorld()
      let connection = try world.connect()
      try connection.send(Self.request)
      let pipeline = connection.channel.pipeline.syncOperations
      let context = try pipeline.context(handlerType: HTTPHandler.self)
      let handler = try pipeline.handler(type: HTTPHandler.self)
      _ = try connection.holdOutput()
      handler.beginStream(HTTPResponse(status: 200), context)
      handler.completeStream(context)
      world.wait(seconds: world.limits.bodySeconds - 1)
      #expect(connection.channel.isActive)
      world.wait(seconds: 1)
      #expect(!connection.channel.isActive)
    }
  }
#endif
