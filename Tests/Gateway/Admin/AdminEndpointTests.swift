#if TCP && canImport(Glibc)
  import TernCore
  import TernSecurity
  import TernServer
  import TernStorageMemory
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  @Suite("Pages of the operator") struct AdminEndpointTests {
    private let closed = #"{"rules": {}}"#

    private func ask(
      _ target: String, _ method: String = "GET", _ headers: String = "", body: String = ""
    ) -> String {
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    private let owner = "Authorization: Bearer owner\r\n"

    private func json(_ answer: String) throws -> JSONValue {
      let bytes = Array(answer.utf8)
      let head = try #require(bytes.position(of: "\r\n\r\n"))
      return try JSONValue(parsing: Array(bytes[(head + 4)...]))
    }

    @Test("every client may read health and readiness, whatever the rules say")
    func health() async throws {
      try await withGateway(rules: closed) { gateway in
        let alive = try gateway.exchange(ask("/-/healthz"))
        #expect(alive.hasPrefix("HTTP/1.1 200") && alive.hasSuffix("ok\n"), "\(alive)")
        let ready = try gateway.exchange(ask("/-/readyz"))
        #expect(ready.hasPrefix("HTTP/1.1 200") && ready.hasSuffix("ready\n"), "\(ready)")
        #expect(!ready.contains("Access-Control-Allow-Origin"), "\(ready)")
      }
      try await withGateway(farewell: .closed(reason: "for good")) { gateway in
        let answer = try gateway.exchange(ask("/-/readyz"))
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.hasSuffix("closed\n"), "\(answer)")
      }
    }

    @Test(
      "only administrators may read figures",
      arguments: [
        "/-/metrics", "/-/status", "/-/connections", "/-/databases",
      ])
    func rights(path: String) async throws {
      try await withGateway { gateway in
        let refused = try gateway.exchange(ask(path))
        #expect(refused.hasPrefix("HTTP/1.1 401"), "\(refused)")
        let wrong = try gateway.exchange(ask(path, "GET", "Authorization: Bearer nobody\r\n"))
        #expect(wrong.hasPrefix("HTTP/1.1 401"), "\(wrong)")
        let allowed = try gateway.exchange(ask(path, "GET", owner))
        #expect(allowed.hasPrefix("HTTP/1.1 200"), "\(allowed)")
      }
    }

    @Test("a development server tells figures to this machine, not to pages from elsewhere")
    func development() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        #expect(try gateway.exchange(ask("/-/metrics")).hasPrefix("HTTP/1.1 200"))
        let page = "Origin: https://example.com\r\n"
        #expect(try gateway.exchange(ask("/-/metrics", "GET", page)).hasPrefix("HTTP/1.1 401"))
        let preflight = try gateway.exchange(ask("/-/connections/1-1", "OPTIONS", page))
        #expect(!preflight.contains("Access-Control-Allow"), "\(preflight)")
      }
    }

    @Test("paths that end in .json are data, and other pages and methods are refused")
    func paths() async throws {
      try await withGateway { gateway in
        let written = try gateway.exchange(ask("/-/status.json", "PUT", body: "7"))
        #expect(written.hasPrefix("HTTP/1.1 200") && written.hasSuffix("7"), "\(written)")
        #expect(try gateway.exchange(ask("/-/nothing", "GET", owner)).hasPrefix("HTTP/1.1 404"))
        #expect(try gateway.exchange(ask("/-/metrics", "POST", owner)).hasPrefix("HTTP/1.1 405"))
      }
    }

    @Test("writes, listens and sessions are counted where they belong")
    func counted() async throws {
      try await withGateway { gateway in
        let socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=default")
        socket.ask(1, "q", #"{"p":"/a","h":""}"#)
        _ = socket.message()
        _ = try gateway.exchange(ask("/a.json", "PUT", body: "1"))
        _ = socket.message()
        let text = try gateway.exchange(ask("/-/metrics", "GET", owner))
        for line in [
          #"tern_writes_total{model="tree",outcome="accepted"} 1"#,
          #"tern_events_total{model="tree"} 1"#,
          #"tern_connections{protocol="websocket"} 1"#,
          #"tern_sessions{model="tree"} 1"#, #"tern_listens{model="tree"} 1"#,
          #"tern_queries{model="tree"} 1"#, #"tern_commits_total 1"#,
          #"tern_store_duration_seconds_count 1"#,
        ] {
          #expect(text.contains(line + "\n"), "\(line) in \(text)")
        }
      }
    }

    @Test("the status names connections, and closes one of them")
    func connections() async throws {
      try await withGateway { gateway in
        let socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=harbor")
        let status = try json(try gateway.exchange(ask("/-/status", "GET", owner)))
        #expect(status["state"]?.text == "serving")
        guard case .array(let list)? = status["connections"], let first = list.first else {
          Issue.record("no connections: \(status)")
          return
        }
        #expect(list.count == 1)
        #expect(first["database"]?.text == "harbor")
        #expect(first["protocol"]?.text == "websocket")
        let id = try #require(first["id"]?.text)
        let gone = try gateway.exchange(ask("/-/connections/9\(id)", "DELETE", owner))
        #expect(gone.hasPrefix("HTTP/1.1 404"), "\(gone)")
        let closed = try gateway.exchange(ask("/-/connections/\(id)", "DELETE", owner))
        #expect(closed.hasPrefix("HTTP/1.1 200"), "\(closed)")
        #expect(socket.message().contains("an operator has closed"))
        #expect(socket.message().hasPrefix("closed"))
        let ends = await gateway.ends { !$0.isEmpty }
        #expect(ends == [.closedByOperator])
      }
    }

    @Test("databases are listed with their sizes, and deleted with their rules")
    func databases() async throws {
      try await withGateway { gateway in
        _ = try gateway.exchange(ask("/a.json?ns=harbor", "PUT", body: #"{"b":1,"c":2}"#))
        _ = try gateway.exchange(ask("/a.json?ns=other", "PUT", body: "1"))
        let listed = try json(try gateway.exchange(ask("/-/databases", "GET", owner)))
        guard case .array(let list)? = listed["databases"] else {
          Issue.record("no databases: \(listed)")
          return
        }
        #expect(list.compactMap { $0["name"]?.text } == ["harbor", "other"])
        #expect(list.first?["isWhole"] == .bool(true))
        #expect((list.first?["rows"]?.integer ?? 0) > 0)
        let refused = try gateway.exchange(ask("/-/databases/harbor", "DELETE"))
        #expect(refused.hasPrefix("HTTP/1.1 401"), "\(refused)")
        let deleted = try gateway.exchange(ask("/-/databases/harbor", "DELETE", owner))
        #expect(deleted.hasPrefix("HTTP/1.1 200"), "\(deleted)")
        #expect(try gateway.exchange(ask("/a.json?ns=harbor")).hasSuffix("null"))
        #expect(try gateway.exchange(ask("/a.json?ns=other")).hasSuffix("1"))
      }
    }

    @Test("a deleted database of documents loses the rules of its own, for good")
    func documentRules() async throws {
      let store = MemoryStore()
      let name = "projects/p/databases/desk"
      let rules = "/-/rules/documents?database=\(name)"
      let open = """
        service cloud.firestore { match /databases/{d}/documents {
          match /{document=**} { allow read, write; } } }
        """
      let document = "/v1/\(name)/documents/c/a"
      let fields = #"{"fields":{"n":{"integerValue":"1"}}}"#
      try await withGateway(documents: AllowAdministrators(), store: store) { gateway in
        #expect(try gateway.exchange(ask(rules, "PUT", owner, body: open)).contains(" 200 "))
        #expect(try gateway.exchange(ask(document, "PATCH", body: fields)).contains(" 200 "))
        let path = "/-/databases/projects%2Fp%2Fdatabases%2Fdesk?model=documents"
        let deleted = try gateway.exchange(ask(path, "DELETE", owner))
        #expect(deleted.hasPrefix("HTTP/1.1 200"), "\(deleted)")
        let gone = try gateway.exchange(ask(document, "GET", owner))
        #expect(gone.hasPrefix("HTTP/1.1 404"), "\(gone)")
        let denied = try gateway.exchange(ask(document, "PATCH", body: fields))
        #expect(denied.hasPrefix("HTTP/1.1 403"), "\(denied)")
      }
      try await withGateway(documents: AllowAdministrators(), store: store) { gateway in
        let denied = try gateway.exchange(ask(document, "PATCH", body: fields))
        #expect(denied.hasPrefix("HTTP/1.1 403"), "\(denied)")
      }
    }

    @Test("rules of a project outlive the databases that they are about")
    func projectRules() async throws {
      let open = """
        service cloud.firestore { match /databases/{d}/documents {
          match /{document=**} { allow read, write; } } }
        """
      try await withGateway(documents: AllowAdministrators()) { gateway in
        let rules = "/-/rules/documents?database=projects/p"
        #expect(try gateway.exchange(ask(rules, "PUT", owner, body: open)).contains(" 200 "))
        let path = "/-/databases/projects%2Fp%2Fdatabases%2Fdesk?model=documents"
        #expect(try gateway.exchange(ask(path, "DELETE", owner)).contains(" 200 "))
        let document = "/v1/projects/p/databases/desk/documents/c/a"
        let written = try gateway.exchange(ask(document, "PATCH", body: #"{"fields":{}}"#))
        #expect(written.hasPrefix("HTTP/1.1 200"), "\(written)")
      }
    }

    @Test("listeners of a deleted tree are judged by the rules that are then in force")
    func listenersOfDeleted() async throws {
      try await withGateway(rules: closed) { gateway in
        let open = #"{"rules": {".read": true, ".write": true}}"#
        let rules = "/.settings/rules.json?ns=harbor"
        #expect(try gateway.exchange(ask(rules, "PUT", owner, body: open)).contains(" 200 "))
        _ = try gateway.exchange(ask("/a.json?ns=harbor", "PUT", body: "1"))
        let socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=harbor")
        socket.ask(1, "q", #"{"p":"/a","h":""}"#)
        let begun = [socket.message(), socket.message()]
        #expect(begun.last?.contains(#""s":"ok""#) == true, "\(begun)")
        #expect(try gateway.exchange(ask("/-/databases/harbor", "DELETE", owner)).contains(" 200 "))
        let told = [socket.message(), socket.message()]
        #expect(told.contains { $0.contains(#""a":"c""#) }, "the listen is ended: \(told)")
      }
    }

    @Test("clients are limited to the databases of a list, of both models")
    func allowed() async throws {
      var limits = ServerLimits()
      limits.databases = ["harbor"]
      try await withGateway(serverLimits: limits) { gateway in
        let refused = try gateway.exchange(ask("/a.json?ns=other"))
        #expect(refused.hasPrefix("HTTP/1.1 400"), "\(refused)")
        #expect(try gateway.exchange(ask("/a.json?ns=harbor")).hasPrefix("HTTP/1.1 200"))
        let socket = try gateway.connect()
        #expect(socket.openWebSocket("/.ws?v=5&ns=other").contains("no database named"))
        let path = "/v1/projects/p/databases/(default)/documents/c/d"
        let document = try gateway.exchange(ask(path, "GET", owner))
        #expect(document.hasPrefix("HTTP/1.1 404"), "\(document)")
        #expect(document.contains("does not exist"), "\(document)")
      }
    }

    @Test("who asks too much is told when to come again")
    func retry() async throws {
      let limits = ServerLimits(rates: RateLimits(requestsPerAddress: 1, burstSeconds: 1))
      try await withGateway(serverLimits: limits) { gateway in
        var answer = ""
        for _ in 0..<20 where !answer.hasPrefix("HTTP/1.1 429") {
          answer = try gateway.exchange(ask("/a.json"))
        }
        #expect(answer.hasPrefix("HTTP/1.1 429"), "\(answer)")
        #expect(answer.contains("Retry-After: 1\r\n"), "\(answer)")
      }
    }

    @Test("events are not kept back by proxies")
    func events() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        peer.send(ask("/a.json", "GET", "Accept: text/event-stream\r\n"))
        #expect(peer.read(through: "event: put").contains("X-Accel-Buffering: no"))
      }
    }

    @Test("the admin listener serves figures without a token, and no data")
    func listener() async throws {
      try await withGateway(rules: closed) { gateway in
        let listener = try await AdminListener.open(
          for: gateway.server, host: "127.0.0.1", port: 0)
        let port = try #require(listener.address.split(separator: ":").last.flatMap { Int($0) })
        func exchange(_ text: String) throws -> String {
          let peer = try Peer(port: port)
          peer.send(text)
          return peer.readToEnd()
        }
        #expect(try exchange(ask("/-/healthz")).hasPrefix("HTTP/1.1 200"))
        #expect(try exchange(ask("/-/metrics")).contains("tern_uptime_seconds"))
        #expect(try exchange(ask("/-/connections/1-1", "DELETE")).hasPrefix("HTTP/1.1 401"))
        #expect(try exchange(ask("/a.json")).hasPrefix("HTTP/1.1 404"))
        await listener.close()
      }
    }

    @Test("the admin listener tells figures to requests that name it, and health to all")
    func listenerNames() async throws {
      try await withGateway(rules: closed) { gateway in
        let listener = try await AdminListener.open(
          for: gateway.server, host: "127.0.0.1", port: 0, names: ["Tern.internal"])
        let port = try #require(listener.address.split(separator: ":").last.flatMap { Int($0) })
        func status(_ target: String, _ host: String, _ more: String = "") throws -> String {
          let peer = try Peer(port: port)
          peer.send(
            "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)\r\n")
          return String(peer.readToEnd().dropFirst("HTTP/1.1 ".count).prefix(3))
        }
        for host in ["127.0.0.1:\(port)", "10.1.2.3", "[fd00::1]:1", "localhost", "tern.internal"] {
          #expect(try status("/-/metrics", host) == "200", "\(host)")
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "tern.internal.evil.example:1"] {
          #expect(try status("/-/metrics", host) == "401", "\(host)")
          #expect(try status("/-/status", host) == "401", "\(host)")
          #expect(try status("/-/healthz", host) == "200", "\(host)")
        }
        await listener.close()
      }
    }

    @Test("a server that is about to stop says so, answers what has come, and ends its sessions")
    func draining() async throws {
      try await withGateway { gateway in
        let socket = try gateway.connect()
        _ = socket.openWebSocket("/.ws?v=5&ns=default")
        let kept = try gateway.connect()
        kept.send("GET /-/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = kept.read(through: "ok\n")
        socket.ask(1, "p", #"{"p":"/a","d":1}"#)
        #expect(socket.message().contains(#""s":"ok""#))
        await ServerOperations(of: gateway.server).drain(within: .seconds(30))
        #expect(socket.message().contains("connect again"))
        kept.send("GET /-/readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let answer = kept.readToEnd()
        #expect(answer.contains("HTTP/1.1 503") && answer.hasSuffix("draining\n"), "\(answer)")
        // A program that another test starts may hold the closed socket for a moment.
        let end = ContinuousClock.now + .seconds(60)
        while (try? gateway.connect()) != nil, ContinuousClock.now < end { await Task.yield() }
        #expect(throws: (any Error).self) { try gateway.connect() }
      }
    }
  }
#endif
