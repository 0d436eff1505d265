#if TCP && canImport(Glibc)
  import Testing

  @testable import TernGateway

  @Suite("What is said about databases and requests") struct SettingsTests {
    private func send(
      _ gateway: GatewayUnderTest, _ method: String, _ target: String, _ body: String = "",
      _ headers: String = ""
    ) throws -> String {
      try gateway.exchange(
        "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test("settings are read and made by administrators, one database at a time")
    func settings() async throws {
      try await withGateway { gateway in
        let size = "/.settings/defaultWriteSizeLimit.json"
        let owner = "?access_token=owner"
        let stranger = try send(gateway, "GET", size)
        #expect(stranger.hasPrefix("HTTP/1.1 401"))
        #expect(try send(gateway, "GET", size + owner).hasSuffix("\r\n\"unlimited\""))
        #expect(try send(gateway, "PUT", size + owner, #""small""#).hasSuffix("\r\n\"small\""))
        #expect(try send(gateway, "GET", size + owner).hasSuffix("\r\n\"small\""))
        #expect(try send(gateway, "GET", size + owner + "&ns=b").hasSuffix("\r\n\"unlimited\""))
        for bad in [#""tiny""#, #""vast""#, "1", "{"] {
          #expect(try send(gateway, "PUT", size + owner, bad).hasPrefix("HTTP/1.1 400"), "\(bad)")
        }
        let strict = "/.settings/strictTriggerValidation.json"
        #expect(try send(gateway, "GET", strict + owner).hasSuffix("\r\nfalse"))
        #expect(try send(gateway, "PUT", strict + owner, "true").hasSuffix("\r\ntrue"))
        #expect(try send(gateway, "GET", size + owner).hasSuffix("\r\n\"small\""))
        #expect(try send(gateway, "DELETE", strict + owner).hasPrefix("HTTP/1.1 405"))
        #expect(try send(gateway, "GET", "/.settings/dice.json" + owner).hasPrefix("HTTP/1.1 404"))
      }
    }

    @Test("a write that changes more than it says is refused, what it removes counted in")
    func sizeLimit() async throws {
      try await withGateway { gateway in
        let half = String(repeating: "x", count: 6 << 20)
        for name in ["a", "b"] {
          let written = try send(gateway, "PUT", "/d/\(name).json?print=silent", "\"\(half)\"")
          #expect(written.hasPrefix("HTTP/1.1 204"))
        }
        let tiny = "print=silent&writeSizeLimit=tiny"
        let refused = try send(gateway, "PATCH", "/d.json?" + tiny, "null")
        #expect(refused.hasPrefix("HTTP/1.1 400"))
        let text =
          "Data to write exceeds the maximum size that can be modified with a single request."
        #expect(refused.hasSuffix(#"{"error":"\#(text)"}"#), "\(refused)")
        let shallow = try send(gateway, "GET", "/d.json?shallow=true")
        #expect(shallow.hasSuffix(#"{"a":true,"b":true}"#))
        // As the command line tool goes on: child by child.
        for name in ["a", "b"] {
          let removed = try send(gateway, "PATCH", "/d/\(name).json?" + tiny, "null")
          #expect(removed.hasPrefix("HTTP/1.1 204"))
        }
        #expect(try send(gateway, "GET", "/d.json").hasSuffix("\r\nnull"))
      }
    }

    @Test("a read that takes longer than it may is answered with that")
    func timeout() async throws {
      try await withGateway { gateway in
        let members = (0..<20_000).map { "\"k\($0)\":{\"n\":\($0)}" }.joined(separator: ",")
        #expect(
          try send(gateway, "PUT", "/m.json?print=silent", "{\(members)}").hasPrefix("HTTP/1.1 204")
        )
        let query = "/m.json?orderBy=%22n%22&limitToLast=1"
        let late = try send(gateway, "GET", query + "&timeout=1ms")
        #expect(late.hasPrefix("HTTP/1.1 400"))
        #expect(late.contains("The read took longer than its timeout of 1 ms."), "\(late)")
        #expect(try send(gateway, "GET", query + "&timeout=15min").hasPrefix("HTTP/1.1 200"))
      }
    }

    @Test("a file that is sent as a form is written where it is sent to")
    func upload() async throws {
      try await withGateway { gateway in
        func upload(_ target: String, _ body: String, _ type: String) throws -> String {
          try send(gateway, "POST", target, body, "Content-Type: \(type)\r\n")
        }
        let type = "multipart/form-data; boundary=----WebKitFormBoundaryX"
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n"
        func form(_ content: String) -> String {
          "------WebKitFormBoundaryX\r\n\(head)Content-Type: application/json\r\n\r\n"
            + content + "\r\n------WebKitFormBoundaryX--\r\n"
        }
        let json = #"{"a":{".value":1,".priority":2},"text":"--\r\n"}"#
        let target = "/in/.upload?access_token=owner&writeSizeLimit=unlimited&disableTriggers=true"
        #expect(try upload(target, form(json), type).hasPrefix("HTTP/1.1 200"))
        let read = try send(gateway, "GET", "/in.json?format=export")
        #expect(read.hasSuffix(json), "\(read)")
        #expect(try upload("/.upload", form(#"{"b":1}"#), type).hasPrefix("HTTP/1.1 200"))
        #expect(try send(gateway, "GET", "/.json").hasSuffix(#"{"b":1}"#))
        for (body, type) in [
          (form("{"), type), (form(""), type), (json, "application/json"), (json, type),
          (form(json), "multipart/form-data"), ("------WebKitFormBoundaryX\r\n\r\n1", type),
        ] {
          #expect(try upload("/in/.upload", body, type).hasPrefix("HTTP/1.1 400"), "\(body)")
        }
        #expect(try send(gateway, "GET", "/in/.upload").hasPrefix("HTTP/1.1 405"))
        #expect(try send(gateway, "GET", "/.json").hasSuffix(#"{"b":1}"#), "nothing was written")
      }
    }
  }
#endif
