#if TCP
  import NIOCore
  import NIOEmbedded
  import Synchronization
  import TernCore
  import TernQuery
  import TernServer
  import TernTransport
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// The handlers without sockets, with time in the test's hand.
  @Suite("HTTP, by the clock") struct HTTPClockTests {
    /// A server that keeps its askers waiting, and the links that were opened to it.
    private final class FakeServer: Sendable {
      let askers = Mutex<[@Sendable (DirectAnswer) -> Void]>([])
      let links = Mutex<[Heard]>([])

      func answer(_ answer: DirectAnswer) { askers.withLock { $0.removeFirst() }(answer) }
    }

    /// The server's end of a link.
    private final class Heard: LinkHandler {
      let link: any Link
      let frames = Mutex<[String]>([])
      let closure = Mutex<LinkClosure?>(nil)

      init(_ link: any Link) { self.link = link }

      func linkDidReceive(_ frames: [[UInt8]]) {
        self.frames.withLock { $0 += frames.map { String(decoding: $0, as: UTF8.self) } }
      }

      func linkDidClose(_ reason: LinkClosure) { closure.withLock { $0 = reason } }

      func say(_ message: TreeServerMessage) {
        link.send(message.encode())
        link.flush()
      }
    }

    private let server = FakeServer()
    private let channel = EmbeddedChannel()
    private let limits = GatewayLimits()

    init() throws {
      var options = GatewayOptions()
      options.limits = limits
      let server = server
      let setting = GatewayContext(
        options: options, ask: { _, answer in server.askers.withLock { $0.append(answer) } },
        export: { _, _, _, _, _, _ in nil },
        open: { link in
          let heard = Heard(link)
          server.links.withLock { $0.append(heard) }
          return heard
        }, installLink: { _, _ in }, load: GatewayLoad(MemoryBudget(limitBytes: 1 << 30)),
        polls: NIOLoopBound(PollTable(), eventLoop: channel.eventLoop),
        randomBits: { 7 })
      try Gateway.install(setting, in: channel)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func send(_ text: String) throws {
      try channel.writeInbound(ByteBuffer(string: text))
    }

    /// Everything that was sent since the last look.
    private func sent() throws -> String {
      var all = ""
      while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
        all += String(buffer: bytes)
      }
      return all
    }

    private func wait(seconds: Int) {
      channel.embeddedEventLoop.advanceTime(by: .seconds(Int64(seconds)))
    }

    @Test("a head has its time, and a body has its own")
    func heads() throws {
      wait(seconds: limits.headSeconds - 1)
      try send("PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1")
      wait(seconds: limits.headSeconds + 1)
      #expect(channel.isActive, "the head came in time")
      wait(seconds: limits.bodySeconds)
      #expect(!channel.isActive)
    }

    @Test("a head that trickles in has no more time than one that does not")
    func slowHead() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\n")
      for second in 1..<limits.headSeconds {
        wait(seconds: 1)
        try send("X-\(second): 1\r\n")
        #expect(channel.isActive)
      }
      wait(seconds: 1)
      #expect(!channel.isActive)
      #expect(server.askers.withLock { $0.isEmpty })
    }

    @Test("a body that trickles in has no more time either, however it is sent")
    func slowBody() throws {
      try send("PUT /a.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      for _ in 1..<limits.bodySeconds {
        wait(seconds: 1)
        try send("1\r\n1\r\n")
        #expect(channel.isActive)
      }
      wait(seconds: 1)
      #expect(!channel.isActive)
      #expect(server.askers.withLock { $0.isEmpty })
    }

    @Test("the head of the next request has its own time, and it begins with the answer")
    func nextHead() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\n\r\n")
      wait(seconds: limits.headSeconds * 3)
      server.answer(.node(1))
      _ = try sent()
      wait(seconds: limits.headSeconds - 1)
      try send("GET /b.json HTTP/1.1\r\n")
      #expect(channel.isActive)
      wait(seconds: 1)
      #expect(!channel.isActive)
    }

    @Test("a connection that asks nothing is closed")
    func idle() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\n")
      wait(seconds: limits.headSeconds)
      #expect(!channel.isActive)
    }

    @Test("a server that is slow is waited for, and the next request waits as well")
    func slowServer() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\n\r\nGET /b.json HTTP/1.1\r\nHost: a\r\n\r\n")
      wait(seconds: limits.headSeconds * 10)
      #expect(channel.isActive)
      #expect(server.askers.withLock { $0.count } == 1, "one at a time")
      server.answer(.node(1))
      #expect(try sent().hasSuffix("\r\n\r\n1"))
      server.answer(.refused(.unavailable("later")))
      #expect(try sent().hasPrefix("HTTP/1.1 503"))
      #expect(channel.isActive)
    }

    @Test("an answer that comes after the client has gone goes nowhere")
    func late() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\n\r\n")
      try channel.close().wait()
      server.answer(.node(1))
      #expect(try sent() == "")
    }

    @Test("a stream begins with its data, keeps alive, and shows that its reader takes it")
    func stream() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      let heard = try #require(server.links.withLock { $0.first })
      #expect(heard.frames.withLock { $0 }.count == 2, "an opening and a listen")
      heard.say(.put(TreePush(path: try TreePath("a"), 5)))
      #expect(try sent() == "", "not before it is allowed")
      heard.say(.response(2, .listening()))
      #expect(try sent().contains("event: put\ndata: {\"path\":\"/\",\"data\":5}\n\n"))
      wait(seconds: limits.keepAliveSeconds)
      #expect(try sent().contains("event: keep-alive\ndata: null\n\n"))
      #expect(heard.frames.withLock { $0 }.last == "0")
      heard.say(.listenRevoked(try TreePath("a"), .all))
      #expect(try sent().contains("event: cancel"))
      #expect(heard.closure.withLock { $0 } != nil)
    }

    @Test("a stream whose reader goes ends its session")
    func streamEnds() throws {
      try send("GET /a.json HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      let heard = try #require(server.links.withLock { $0.first })
      heard.say(.response(2, .listening()))
      try channel.close().wait()
      #expect(heard.closure.withLock { $0 } == .closedByPeer)
      #expect(heard.link.queuedBytes == 0)
    }

    @Test("a poll is held until there is something to say, or its time is over")
    func polls() throws {
      try send("GET /.lp?start=t&cb=3&v=5 HTTP/1.1\r\nHost: a\r\n\r\n")
      let heard = try #require(server.links.withLock { $0.first })
      #expect(try sent() == "")
      heard.say(.pong)
      let started = try sent()
      #expect(started.contains(#"pRTLPCB(0,[{"t":"c","d":{"t":"o","d":null}}]);"#))
      let found = try #require(started.firstMatch(of: /"start","(\w+)","(\w+)"/))
      let poll = "GET /.lp?id=\(found.output.1)&pw=\(found.output.2)"
      let wrong = "GET /.lp?id=\(found.output.1)&pw=x HTTP/1.1\r\nHost: a\r\n\r\n"
      try send(wrong)
      #expect(try sent().hasPrefix("HTTP/1.1 404"))
      try send("\(poll)&ser=1 HTTP/1.1\r\nHost: a\r\n\r\n")
      wait(seconds: limits.pollSeconds - 1)
      #expect(try sent() == "")
      wait(seconds: 1)
      #expect(try sent().contains("pRTLPCB(1,[]);"))
      heard.say(.pong)
      try send("\(poll)&seg0=0&ts0=1&d0=e30. HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try sent().contains("pRTLPCB(2,[{"), "what waited is said at once")
      #expect(heard.frames.withLock { $0 }.last == "{}")
    }

    /// A session over polls: the server's end, and how its polls begin.
    private func startPolling() throws -> (heard: Heard, way: String) {
      try send("GET /.lp?start=t&cb=3&v=5 HTTP/1.1\r\nHost: a\r\n\r\n")
      let heard = try #require(server.links.withLock { $0.last })
      heard.say(.pong)
      let found = try #require(try sent().firstMatch(of: /"start","(\w+)","(\w+)"/))
      return (heard, "/.lp?id=\(found.output.1)&pw=\(found.output.2)")
    }

    private func poll(_ target: String, method: String = "GET") throws -> String {
      try send("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
      return try sent()
    }

    @Test("a session that ends while no poll waits is reported to the next one, for a while")
    func pollFarewell() throws {
      for pause in [0, limits.pollFarewellSeconds - 1, limits.pollFarewellSeconds] {
        let (heard, way) = try startPolling()
        heard.say(.authRevoked(.expiredToken, detail: "The token has expired."))
        heard.say(.error("over"))
        heard.link.close()
        #expect(heard.closure.withLock { $0 } == .closedHere)
        wait(seconds: pause)
        let answer = try poll(way + "&ser=1&seg0=0&ts0=1&d0=e30.")
        if pause < limits.pollFarewellSeconds {
          #expect(answer.contains(#"pRTLPCB(1,[{"t":"d","d":{"a":"ac","b":{"s":"expired_token""#))
          #expect(answer.hasSuffix(#"pLPCommand("close",1);"# + "\n"), "\(answer)")
          #expect(heard.frames.withLock { $0 }.last != "{}", "nobody is there to take it")
        } else {
          #expect(answer.hasPrefix("HTTP/1.1 404"))
        }
        #expect(try poll(way + "&ser=2").hasPrefix("HTTP/1.1 404"), "it is told once")
      }
    }

    @Test("a client that polls no more keeps its session for a short time")
    func pollAbsence() throws {
      let (heard, way) = try startPolling()
      wait(seconds: limits.pollAbsenceSeconds - 1)
      #expect(try poll(way + "&ser=1&seg0=0&ts0=1&d0=e30.") == "", "it polls again in time")
      wait(seconds: limits.pollSeconds - 1)
      #expect(heard.closure.withLock { $0 } == nil)
      wait(seconds: 1)
      #expect(try sent().contains("pRTLPCB(1,[]);"))
      wait(seconds: limits.pollAbsenceSeconds - 1)
      #expect(heard.closure.withLock { $0 } == nil)
      wait(seconds: 1)
      #expect(heard.closure.withLock { $0 } != nil)
      #expect(try poll(way + "&ser=2").hasPrefix("HTTP/1.1 404"))
    }

    @Test("a poll whose connection ends while it waits does not keep the session")
    func lostPoll() throws {
      let (heard, way) = try startPolling()
      try send("GET \(way)&ser=1&seg0=0&ts0=1&d0=e30. HTTP/1.1\r\nHost: a\r\n\r\n")
      try channel.close().wait()
      wait(seconds: limits.pollSeconds + limits.pollAbsenceSeconds)
      #expect(heard.closure.withLock { $0 } != nil)
    }

    @Test("a poll whose connection broke may be sent again, before and after its answer")
    func pollAgain() throws {
      let (heard, way) = try startPolling()
      heard.say(.pong)
      let first = try poll(way + "&ser=7&seg0=0&ts0=1&d0=e30.")
      #expect(first.contains("pRTLPCB(1,[{"))
      #expect(try poll(way + "&ser=7&seg0=0&ts0=1&d0=e30.") == first, "the same, word for word")
      #expect(heard.frames.withLock { $0.filter { $0 == "{}" } }.count == 1)
      heard.say(.error(String(repeating: "x", count: PollSession.keptBytes)))
      #expect(try poll(way + "&ser=8").contains("pRTLPCB(2,[{"))
      #expect(try poll(way + "&ser=8").hasPrefix("HTTP/1.1 410"), "no gap, but an end")
    }

    @Test("a client that is far behind when the session ends receives the end alone")
    func pollBacklog() throws {
      let (heard, way) = try startPolling()
      heard.say(.error(String(repeating: "x", count: limits.streamBytes)))
      heard.link.close()
      #expect(try poll(way).hasSuffix("pRTLPCB(1,[]);\npLPCommand(\"close\",1);\n"))
    }

    @Test("a page that is left says goodbye, and only a GET asks")
    func pollGoodbye() throws {
      let (heard, way) = try startPolling()
      #expect(try poll(way, method: "HEAD").hasPrefix("HTTP/1.1 405"))
      #expect(try poll(way + "&dframe=t").contains("sendBeacon"))
      #expect(try poll(way + "&disconn=t", method: "POST").hasPrefix("HTTP/1.1 200"))
      #expect(heard.closure.withLock { $0 } == .closedByPeer)
      #expect(try poll(way).hasPrefix("HTTP/1.1 404"))
    }
  }
#endif
