#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  @Suite("Memory of a server, over sockets") struct MemoryTests {
    private let rules = """
      {"rules": {"open": {".read": true, ".write": true},
        "mine": {".write": "auth != null && newData.exists()"},
        "odd": {".write": "newData.exists() && auth != null"}}}
      """

    private func put(_ path: String, _ body: String, _ method: String = "PUT") -> String {
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        + body
    }

    @Test("rules that need no data deny a large body before it is parsed")
    func rulesFirst() async throws {
      try await withGateway(rules: rules) { gateway in
        // It is no JSON, which only parsing finds.
        let body = "[" + String(repeating: "1,", count: 100_000)
        let peer = try gateway.connect()
        for (path, method, status) in [
          ("/secret.json", "PUT", 401), ("/secret.json", "POST", 401), ("/mine.json", "PUT", 401),
          ("/odd.json", "PUT", 400), ("/open.json", "PUT", 400), ("/open/a.json", "PATCH", 400),
        ] {
          peer.send(put(path, body, method))
          #expect(peer.answer().head.hasPrefix("HTTP/1.1 \(status)"), "\(method) \(path)")
        }
        let text = String(repeating: "x", count: 100_000)
        peer.send(put("/open.json", "\"\(text)\""))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 200"))
        peer.send(put("/open.json", "{\"a\": [\(String(repeating: "true,", count: 20_000))1]}"))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 200"))
      }
    }

    @Test("rules that need no data deny a large update by its paths before it is parsed")
    func updates() async throws {
      let limits = ServerLimits(memoryBytes: 16 << 20)
      let rules = """
        {"rules": {"open": {".read": true, ".write": true}, "mine": {".write": "auth != null"},
          "made": {".write": "newData.child('n').exists()"},
          "pair": {".write": "newData.parent().child('open').exists()"}}}
        """
      try await withGateway(serverLimits: limits, rules: rules) { gateway in
        let heavy = "[" + String(repeating: "1,", count: 100_000) + "1]"
        let light = "\"" + String(repeating: "x", count: 100_000) + "\""
        let peer = try gateway.connect()
        for (path, body, status) in [
          ("/mine.json", "{\"a\": \(heavy)}", 401), ("/.json", "{\"mine/a\": \(heavy)}", 401),
          ("/.json", "{\"open/a\": 1, \"shut\": \(heavy)}", 401),
          ("/open.json", "{\"a\": \(heavy), \"b\": 1}", 413),
          ("/made.json", "{\"n\": 1, \"x\": \(heavy)}", 413),
          ("/open.json", "{\"a\": \(light), \"b\": 1}", 200),
          ("/made.json", "{\"n\": 1, \"x\": \(light)}", 200),
          ("/made.json", "{\"n\": null, \"x\": \(light)}", 401),
          // What another path of the same update writes is not what is there now.
          ("/.json", "{\"open\": 1, \"pair\": \(light)}", 200),
          ("/.json", "{\"open\": null, \"pair\": \(light)}", 401),
          ("/mine.json", "{\"a\": \(light), \"b.c\": 1}", 400),
          ("/mine.json", "{\"a\": \(light),", 400),
        ] {
          peer.send(put(path, body, "PATCH"))
          let answer = peer.answer()
          #expect(
            answer.head.hasPrefix("HTTP/1.1 \(status)"), "\(path) \(body.prefix(30)): \(answer)")
        }
        let many = (0..<400).map { "\"mine/\($0)\": \"\(String(repeating: "x", count: 200))\"" }
        peer.send(put("/.json", "{\(many.joined(separator: ","))}", "PATCH"))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 401"), "judged with its data")
        // An answer may arrive just before its request is let go.
        let deadline = ContinuousClock.now + .seconds(300)
        while gateway.server.budget.usedBytes(for: .parsing) > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/open/none.json"))
        }
        #expect(gateway.server.budget.usedBytes(for: .parsing) == 0)
        #expect(gateway.server.budget.usedBytes(for: .receiving) == 0)
      }
    }

    @Test("a body that would take more memory than its address may hold is refused unparsed")
    func expensiveBody() async throws {
      let limits = ServerLimits(memoryBytes: 64 << 20)
      try await withGateway(serverLimits: limits, rules: rules) { gateway in
        let peer = try gateway.connect()
        peer.send(put("/open.json", "[" + String(repeating: "1,", count: 100_000) + "1]"))
        let refused = peer.answer()
        #expect(refused.head.hasPrefix("HTTP/1.1 413"), "\(refused.head)")
        #expect(refused.body.contains("of memory to read, more than 16777216"))
        peer.send(put("/open.json", "\"" + String(repeating: ",", count: 1 << 20) + "\""))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 200"))
        let deadline = ContinuousClock.now + .seconds(300)
        while gateway.server.budget.usedBytes(for: .parsing) > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/open/none.json"))
        }
        #expect(gateway.server.budget.usedBytes(for: .parsing) == 0)
        #expect(gateway.server.budget.usedBytes(for: .receiving) == 0)
      }
    }

    @Test("short of memory, the server ends the links that leave most unread; others hear all")
    func unreadPushes() async throws {
      let limits = ServerLimits(memoryBytes: 16 << 20)
      try await withGateway(serverLimits: limits, rules: rules) { gateway in
        let idle = try (0..<10).map { _ in
          let peer = try gateway.connectNarrow()
          _ = peer.openWebSocket()
          peer.ask(1, "q", #"{"p":"/open","h":""}"#)
          #expect(peer.message().contains(#""s":"ok""#))
          return peer
        }
        let reader = try gateway.connect()
        _ = reader.openWebSocket()
        reader.ask(1, "q", #"{"p":"/open","h":""}"#)
        #expect(reader.message().contains(#""s":"ok""#))
        let writer = try gateway.connect()
        let text = String(repeating: "x", count: 512 << 10)
        for number in 0..<48 {
          writer.send(put("/open/n.json?print=silent", "\"\(number) \(text)\""))
          #expect(writer.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
          #expect(reader.message().contains("\"\(number) xxx"))
          // What all listeners share is counted once.
          if number == 2 {
            #expect(await gateway.server.linkCount == idle.count + 1)
          }
          #expect(gateway.server.budget.usedBytes <= limits.memoryBytes)
        }
        let reasons = await gateway.ends { $0.count >= 10 }
        for reason in reasons {
          guard case .outOfMemory = reason else {
            Issue.record("\(reason)")
            continue
          }
        }
      }
    }

    @Test("nothing stays charged when all connections have ended")
    func releases() async throws {
      try await withGateway(rules: rules) { gateway in
        for round in 0..<20 {
          let peer = try gateway.connect()
          _ = peer.openWebSocket()
          peer.ask(1, "q", #"{"p":"/open","h":""}"#)
          _ = peer.message()
          peer.send(masked(1, [UInt8](repeating: 97, count: 20_000), isFinal: false))
          let other = try gateway.connect()
          other.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n[1,")
          let third = try gateway.connect()
          let body = "[" + String(repeating: "1,", count: 50_000) + "1]"
          third.send(put("/open/\(round).json", body))
          for peer in [peer, other, third] { peer.reset() }
        }
        let deadline = ContinuousClock.now + .seconds(300)
        while gateway.server.budget.usedBytes > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/open/none.json"))
        }
        for use in MemoryBudget.Use.allCases {
          #expect(gateway.server.budget.usedBytes(for: use) == 0, "\(use)")
        }
      }
    }

    @Test(
      "a length that is no length of a body is refused at once",
      arguments: ["9223372036854775808", "18446744073709551616", "-1", "1e3", "+5"])
    func lengths(text: String) async throws {
      try await withGateway { gateway in
        let answer = try gateway.exchange(
          "PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(text)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400") || answer.hasPrefix("HTTP/1.1 413"), "\(answer)")
      }
    }
  }

  @Suite("Forms with files") struct MultipartTests {
    @Test("the parts of forms are found whatever their bytes resemble")
    func search() {
      var random = SystemRandomNumberGenerator()
      let seed = UInt64.random(in: .min ... .max, using: &random)
      var state = seed
      func next(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1
        return Int(state >> 33) % count
      }
      for _ in 0..<2_000 {
        let boundary = String((0..<1 + next(5)).map { _ in next(3) == 0 ? "a" : "-" })
        let file = (0..<next(40)).map { _ in Array("-a\r\n".utf8)[next(4)] }
        let mark = Array("--\(boundary)".utf8)
        let end: [UInt8] = [13, 10] + mark
        let body =
          mark + Array("\r\nContent-Type: a/b\r\n\r\n".utf8) + file + end + Array("--\r\n".utf8)
        let hit = (0...body.count).first { start in
          start >= mark.count + 21 && body[start...].starts(with: end)
        }
        let expected = hit.map { Array(body[min(mark.count + 23, $0)..<$0]) }
        let found = MultipartForm.firstPart(of: body, boundary: boundary).map { Array($0) }
        #expect(found == expected, "seed \(seed)")
      }
      let dashes = [UInt8](repeating: UInt8(ascii: "-"), count: 1 << 20)
      let hard = String(repeating: "-", count: 69) + "a"
      #expect(MultipartForm.firstPart(of: dashes, boundary: hard) == nil)
    }
  }
#endif
