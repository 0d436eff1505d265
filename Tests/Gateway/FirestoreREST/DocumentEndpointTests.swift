#if TCP && canImport(Glibc)
  import TernCore
  import TernQuery
  import Testing

  @testable import TernGateway

  @Suite("The documents' REST service on a connection")
  struct DocumentEndpointTests {
    private static let origin = "Origin: http://app.example\r\n"

    @Test("pages of other origins may read every answer, errors too")
    func crossOrigin() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        for (method, path, body) in [
          ("GET", "/c/none", ""), ("POST", ":commit", "{}"), ("POST", ":commit", "{nope"),
          ("POST", ":runQuery", "{}"), ("PUT", "/c/a", ""), ("GET", "/c/a?nothing=1", ""),
        ] {
          let answer = try client.send(method, path, body, headers: Self.origin)
          #expect(answer.field("Access-Control-Allow-Origin") == "http://app.example")
          #expect(answer.field("Access-Control-Allow-Credentials") == "true")
          #expect(answer.field("Vary") == "Origin")
          #expect(
            answer.field("Access-Control-Expose-Headers")?.contains("x-http-session-id") == true)
        }
        let preflight = try client.send(
          "OPTIONS", "/c/a",
          headers: Self.origin + "Access-Control-Request-Method: PATCH\r\n"
            + "Access-Control-Request-Headers: authorization,x-goog-api-client\r\n")
        #expect(preflight.status == 204)
        #expect(preflight.field("Access-Control-Allow-Methods")?.contains("PATCH") == true)
        #expect(
          preflight.field("Access-Control-Allow-Headers") == "authorization,x-goog-api-client")
        #expect(preflight.field("Access-Control-Max-Age") == "3600")
      }
    }

    @Test("bodies are JSON whatever their type, and answers say what they are")
    func types() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        for type in ["text/plain", "application/json", "application/x-www-form-urlencoded", "x/y"] {
          let answer = try client.send(
            "PATCH", "/c/a", #"{"fields":{}}"#, headers: "Content-Type: \(type)\r\n")
          #expect(answer.status == 200)
          #expect(answer.field("Content-Type") == "application/json; charset=UTF-8")
        }
        let head = try client.send("HEAD", "/c/a")
        #expect(head.status == 200)
        #expect(head.field("Content-Length").flatMap(Int.init) ?? 0 > 20)
        for coding in ["gzip", "br"] {
          let coded = try client.send(
            "PATCH", "/c/a", "{}", headers: "Content-Encoding: \(coding)\r\n")
          #expect(coded.status == 400)
        }
        let missing = try client.send("GET", "/v1/projects/p/databases/d/nothing")
        #expect(missing.body == "Not Found")
      }
    }

    @Test(
      "bodies may be compressed, up to the limit of plain ones", arguments: MessageCoding.allCases)
    func compressed(_ coding: MessageCoding) async throws {
      try await withGateway { gateway in
        func send(_ body: [UInt8]) throws -> String {
          let peer = try gateway.connect()
          peer.send(
            "PATCH /v1/\(DocumentClient.root)/c/a HTTP/1.1\r\nHost: localhost\r\n"
              + "Authorization: Bearer owner\r\nConnection: close\r\n"
              + "Content-Encoding: \(coding.rawValue)\r\nContent-Length: \(body.count)\r\n\r\n")
          peer.send(body)
          return peer.readToEnd()
        }
        let text = String(repeating: "x", count: 100_000)
        let body = Array(#"{"fields":{"text":{"stringValue":"\#(text)"}}}"#.utf8)
        let small = try #require(coding.compress(body))
        #expect(small.count < 10_000)
        #expect(try send(small).contains("200 OK"))
        #expect(try send(small.dropLast()).contains("The body does not decompress."))
        let bomb = Array(repeating: UInt8(ascii: " "), count: DocumentRESTError.bodyBytes + 1)
        #expect(
          try send(try #require(coding.compress(bomb))).contains("Request payload size exceeds"))
        let client = try DocumentClient(gateway)
        #expect(try client.send("GET", "/c/a").body.contains(text))
      }
    }

    @Test("queries that need an index are rejected with it, where indexes are asked for")
    func requiredIndexes() async throws {
      let declared = #"""
        {"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]}]}
        """#
      let catalogs = DocumentIndexCatalogs(
        common: try DocumentIndexCatalog(Array(declared.utf8)),
        byDatabase: ["other": DocumentIndexCatalog()])
      try await withGateway(indexes: catalogs) { gateway in
        let client = try DocumentClient(gateway)
        func query(_ direction: String, in database: String = "(default)") throws
          -> DocumentClient.Answer
        {
          try client.send(
            "POST", "/v1/projects/p/databases/\(database)/documents:runQuery",
            #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":"#
              + #"{"fieldPath":"a"},"op":"EQUAL","value":{"integerValue":"1"}}},"orderBy":[{"field":"#
              + #"{"fieldPath":"b"},"direction":"\#(direction)"}]}}"#)
        }
        #expect(try query("DESCENDING").status == 200)
        let missing = try query("ASCENDING")
        #expect(missing.status == 400)
        #expect(missing.body.contains(#""status":"FAILED_PRECONDITION""#))
        #expect(missing.body.contains("The query requires an index."))
        #expect(missing.body.contains(#"\"fieldPath\":\"b\",\"order\":\"ASCENDING\""#))
        #expect(try query("DESCENDING", in: "other").status == 400)
        let listed = try client.send("GET", "/c?orderBy=a,b")
        #expect(listed.status == 400)
        // A listener is told the target, and then why it ends.
        let page = try ChannelPeer(
          port: gateway.port,
          [
            ChannelPeer.add(2).replacing(
              #""orderBy":[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}]"#,
              with: #""orderBy":[{"field":{"fieldPath":"__name__"},"direction":"DESCENDING"}]"#)
          ])
        let told = try page.hear(through: "REMOVE")
        #expect(brief(told) == ["ADD", "REMOVE"])
        #expect(told.last?.contains(#""code":9"#) == true, "\(told)")
      }
    }

    @Test("another method may stand in a header")
    func override() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        let header = { (method: String) in "X-HTTP-Method-Override: \(method)\r\n" }
        let body = #"{"fields":{"a":{"integerValue":"1"}}}"#
        #expect(try client.send("POST", "/c/a", body, headers: header("PATCH")).status == 200)
        let read = try client.send(
          "POST", "/c/a", "mask.fieldPaths=none",
          headers: header("GET") + "Content-Type: application/x-www-form-urlencoded\r\n")
        #expect(read.status == 200)
        #expect(!read.body.contains("fields"))
        #expect(try client.send("POST", "/c/a", headers: header("DELETE")).status == 200)
        #expect(try client.send("GET", "/c/a").status == 404)
      }
    }

    @Test("a transaction reads, and commits once")
    func transaction() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        func text(_ answer: DocumentClient.Answer, _ name: String) throws -> String {
          try #require(try JSONValue(parsing: answer.body)[name]?.text, "\(answer.body)")
        }
        let id = try text(try client.send("POST", ":beginTransaction", "{}"), "transaction")
        let coded = id.replacing("+", with: "%2B").replacing("=", with: "%3D")
        #expect(try client.send("GET", "/c/t?transaction=\(coded)").status == 404)
        let commit =
          #"{"writes":[{"update":{"name":"{root}/c/t","fields":{}}}],"transaction":"\#(id)"}"#
        #expect(try client.send("POST", ":commit", commit).status == 200)
        #expect([400, 409].contains(try client.send("POST", ":commit", commit).status))
        let other = try text(try client.send("POST", ":beginTransaction", "{}"), "transaction")
        #expect(
          try client.send("POST", ":rollback", #"{"transaction":"\#(other)"}"#).body == "{}")
      }
    }

    @Test("a long answer comes piece by piece, as fast as it is read")
    func backPressure() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        let text = String(repeating: "x", count: 100_000)
        for number in 0..<60 {
          let body = #"{"fields":{"t":{"stringValue":"\#(text)"}}}"#
          #expect(try client.send("PATCH", "/big/\(number)", body).status == 200)
        }
        let query = #"{"structuredQuery":{"from":[{"collectionId":"big"}]}}"#
        let slow = try gateway.connectNarrow()
        slow.send(
          "POST /v1/\(DocumentClient.root):runQuery HTTP/1.1\r\nHost: localhost\r\n"
            + "Connection: close\r\nContent-Length: \(query.utf8.count)\r\n\r\n\(query)")
        #expect(slow.read(through: "\r\n\r\n").lowercased().contains("transfer-encoding: chunked"))
        // Others are served meanwhile.
        #expect(try client.send("GET", "/big/1").status == 200)
        let rest = slow.readToEnd()
        #expect(rest.count > 60 * 100_000)
        #expect(rest.hasSuffix("]\r\n0\r\n\r\n"))
        let answer = try client.send("POST", ":runQuery", query)
        guard case .array(let elements) = try JSONValue(parsing: answer.body) else {
          Issue.record("no array")
          return
        }
        #expect(elements.count == 60)
      }
    }

    @Test("requests in a row are answered in a row")
    func pipelined() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        #expect(try client.send("PATCH", "/c/a", "{}").status == 200)
        let peer = try gateway.connect()
        let request = "GET /v1/\(DocumentClient.root)/c/a HTTP/1.1\r\nHost: localhost\r\n"
        peer.send(
          String(repeating: request + "\r\n", count: 5) + request + "Connection: close\r\n\r\n")
        let answers = peer.readToEnd()
        #expect(Array(answers.utf8).occurrences(of: "HTTP/1.1 200") == 6)
      }
    }
  }
#endif
