#if TCP && canImport(Glibc)
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Tests the answers to writes of an address that may hold no more answers.
  @Suite("Outcomes of writes without memory") struct OutcomeTests {
    @Test("a write is refused before it is made, or its outcome is told")
    func told() async throws {
      try await withGateway(serverLimits: ServerLimits(memoryBytes: 64 << 20)) { gateway in
        let budget = gateway.server.budget
        let peer = try gateway.connect()
        peer.send(request("PUT", "/large.json", "\"\(String(repeating: "x", count: 5_000))\""))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 200"))
        // Room for the request, and not for its answer.
        for room in [16, 28] {
          // An answer may arrive just before what was held for it is let go.
          let deadline = ContinuousClock.now + .seconds(300)
          while budget.usedBytes(for: .answers) > 0, ContinuousClock.now < deadline {
            _ = try gateway.exchange(get("/none.json"))
          }
          let held = budget.addressBytes - budget.usedBytes(of: "127.0.0.1") - room
          budget.count(held, .answers, to: "127.0.0.1")
          peer.send(request("GET", "/large.json", ""))
          #expect(peer.answer().head.hasPrefix("HTTP/1.1 503"))
          var made = 0
          for _ in 0..<2 {
            peer.send(request("POST", "/list\(room).json", "1"))
            let answer = peer.answer()
            guard answer.head.hasPrefix("HTTP/1.1 200") else { continue }
            #expect(answer.body.hasPrefix(#"{"name":"-"#))
            made += 1
          }
          budget.release(held, .answers, of: "127.0.0.1")
          #expect(made == 2)
          peer.send(request("GET", "/list\(room).json", ""))
          #expect(peer.answer().body.split(separator: ":").count - 1 == made)
        }
      }
    }

    @Test("the outcome of a large write is told, too, whose data are still held when it is decided")
    func large() async throws {
      try await withGateway(serverLimits: ServerLimits(memoryBytes: 64 << 20)) { gateway in
        let budget = gateway.server.budget
        let peer = try gateway.connect()
        peer.send(request("PUT", "/first.json", "1"))
        #expect(peer.answer().head.hasPrefix("HTTP/1.1 200"))
        let deadline = ContinuousClock.now + .seconds(300)
        while budget.usedBytes(for: .answers) > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/none.json"))
        }
        // Room for the body and its parsing, and not for its data and their text besides.
        let held = budget.addressBytes - budget.usedBytes(of: "127.0.0.1") - 320_000
        budget.count(held, .answers, to: "127.0.0.1")
        peer.send(request("POST", "/list.json", "\"\(String(repeating: "x", count: 100_000))\""))
        let answer = peer.answer()
        #expect(answer.head.hasPrefix("HTTP/1.1 200") && answer.body.hasPrefix(#"{"name":"-"#))
        budget.release(held, .answers, of: "127.0.0.1")
        peer.send(request("GET", "/list.json?shallow=true", ""))
        #expect(peer.answer().body.split(separator: ":").count - 1 == 1)
        while budget.usedBytes(for: .answers) > 0, ContinuousClock.now < deadline {
          _ = try gateway.exchange(get("/none.json"))
        }
        #expect(budget.usedBytes(for: .answers) == 0)
      }
    }

    @Test("an outcome that is larger than an answer may be is told without its data")
    func cut() throws {
      let target = try #require(RequestTarget("/a.json?print=pretty"))
      let put = HTTPRequest(method: "PUT", target: "/a.json?print=pretty", body: Array("[1]".utf8))
      let request = try RESTRequest(put, target, Caller(put, target))
      let write = try #require(
        { if case .write(let write, _) = request.asked.operation { write } else { nil } }())
      let whole = RESTAnswer.response(to: request, .written(write), limitBytes: 1_000)
      #expect(whole.status == 200 && !whole.body.isEmpty && whole.isOutcome)
      let cut = RESTAnswer.response(to: request, .written(write), limitBytes: 2)
      #expect(cut.status == 204 && cut.body.isEmpty && cut.isOutcome)
    }

    private func request(_ method: String, _ path: String, _ body: String) -> String {
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        + body
    }
  }
#endif
