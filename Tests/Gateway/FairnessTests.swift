#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  @Suite("Fairness, over sockets") struct FairnessTests {
    private func put(_ path: String, _ body: String) -> String {
      "PUT \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("unfinished input is counted over all endpoints together, and freed with its connection")
    func unfinished() async throws {
      var limits = GatewayLimits()
      limits.heldBodyBytes = 100_000
      try await withGateway(limits: limits) { gateway in
        func text(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "x"), count: count) }
        func connect() throws -> Peer {
          let peer = try gateway.connect()
          _ = peer.openWebSocket()
          return peer
        }
        /// Sends a part of a message; answers what comes back, a pong if all is well.
        func begin(_ peer: Peer, _ bytes: [UInt8]) -> UInt8? {
          peer.send(bytes + masked(9, [7]))
          return peer.frame()?.opcode
        }
        let first = try connect()
        #expect(begin(first, masked(1, text(60_000), isFinal: false)) == 10)
        #expect(try begin(connect(), masked(1, "9") + masked(1, text(10_000))) == 10, "let go")
        let second = try connect()
        #expect(begin(second, masked(1, "9") + masked(1, text(30_000))) == 10)
        let third = try connect()
        third.send(masked(1, text(20_000), isFinal: false))
        #expect(third.message().hasPrefix("closed 1013"))
        let poll = try PollPeer(gateway)
        #expect(poll.sendHalf(String(repeating: "x", count: 20_000)).hasPrefix("HTTP/1.1 503"))
        let refused = try gateway.exchange(put("/a.json", String(repeating: "1", count: 20_000)))
        #expect(refused.hasPrefix("HTTP/1.1 503"))
        // Whole messages need no room of this kind.
        first.send(masked(8, [3, 0xE8]))
        _ = first.readToEnd()
        #expect(begin(try connect(), masked(1, text(50_000), isFinal: false)) == 10)
      }
    }

    @Test(
      "listeners that stop reading are ended with a reason, over every endpoint; others hear all")
    func slowConsumers() async throws {
      var limits = GatewayLimits()
      limits.lingerSeconds = 1
      let serverLimits = ServerLimits(queuedBytes: 1 << 20)
      try await withGateway(limits: limits, serverLimits: serverLimits) { gateway in
        // Four that listen and read no further than that they do.
        let socket = try gateway.connectNarrow()
        _ = socket.openWebSocket()
        socket.ask(1, "q", #"{"p":"/big","h":""}"#)
        #expect(socket.message().contains(#""s":"ok""#))
        let stream = try gateway.connectNarrow()
        stream.send(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        _ = stream.read(through: "\n\n")
        let native = try NativePeer(port: gateway.port, receiveBytes: 4_096)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        native.send(Array(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/big","h":""}}}"#.utf8))
        #expect(native.frame().contains(#""s":"ok""#))
        let poll = try PollPeer(gateway)
        let listened = poll.ask(frame(1, "q", #"{"p":"/big","h":""}"#))
        #expect(listened.contains(#""s":"ok""#))
        // One that reads what it is told.
        let reader = try gateway.connect()
        _ = reader.openWebSocket()
        reader.ask(1, "q", #"{"p":"/big","h":""}"#)
        #expect(reader.message().contains(#""s":"ok""#))
        let writer = try gateway.connect()
        let text = String(repeating: "x", count: 200_000)
        var heard = 0
        for number in 0..<100 {
          writer.send(put("/big/n.json?print=silent", "\"\(number) \(text)\""))
          #expect(writer.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
          if reader.message().contains("\"\(number) xxx") { heard += 1 }
        }
        #expect(heard == 100)
        let reasons = await gateway.ends {
          $0.count { if case .tooSlow = $0 { true } else { false } } == 4
        }
        for case .tooSlow(let bytes, let limit) in reasons {
          #expect(bytes > limit && limit == 1 << 20)
        }
        // What is left of the connections ends, instead of waiting for readers for ever.
        for peer in [socket, stream] { _ = peer.readToEnd() }
        _ = native.readToEnd()
        reader.ask(2, "g", #"{"p":"/other","q":{}}"#)
        #expect(reader.message().contains(#""s":"ok""#))
      }
    }

    @Test(
      "a flood over our framing, or of requests on one connection, starves no client")
    func otherFloods() async throws {
      try await withGateway(serverLimits: ServerLimits(batchFrames: 64)) { gateway in
        let other = try gateway.connect()
        func look(_ path: String) -> Int? {
          other.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
          let body = other.answer().body
          return body == "null" ? 0 : Int(body)
        }
        let count = 40_000
        let increment = #"{".sv":{"increment":1}}"#
        let native = try NativePeer(port: gateway.port)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        let request = Array(frame(1, "p", #"{"p":"/f","d":\#(increment)}"#).utf8)
        native.send(request, times: count)
        let afterFrames = look("/f.json")
        #expect(afterFrames.map { $0 < count } == true, "\(afterFrames ?? -1)")
        // Requests of one connection are answered one after the other, so that few of them wait.
        let pipeline = try gateway.connect()
        let requests = Array(put("/g.json?print=silent", increment).utf8)
        pipeline.send((0..<2_000).flatMap { _ in requests })
        let afterRequests = look("/g.json")
        #expect(afterRequests.map { $0 < 2_000 } == true, "\(afterRequests ?? -1)")
      }
    }

    @Test("a connection that asks for much and takes nothing delays no other")
    func unreadAnswers() async throws {
      try await withGateway { gateway in
        let writer = try gateway.connect()
        let text = String(repeating: "x", count: 200_000)
        writer.send(put("/big.json?print=silent", "\"\(text)\""))
        #expect(writer.answer().head.hasPrefix("HTTP/1.1 204"))
        let greedy = try (0..<8).map { _ in try gateway.connectNarrow() }
        let request = Array("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        for peer in greedy { peer.send((0..<20).flatMap { _ in request }) }
        for number in 0..<50 {
          writer.send(put("/n.json", "\(number)"))
          #expect(writer.answer().body == "\(number)")
        }
        // Who reads after all is given everything that was asked for.
        for _ in 0..<20 { #expect(greedy[0].answer().body.utf8.count == 200_002) }
      }
    }

    @Test("one connection that floods does not keep another's request from its turn")
    func flood() async throws {
      try await withGateway(serverLimits: ServerLimits(batchFrames: 64)) { gateway in
        let flooding = try gateway.connect()
        _ = flooding.openWebSocket()
        let other = try gateway.connect()
        _ = other.openWebSocket()
        let increment = #"{"p":"/f","d":{".sv":{"increment":1}}}"#
        let request = masked(1, #"{"t":"d","d":{"r":1,"a":"p","b":\#(increment)}}"#)
        let count = 40_000
        flooding.send((0..<count).flatMap { _ in request })
        other.ask(1, "g", #"{"p":"/f","q":{}}"#)
        let answer = other.message()
        let seen = answer.firstMatch(of: /"s":"ok","d":(\d+)/).flatMap { Int($0.output.1) }
        // The server reads faster than it decides, and so much of the flood waits by now; without
        // turns all of it would have come first.
        #expect(seen.map { $0 < count } == true, "\(answer)")
      }
    }

    /// The first answer that says that something was too much. On a busy machine time passes, and
    /// with it more may be asked.
    private func refusal(_ told: String, _ attempt: () throws -> String) rethrows -> String {
      var last = ""
      for _ in 0..<100 where !last.contains(told) { last = try attempt() }
      return last
    }

    /// A way to ask at each gateway, and what a refusal begins with there.
    private func attempts(
      _ gateway: GatewayUnderTest, user: String? = nil
    ) throws -> [(name: String, mark: String, attempt: () throws -> String)] {
      let token =
        user.map { "?access_token=owner&auth_variable_override=%7B%22uid%22:%22\($0)%22%7D" } ?? ""
      let auth = user.map { frame(1, "gauth", #"{"cred":"owner","authvar":{"uid":"\#($0)"}}"#) }
      let read = frame(2, "g", #"{"p":"/","q":{}}"#)
      let rest = try gateway.connect()
      let socket = try gateway.connect()
      _ = socket.openWebSocket()
      let native = try NativePeer(port: gateway.port)
      native.send(TreeClientMessage.open(TreeOpening()).encode())
      _ = native.frame()
      let poll = try PollPeer(gateway)
      if let auth {
        socket.send(masked(1, auth))
        native.send(Array(auth.utf8))
        for answer in [socket.message(), native.frame(), poll.ask(auth)] {
          #expect(answer.contains(#""s":"ok""#), "\(answer)")
        }
      }
      func ask(_ peer: Peer, _ fields: String) -> String {
        peer.send("GET /a.json\(token) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        let answer = peer.answer()
        return answer.head + answer.body
      }
      return [
        ("REST", "HTTP/1.1 429", { ask(rest, "") }),
        ("stream", "HTTP/1.1 429", { ask(try gateway.connect(), "Accept: text/event-stream\r\n") }),
        (
          "WebSocket", #""s":"unavailable""#,
          {
            socket.send(masked(1, read))
            return socket.message()
          }
        ),
        (
          "our framing", #""s":"unavailable""#,
          {
            native.send(Array(read.utf8))
            return native.frame()
          }
        ),
        ("long polling", #""s":"unavailable""#, { poll.ask(read) }),
      ]
    }

    @Test("rates are limited in the words of each endpoint")
    func rates() async throws {
      let rates = RateLimits(requestsPerAddress: 1, burstSeconds: 20)
      try await withGateway(serverLimits: ServerLimits(rates: rates)) { gateway in
        let told = "Too many requests: one address may make 1 a second."
        for (name, mark, attempt) in try attempts(gateway) {
          let answer = try refusal(told, attempt)
          #expect(answer.contains(told) && answer.contains(mark), "\(name): \(answer)")
        }
      }
    }

    @Test("a user above the rate is rejected at every endpoint, and another one is not")
    func userRates() async throws {
      let rates = RateLimits(requestsPerIdentity: 1, burstSeconds: 20)
      try await withGateway(serverLimits: ServerLimits(rates: rates)) { gateway in
        let told = "Too many requests: one user may make 1 a second."
        let others = try attempts(gateway, user: "ben")
        for (name, mark, attempt) in try attempts(gateway, user: "ann") {
          let answer = try refusal(told, attempt)
          #expect(answer.contains(told) && answer.contains(mark), "\(name): \(answer)")
        }
        for (name, _, attempt) in others {
          let answer = try attempt()
          #expect(!answer.contains("Too many requests"), "\(name): \(answer)")
        }
      }
    }
  }
#endif
