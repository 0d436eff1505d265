#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("Hostile requests about documents")
  struct HostileDocumentTests {
    /// Statuses that tell the client what is wrong, or that nothing is there.
    private static let refusals: Set<Int> = [400, 403, 404]

    @Test("every hostile name is answered, and none reaches another document")
    func names() async throws {
      #expect(HostileNames.targets.count >= 500)
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        _ = try client.send("PATCH", "/c/d", #"{"fields":{"kept":{"booleanValue":true}}}"#)
        for target in HostileNames.targets {
          let answer = try client.send("GET", target)
          let isFound = answer.status == 200
          #expect(isFound || Self.refusals.contains(answer.status), "\(target) \(answer.status)")
          #expect(answer.field("x-injected") == nil)
          if isFound, target.hasPrefix("/v1/projects/p/databases/(default)/documents") {
            // Only a list, which is empty, or the document that is there.
            #expect(answer.body == "{}" || answer.body.contains("/c/d\""), "\(target)")
          }
        }
        for name in HostileNames.names {
          let quoted = JSONValue.string(name).json
          let answer = try client.send("POST", ":batchGet", #"{"documents":[\#(quoted)]}"#)
          #expect([200, 400, 403].contains(answer.status), "\(name) \(answer.status)")
          #expect((try? JSONValue(parsing: answer.body)) != nil)
        }
        let kept = try client.send("GET", "/c/d")
        #expect(kept.body.contains(#""kept":{"booleanValue":true}"#))
      }
    }

    @Test("hostile names that are written are read back, or were rejected")
    func written() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        for target in HostileNames.targets where target.contains("/c/") {
          let written = try client.send("PATCH", target, #"{"fields":{}}"#)
          guard written.status == 200 else {
            #expect(Self.refusals.contains(written.status), "\(target) \(written.status)")
            continue
          }
          let name = try #require(try JSONValue(parsing: written.body)["name"]?.text)
          let read = try client.send("GET", target)
          #expect(read.status == 200, "\(target)")
          #expect(try JSONValue(parsing: read.body)["name"]?.text == name)
        }
      }
    }

    @Test(
      "bodies that are no message are rejected with the rule",
      arguments: [
        "{", "}", "[", "\"", "nul", "{\"writes\":", "{\"writes\":[}", "{'writes':[]}",
        "{writes:[]}", "{\"writes\":[],}", "{\"writes\":[]}{}", "\u{FEFF}{}", "{\"\":1}",
        "{\"writes\":[{\"delete\":\"\\q\"}]}", "{\"writes\":[{\"delete\":\"\\ud800\"}]}",
        "{\"transaction\":1e999}", "{\"transaction\":\"=\"}", "{\"writes\":[null]}",
        "{\"writes\":[{\"updateMask\":{\"fieldPaths\":\"a\"}}]}",
        "{\"writes\":[{\"updateMask\":{\"fieldPaths\":[null]}}]}",
        "<html></html>", "a=b&c=d", "{\"writes\":[{\"delete\":5}]}",
        "{\"writes\":{\"0\":{}}}", "{\"mark\":{\"stream\":\"AA\",\"sequence\":-1}}",
      ])
    func bodies(body: String) async throws {
      try await withGateway { gateway in
        let answer = try DocumentClient(gateway).send("POST", ":commit", body)
        #expect(answer.status == 400, "\(answer.body)")
        let error = try JSONValue(parsing: answer.body)["error"]
        #expect(error?["status"]?.text == "INVALID_ARGUMENT")
        #expect(error?["message"]?.text?.isEmpty == false)
      }
    }

    @Test("numbers, texts and nesting of any size end in an answer")
    func sizes() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        func write(_ value: String) throws -> Int {
          try client.send("PATCH", "/c/d", #"{"fields":{"v":\#(value)}}"#).status
        }
        let digits = String(repeating: "9", count: 100_000)
        #expect(try write(#"{"integerValue":\#(digits)}"#) == 400)
        #expect(try write(#"{"integerValue":"\#(digits)"}"#) == 400)
        #expect(try write(#"{"doubleValue":\#(digits)}"#) == 400)
        for depth in [21, 200, 20_000] {
          let open = String(repeating: #"{"mapValue":{"fields":{"a":"#, count: depth)
          let value = open + #"{"nullValue":null}"# + String(repeating: "}}}", count: depth)
          #expect(try write(value) == 400, "\(depth)")
          #expect(try write(String(repeating: "[", count: depth)) == 400)
        }
        let text = String(repeating: "x", count: 1_100_000)
        #expect(try write(#"{"stringValue":"\#(text)"}"#) == 400)
      }
    }

    @Test("a body above the limit is rejected by its length, before it is sent")
    func tooLarge() async throws {
      try await withGateway { gateway in
        let length = DocumentRESTError.bodyBytes + 1
        let answer = try gateway.exchange(
          "POST /v1/\(DocumentClient.root):commit HTTP/1.1\r\nHost: localhost\r\n"
            + "Origin: http://a.example\r\nContent-Length: \(length)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400"))
        #expect(answer.contains("Request payload size exceeds the limit"))
        #expect(answer.contains("Access-Control-Allow-Origin: http://a.example"))
      }
    }

    @Test("a body whose messages take more memory than the client may hold is rejected unread")
    func tooHeavy() async throws {
      var limits = ServerLimits()
      limits.memoryBytes = 64 << 20
      try await withGateway(serverLimits: limits) { gateway in
        let client = try DocumentClient(gateway)
        let writes = String(repeating: "{},", count: 300_000) + "{}"
        let answer = try client.send("POST", ":commit", #"{"writes":[\#(writes)]}"#)
        #expect([429, 503].contains(answer.status), "\(answer.body)")
        #expect(try client.send("GET", "/c/d").status == 404)
      }
    }
  }
#endif
