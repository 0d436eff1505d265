#if TCP && canImport(Glibc)
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Connections that flood a server with frames. Each is ended or bounded, and others are served
  /// meanwhile.
  @Suite("Hostile HTTP/2", .timeLimit(.minutes(10)))
  struct HTTP2HostileTests {
    /// Another client gets its answer.
    private func expectService(_ gateway: GatewayUnderTest) throws {
      let client = HTTP2Peer(try gateway.connect())
      client.call("Commit", DocumentMessages.commit(["other"]), on: 1)
      #expect(client.answer(on: 1).status == 0)
    }

    /// Reads until the server has closed the connection; returns the code of its farewell.
    private func farewell(_ client: HTTP2Peer) -> UInt32? {
      var code: UInt32?
      while let frame = client.next(answersPings: false) {
        if frame.type == HTTP2Peer.goAway {
          code = frame.payload.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
      }
      return code
    }

    /// Sends frames until the server takes no more, or all of them.
    private func flood(_ client: HTTP2Peer, _ count: Int, _ frame: (Int) -> [UInt8]) {
      for index in 0..<count where !client.peer.send(frame(index)) { return }
    }

    private static let enhanceYourCalm: UInt32 = 11

    @Test("streams that are opened and reset at once (CVE-2023-44487)")
    func rapidReset() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        let head = HTTP2Peer.block(HTTP2Peer.call("Listen"))
        flood(client, 5_000) { index in
          let stream = UInt32(2 * index + 1)
          return HTTP2Peer.frame(HTTP2Peer.headers, head, flags: 4, stream: stream)
            + HTTP2Peer.frame(HTTP2Peer.reset, UInt32(8).bytes, stream: stream)
        }
        #expect(farewell(client) == Self.enhanceYourCalm)
        try expectService(gateway)
      }
    }

    @Test("streams without an end take no places of connections")
    func openStreams() async throws {
      var limits = GatewayLimits()
      limits.connections = 8
      try await withGateway(limits: limits) { gateway in
        let clients = try (0..<3).map { _ in HTTP2Peer(try gateway.connect()) }
        for client in clients {
          for stream in 0..<50 as Range<UInt32> {
            client.head(
              [(":method", "PUT"), (":scheme", "http"), (":authority", "a"), (":path", "/x.json")],
              on: 2 * stream + 1)
          }
          client.send(HTTP2Peer.ping, UInt64(1).bytes)
          #expect(client.next(HTTP2Peer.ping) != nil)
        }
        #expect(try gateway.exchange(get("/none.json")).hasPrefix("HTTP/1.1 200"))
        withExtendedLifetime(clients) {}
      }
    }

    @Test("pings without end")
    func pings() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        flood(client, 5_000) { HTTP2Peer.frame(HTTP2Peer.ping, UInt64($0).bytes) }
        #expect(farewell(client) == Self.enhanceYourCalm)
        try expectService(gateway)
      }
    }

    @Test("more pings than an honest client sends in a quarter of an hour are no flood")
    func honestPings() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        // It sends one every ten seconds.
        for index in 0..<100 { client.send(HTTP2Peer.ping, UInt64(index).bytes) }
        var answers = 0
        while answers < 100, let frame = client.next() {
          if frame.type == HTTP2Peer.ping, frame.flags == 1 { answers += 1 }
        }
        #expect(answers == 100)
        client.call("Commit", DocumentMessages.commit(["a"]), on: 1)
        #expect(client.answer(on: 1).status == 0)
      }
    }

    @Test("settings without end")
    func settings() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        flood(client, 5_000) {
          HTTP2Peer.frame(HTTP2Peer.settings, UInt16(4).bytes + UInt32(60_000 + $0).bytes)
        }
        #expect(farewell(client) == Self.enhanceYourCalm)
        try expectService(gateway)
      }
    }

    @Test("a head that never ends")
    func continuations() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.send(
          HTTP2Peer.headers, HTTP2Peer.block(HTTP2Peer.call("Commit")), flags: 0, stream: 1)
        let part = HTTP2Peer.block([("x", String(repeating: "y", count: 100))])
        flood(client, 20_000) { _ in
          HTTP2Peer.frame(HTTP2Peer.continuation, part, flags: 0, stream: 1)
        }
        #expect(farewell(client) != 0)
        try expectService(gateway)
      }
    }

    @Test("a head that is too large when it is unpacked")
    func headerBomb() async throws {
      var limits = GatewayLimits()
      limits.headBytes = 16 << 10
      try await withGateway(limits: limits) { gateway in
        let client = HTTP2Peer(try gateway.connect())
        // One field goes into the table; each byte behind it repeats it.
        let value = [UInt8](repeating: UInt8(ascii: "z"), count: 3_000)
        let field = [0x40, 1, UInt8(ascii: "x"), 127, 0xB9, 0x16] + value
        let block =
          HTTP2Peer.block(HTTP2Peer.call("Commit")) + field
          + [UInt8](repeating: 0xBE, count: 5_000)
        client.send(HTTP2Peer.headers, block, flags: 5, stream: 1)
        #expect(farewell(client) != 0)
        try expectService(gateway)
      }
    }

    @Test("more streams than are allowed")
    func streams() async throws {
      var limits = GatewayLimits()
      limits.http2.streams = 50
      try await withGateway(limits: limits) { gateway in
        let client = HTTP2Peer(try gateway.connect())
        let head = HTTP2Peer.block(HTTP2Peer.call("Listen"))
        flood(client, 2_000) {
          HTTP2Peer.frame(HTTP2Peer.headers, head, flags: 4, stream: UInt32(2 * $0 + 1))
        }
        #expect(farewell(client) != 0)
        try expectService(gateway)
      }
    }

    @Test("a thousand open listeners of one connection")
    func thousandListeners() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.send(HTTP2Peer.windowUpdate, UInt32(10_000_000).bytes)
        let head = HTTP2Peer.block(HTTP2Peer.call("Listen"))
        for index in 0..<1_000 {
          let stream = UInt32(2 * index + 1)
          client.peer.send(
            HTTP2Peer.frame(HTTP2Peer.headers, head, flags: 4, stream: stream)
              + HTTP2Peer.frame(
                HTTP2Peer.data, HTTP2Peer.message(DocumentMessages.watch("a")), stream: stream))
        }
        var told: Set<UInt32> = []
        while told.count < 1_000, let frame = client.next() {
          if frame.type == HTTP2Peer.data { told.insert(frame.stream) }
        }
        #expect(told.count == 1_000)
        try expectService(gateway)
      }
    }

    @Test("a client that opens no window holds its own share, and no other's")
    func zeroWindow() async throws {
      try await withGateway { gateway in
        let writer = HTTP2Peer(try gateway.connect())
        writer.call("Commit", DocumentMessages.commit(["large"], bytes: 900_000), on: 1)
        #expect(writer.answer(on: 1).status == 0)
        let client = HTTP2Peer(try gateway.connect(), settings: [(4, 0)])
        for index in 0..<20 {
          client.call("GetDocument", DocumentMessages.get("large"), on: UInt32(2 * index + 1))
        }
        var heads = 0
        while heads < 20, let frame = client.next() {
          if frame.type == HTTP2Peer.headers { heads += 1 }
        }
        let held = gateway.server.budget.usedBytes(for: .answers)
        #expect(held >= 18_000_000 && held < 30_000_000)
        try expectService(gateway)
        // Its other calls are answered as well, when it opens their windows.
        client.send(HTTP2Peer.windowUpdate, UInt32(2_000_000).bytes)
        client.send(HTTP2Peer.windowUpdate, UInt32(2_000_000).bytes, stream: 39)
        #expect(client.answer(on: 39).messages.first?.count ?? 0 > 900_000)
        client.peer.reset()
        try expectRelease(gateway)
      }
    }

    @Test("a half of a message, and then nothing: what it holds is released with its connection")
    func halfOpen() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        for index in 0..<50 {
          let stream = UInt32(2 * index + 1)
          client.head(HTTP2Peer.call("Commit"), on: stream)
          let part = [0] + UInt32(1 << 20).bytes + [UInt8](repeating: 1, count: 10_000)
          client.send(HTTP2Peer.data, part, stream: stream)
        }
        var held = 0
        for index in 0..<100 where held < 500_000 {
          client.send(HTTP2Peer.ping, UInt64(index).bytes)
          _ = client.next(HTTP2Peer.ping)
          held = gateway.server.budget.usedBytes(for: .receiving)
        }
        #expect(held >= 500_000)
        try expectService(gateway)
        client.peer.reset()
        try expectRelease(gateway)
      }
    }

    @Test("bytes that are no frames")
    func noise() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        peer.send(HTTP2Peer.preface + [UInt8](repeating: 0xFF, count: 4_000))
        _ = peer.readToEnd()
        let other = try gateway.connect()
        other.send("PRI nothing of the kind\r\n\r\n")
        _ = other.readToEnd()
        try expectService(gateway)
      }
    }

    /// Nothing is charged to clients that are gone, at the latest when others have been served.
    private func expectRelease(_ gateway: GatewayUnderTest) throws {
      for _ in 0..<100 {
        try expectService(gateway)
        let budget = gateway.server.budget
        if budget.usedBytes(for: .answers) == 0, budget.usedBytes(for: .receiving) == 0 { return }
      }
      Issue.record("bytes of clients that are gone are still charged")
    }
  }
#endif
