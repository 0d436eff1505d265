#if TCP && canImport(Glibc)
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("HTTP, over sockets") struct HTTPEndpointTests {
    @Test("requests behind one another are answered in order, over one connection")
    func pipelining() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        var requests = ""
        for number in 1...20 {
          requests +=
            "PUT /n.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(String(number).utf8.count)\r\n\r\n\(number)"
        }
        peer.send(requests + get("/n.json"))
        let answers = peer.readToEnd().components(separatedBy: "HTTP/1.1 200 OK").dropFirst()
        let bodies = answers.map { $0.components(separatedBy: "\r\n\r\n").last }
        #expect(bodies == (1...20).map { String($0) } + ["20"])
      }
    }

    @Test("a body may come in chunks, and after it was asked for")
    func chunks() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        peer.send(
          "PUT /c.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            + "Expect: 100-continue\r\n\r\n")
        #expect(peer.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        peer.send("2\r\n\"a\r\n")
        peer.send("3\r\nbc\"\r\n0\r\n\r\n")
        #expect(peer.read(through: #""abc""#).hasPrefix("HTTP/1.1 200 OK"))
      }
    }

    @Test(
      "what could be understood in two ways is refused, and the connection ends",
      arguments: [
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked, x\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\n folded: x\r\nContent-Length: 1\r\n\r\n1",
        "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n1",
        "GET /a.json HTTP/1.1\r\n\r\n",
        "GET /a.json HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /a\u{1}.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a.json HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET http:/\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}",
      ])
    func smuggling(request: String) async throws {
      try await withGateway { gateway in
        let answer = try gateway.exchange(request + get("/smuggled.json"))
        #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer: \(answer)")
      }
    }

    @Test("a method that no path takes is answered as such, with the methods that are taken")
    func unknownMethods() async throws {
      try await withGateway { gateway in
        for method in ["FROB", "TRACE", "get", "MKCOL"] {
          let answer = try gateway.exchange("\(method) /a.json HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(answer.hasPrefix("HTTP/1.1 405"), "\(method): \(answer)")
          #expect(answer.contains("\r\nAllow: GET, HEAD, PUT, POST, PATCH, DELETE"), "\(answer)")
        }
        let peer = try gateway.connect()
        peer.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(peer.read(through: "null").hasPrefix("HTTP/1.1 200"))
        peer.send("FROB /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(peer.readToEnd().hasPrefix("HTTP/1.1 405"))
        let upload = try gateway.exchange(get("/in/.upload"))
        #expect(upload.hasPrefix("HTTP/1.1 405") && upload.contains("\r\nAllow: POST\r\n"))
      }
    }

    @Test("too much is refused before it has come")
    func tooMuch() async throws {
      var limits = GatewayLimits()
      limits.bodyBytes = 1_000
      limits.headBytes = 2_000
      limits.headFields = 20
      limits.connections = 2
      try await withGateway(limits: limits) { gateway in
        let announced = "PUT /a.json HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"
        #expect(try gateway.exchange(announced).hasPrefix("HTTP/1.1 400"))
        let chunk = "3e9\r\n" + String(repeating: "1", count: 1_001) + "\r\n"
        let chunked =
          "PUT /a.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
        #expect(try gateway.exchange(chunked).hasPrefix("HTTP/1.1 400"))
        let long = "GET /\(String(repeating: "a", count: 3_000)).json HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try gateway.exchange(long).hasPrefix("HTTP/1.1 431"))
        let fields = (0..<30).map { "X-\($0): 1\r\n" }.joined()
        #expect(
          try gateway.exchange("GET /a.json HTTP/1.1\r\n\(fields)\r\n").hasPrefix("HTTP/1.1 4"))
        let (first, second) = (try gateway.connect(), try gateway.connect())
        for peer in [first, second] {
          peer.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          #expect(peer.read(through: "null").hasPrefix("HTTP/1.1 200"))
        }
        #expect(try gateway.exchange(get("/a.json")).hasPrefix("HTTP/1.1 503"))
      }
    }

    @Test("a client that is slow to ask is ended, and one that polls rarely is not")
    func slowHead() async throws {
      var limits = GatewayLimits()
      limits.headSeconds = 1
      try await withGateway(limits: limits) { gateway in
        let slow = try gateway.connect()
        slow.send("GET /a.json HT")
        #expect(slow.readToEnd() == "")
        let body = try gateway.connect()
        body.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n1")
        let stream = try gateway.connect()
        stream.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "\n\n\r\n").contains(#"data: {"path":"/","data":null}"#))
        #expect(try gateway.exchange("GET /a.json HT") == "", "a second has passed")
        body.send("2")
        #expect(body.read(through: "12").hasPrefix("HTTP/1.1 200"))
        #expect(stream.read(through: "\n\n\r\n").contains(#"data: {"path":"/","data":12}"#))
      }
    }

    @Test("a stream says that it is alive")
    func keepAlive() async throws {
      var limits = GatewayLimits()
      limits.keepAliveSeconds = 1
      try await withGateway(limits: limits) { gateway in
        let stream = try gateway.connect()
        stream.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "keep-alive\ndata: null\n\n").contains("event: put"))
        #expect(stream.read(through: "keep-alive\ndata: null\n\n").contains("event: keep-alive"))
      }
    }

    @Test("pages of other origins are answered with their names")
    func origins() async throws {
      try await withGateway { gateway in
        let answer = try gateway.exchange(
          get("/a.json", headers: "Origin: http://localhost:3000\r\n"))
        #expect(answer.contains("Access-Control-Allow-Origin: http://localhost:3000\r\n"))
        #expect(answer.contains("Access-Control-Allow-Credentials: true\r\n"))
        #expect(answer.contains("Vary: Origin\r\n"))
        let foreign = try gateway.exchange(
          get("/a.json", headers: "Origin: https://evil.example\r\n"))
        #expect(foreign.hasPrefix("HTTP/1.1 401"))
        let script = try gateway.exchange(
          get("/a.json?callback=f", headers: "Sec-Fetch-Site: cross-site\r\n"))
        #expect(script.hasPrefix("HTTP/1.1 401"))
        let preflight = try gateway.exchange(
          "OPTIONS /a.json HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a.example\r\nConnection: close\r\n"
            + "Access-Control-Request-Headers: x-firebase-etag\r\n\r\n")
        #expect(preflight.contains("Access-Control-Allow-Headers: x-firebase-etag\r\n"))
        #expect(preflight.hasPrefix("HTTP/1.1 204"))
      }
    }

    @Test("a head is an answer without its body")
    func head() async throws {
      try await withGateway { gateway in
        let answer = try gateway.exchange(
          "HEAD /a.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("Content-Length: 4\r\n") && answer.hasSuffix("\r\n\r\n"))
      }
    }

    @Test("our own framing, REST and WebSocket share the port")
    func onePort() async throws {
      try await withGateway { gateway in
        let own = try gateway.connect()
        own.send(Array("TE".utf8))
        own.send(Array("RN".utf8) + [0, 0, 0, 1])
        let opening = Array(#"{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default"}}}"#.utf8)
        own.send([0, 0, 0, UInt8(opening.count)] + opening)
        #expect(own.read(through: #""t":"h""#).hasPrefix("TERN"))
        #expect(try gateway.exchange(get("/a.json")).hasSuffix("null"))
        #expect(try gateway.connect().openWebSocket().contains(#""t":"h""#))
      }
    }

    @Test("when the server stops, streams and sockets end")
    func stop() async throws {
      try await withGateway { gateway in
        let stream = try gateway.connect()
        stream.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "\n\n\r\n").contains("event: put"))
        let socket = try gateway.connect()
        _ = socket.openWebSocket()
        await gateway.server.stop()
        #expect(stream.readToEnd() == "0\r\n\r\n")
        #expect(socket.message().hasPrefix("closed 1000"))
      }
    }
  }

  extension String {
    fileprivate func components(separatedBy mark: String) -> [String] {
      var parts: [String] = []
      var rest = self[...]
      while let found = rest.firstRange(of: mark) {
        parts.append(String(rest[..<found.lowerBound]))
        rest = rest[found.upperBound...]
      }
      return parts + [String(rest)]
    }
  }
#endif
