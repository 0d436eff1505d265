#if TCP && canImport(Glibc)
  import TernCore
  import TernSecurity
  import TernTokens
  import Testing

  @testable import TernGateway

  @Suite("An emulator's requests on a development server")
  struct EmulatorTests {
    private static let erase = "/emulator/v1/projects/p/databases/(default)/documents"

    @Test("the services are listed, and triggers are switched")
    func services() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let answer = try gateway.exchange(
          "GET /emulators HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let body = try #require(answer.split(separator: "\r\n\r\n").last)
        let services = try JSONValue(parsing: String(body))
        #expect(services["firestore"]?["port"]?.integer == Int64(gateway.port))
        #expect(services["firestore"]?["host"]?.text == "127.0.0.1")
        #expect(services["database"]?["port"]?.integer == Int64(gateway.port))
        for (verb, isEnabled) in [("disable", false), ("enable", true)] {
          let answer = try gateway.exchange(
            "PUT /functions/\(verb)BackgroundTriggers HTTP/1.1\r\nHost: localhost\r\n"
              + "Connection: close\r\n\r\n")
          #expect(answer.hasSuffix(#"{"enabled":\#(isEnabled)}"#))
        }
      }
    }

    @Test("pages of a public network may ask a development server, and no other")
    func privateNetwork() async throws {
      for isDevelopment in [true, false] {
        try await withGateway(isDevelopment: isDevelopment) { gateway in
          let answer = try DocumentClient(gateway).send(
            "OPTIONS", "/c/a",
            headers: "Origin: http://app.example\r\nAccess-Control-Request-Method: GET\r\n"
              + "Access-Control-Request-Private-Network: true\r\n")
          let field = answer.field("Access-Control-Allow-Private-Network")
          #expect(field == (isDevelopment ? "true" : nil))
        }
      }
    }

    @Test("other requests of an emulator are not found, and all are on a server for others")
    func others() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let client = try DocumentClient(gateway)
        for (method, path) in [
          ("GET", Self.erase), ("GET", "/emulator/v1/projects/p:nothing"),
          ("DELETE", "/emulator/v1/projects/p"), ("POST", Self.erase),
        ] {
          let answer = try client.send(method, path)
          #expect(answer.status == 404, "\(method) \(path)")
          #expect(answer.body == "Not Found")
        }
        let proxied = try client.send("DELETE", Self.erase, headers: "Via: 1.1 proxy\r\n")
        #expect(proxied.status == 403)
      }
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        #expect(try client.send("PATCH", "/c/a", "{}").status == 200)
        #expect(try client.send("DELETE", Self.erase).status == 404)
        #expect(try client.send("GET", "/c/a").status == 200)
      }
    }

    /// Documents to erase; ids of numbers sort before all others.
    private static let paths = [
      "/c/a", "/c/b", "/c/__id-5__", "/c/__id7__/sub/x", "/c/a/sub/x", "/missing/y/sub/z",
      "/other/o",
    ]

    private func fill(_ client: DocumentClient) throws {
      for path in Self.paths {
        #expect(try client.send("PATCH", path, "{}").status == 200)
      }
    }

    private func status(_ client: DocumentClient, _ path: String) throws -> Int {
      try client.send("GET", path).status
    }

    @Test("a database is erased, whatever its documents lie in")
    func eraseAll() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let client = try DocumentClient(gateway)
        try fill(client)
        let answer = try client.send("DELETE", Self.erase)
        #expect(answer.status == 200)
        #expect(answer.body == "{}")
        for path in Self.paths {
          #expect(try status(client, path) == 404, "\(path)")
        }
        let unknown = "/emulator/v1/projects/p/databases/nope/documents"
        #expect(try client.send("DELETE", unknown).status == 200)
      }
    }

    @Test("a document or collection is erased with what lies below, and nothing else")
    func erasePart() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let client = try DocumentClient(gateway)
        try fill(client)
        #expect(try client.send("DELETE", Self.erase + "/c/a").status == 200)
        #expect(try status(client, "/c/a") == 404)
        #expect(try status(client, "/c/a/sub/x") == 404)
        #expect(try status(client, "/c/b") == 200)
        #expect(try client.send("DELETE", Self.erase + "/c").status == 200)
        for path in ["/c/b", "/c/__id-5__", "/c/__id7__/sub/x"] {
          #expect(try status(client, path) == 404, "\(path)")
        }
        #expect(try status(client, "/missing/y/sub/z") == 200)
        #expect(try status(client, "/other/o") == 200)
      }
    }

    @Test("names that Unicode takes for equivalent are erased apart")
    func eraseEquivalent() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let client = try DocumentClient(gateway)
        // Both spellings of é; the composed one sorts behind the other.
        let (decomposed, composed) = ("/c/e%CC%81", "/c/%C3%A9")
        for path in [decomposed, decomposed + "/sub/x", composed, composed + "/sub/x"] {
          #expect(try client.send("PATCH", path, "{}").status == 200)
        }
        #expect(try client.send("DELETE", Self.erase + decomposed).status == 200)
        #expect(try status(client, decomposed) == 404)
        #expect(try status(client, decomposed + "/sub/x") == 404)
        #expect(try status(client, composed) == 200)
        #expect(try status(client, composed + "/sub/x") == 200)
      }
    }

    @Test("more documents are erased than one round finds")
    func eraseMany() async throws {
      try await withGateway(isDevelopment: true) { gateway in
        let client = try DocumentClient(gateway)
        for batch in 0..<3 {
          let writes = (0..<500).map { number in
            #"{"update":{"name":"{root}/many/\#(batch)-\#(number)"}}"#
          }
          let body = #"{"writes":[\#(writes.joined(separator: ","))]}"#
          #expect(try client.send("POST", ":commit", body).status == 200)
        }
        #expect(try client.send("DELETE", Self.erase).status == 200)
        #expect(try client.send("GET", "/many").body == "{}")
      }
    }

    @Test("the results of rules' expressions are counted, as JSON and as a page")
    func coverage() async throws {
      let authorizer = ExplainingDocumentAuthorizer(AllowLocal(), showsReasons: true)
      try await withGateway(
        documents: authorizer, authenticator: OwnerAuthenticator(others: MockUserAuthenticator()),
        isDevelopment: true
      ) { gateway in
        let client = try DocumentClient(gateway)
        let path = "/emulator/v1/projects/p:ruleCoverage"
        let none = try client.send("GET", path)
        #expect(none.status == 200)
        #expect(none.body == #"{"report":[],"rules":{"files":[]}}"# || none.body.contains("[]"))
        let source = """
          rules_version = '2';
          service cloud.firestore { match /databases/{d}/documents {
            match /c/{id} { allow get: if id == 'a' && resource.data.n > 1; }
          } }
          """
        let rules = JSONValue.object([
          .init(
            "rules",
            .object([.init("files", .array([.object([.init("content", .string(source))])]))]))
        ])
        let put = try client.send("PUT", "/emulator/v1/projects/p:securityRules", rules.json)
        #expect(put.status == 200, "\(put.body)")
        #expect(
          try client.send("PATCH", "/c/a", #"{"fields":{"n":{"integerValue":"2"}}}"#).status == 200)
        // Without a credential: the rules decide, and tell why they deny.
        func read(_ id: String) throws -> String {
          try gateway.exchange(
            "GET /v1/\(DocumentClient.root)/c/\(id) HTTP/1.1\r\nHost: localhost\r\n"
              + "Connection: close\r\n\r\n")
        }
        #expect(try read("a").contains("200 OK"))
        #expect(try read("a").contains("200 OK"))
        #expect(try read("b").contains("false for 'get' @ L3"))
        let report = try JSONValue(parsing: try client.send("GET", path).body)
        #expect(report["rules"]?["files"]?[0]?["content"]?.text == source)
        let root = try #require(report["report"]?[0])
        #expect(root["sourcePosition"]?["line"]?.integer == 3)
        let counts = Set((0..<2).map { root["values"]?[$0]?.json ?? "" })
        #expect(
          counts == [
            #"{"value":{"boolValue":true},"count":2}"#, #"{"value":{"boolValue":false},"count":1}"#,
          ])
        let operands = root["children"]
        #expect(
          operands?[0]?["children"]?[0]?["values"]?[0]?["value"]?.json == #"{"stringValue":"a"}"#)
        let page = try client.send("GET", path + ".html")
        #expect(page.field("Content-Type") == "text/html; charset=utf-8")
        #expect(page.body.contains("true × 2, false × 1"))
        #expect(page.body.contains("allow get: if id == 'a' &amp;&amp; resource.data.n &gt; 1;"))
        let proxied = try client.send("GET", path, headers: "Via: 1.1 proxy\r\n")
        #expect(proxied.status == 403)
      }
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        #expect(try client.send("GET", "/emulator/v1/projects/p:ruleCoverage").status == 404)
      }
    }
  }

  extension JSONValue {
    /// An element of a list.
    fileprivate subscript(index: Int) -> JSONValue? {
      guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
      return elements[index]
    }
  }
#endif
