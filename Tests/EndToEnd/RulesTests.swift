import Foundation
import Testing

@testable import tern

@Suite("rules") struct RulesTests {
  private let rules = #"{"rules": {"open": {".read": true, ".write": true}}}"#

  @Test("W41 the shipped example keeps a user from starring twice")
  func shippedExample() async throws {
    let examples = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Docs/Examples").standardizedFileURL.path
    let tested = try await run(
      ["rules", "test", examples + "/stars.rules.json", examples + "/stars.cases.json"])
    #expect(tested.code == 0, "\(tested)")
    #expect(tested.output.last == "7 passed, 0 failed", "\(tested)")
  }

  @Test("a case that fails is shown with what the rules said")
  func failingCase() async throws {
    try await withFolder { folder in
      let file = try write(rules, to: folder + "/rules.json")
      let cases = try write(#"[{"read": "shut", "allow": true}]"#, to: folder + "/cases.json")
      let tested = try await run(["rules", "test", file, cases])
      #expect(tested.code == 1)
      #expect(tested.output.contains { $0.contains("no .read rule grants it") }, "\(tested)")
      let explained = try await run(["rules", "explain", file, cases])
      #expect(explained.code == 4)
    }
  }

  @Test("a case asks with a query, as a client does; an invalid query is reported")
  func queries() async throws {
    try await withFolder { folder in
      let file = try write(
        #"{"rules": {"list": {".read": "query.limitToLast <= 5"}}}"#, to: folder + "/rules.json")
      let cases = try write(
        #"""
        [{"read": "list", "query": {"limitToLast": 5, "orderBy": "$key"}, "allow": true},
         {"read": "list", "query": {"limitToLast": 6}, "allow": false},
         {"read": "list", "allow": false}]
        """#, to: folder + "/cases.json")
      let tested = try await run(["rules", "test", file, cases])
      #expect(tested.code == 0, "\(tested)")
      #expect(tested.output.last == "3 passed, 0 failed", "\(tested)")
      for (query, reason) in [
        (#"{"limitToLast": 5, "limitToFirst": 5}"#, "a query has one limit"),
        (#"{"orderBy": "a/../b."}"#, "orderBy: "),
        (#"{"limit": 5}"#, #""limit" of 5; known are orderBy"#),
        ("[]", #""query" is no object"#),
      ] {
        let cases = try write(
          #"{"read": "list", "query": \#(query), "allow": true}"#, to: folder + "/bad.json")
        let refused = try await run(["rules", "test", file, cases])
        #expect(refused.code == 2 && refused.errors.contains(reason), "\(refused)")
      }
    }
  }

  @Test("a rules file with a mistake is refused, with its line and column")
  func mistake() async throws {
    try await withFolder { folder in
      let file = try write(
        #"{"rules": {".read": "auth.uid ==="}}"#, to: folder + "/rules.json")
      for command in [["rules", "check", file], ["serve", "--rules", file, "--port", "0"]] {
        let refused = try await run(command, folder: folder)
        #expect(refused.code == 2)
        #expect(refused.errors.contains("rules.json:1:"), "\(refused)")
      }
    }
  }

  @Test("a server with rules allows what they grant and nothing else")
  func served() async throws {
    try await withFolder { folder in
      let file = try write(rules, to: folder + "/rules.json")
      let server = try await ServerUnderTest(
        folder: folder + "/data", arguments: ["--rules", file])
      #expect(try await server.tern("set", "open/a", "1").code == 0)
      #expect(try await server.tern("set", "shut/a", "1").code == 4)
      #expect(try await server.tern("get", "shut").code == 4)
      let update = try await server.tern("update", "/", #"{"open/b": 1, "shut/b": 1}"#)
      #expect(update.code == 4)
      #expect(try await server.tern("get", "open", "--json").output.last?.contains("b") == false)
      #expect(await server.stop() == 0)
    }
  }

  @Test("a server without rules, and not for development, allows nothing")
  func closed() async throws {
    try await withFolder { folder in
      let process = try ChildProcess(
        ternBinary, ["serve", "--path", folder + "/data", "--port", "0"], folder: folder)
      defer { process.killNow() }
      let line = await process.output.line(within: patience) { $0.hasPrefix("listening on ") }
      let address = String(try #require(line).dropFirst("listening on ".count))
      #expect(process.output.history.contains { $0.hasPrefix("access: nothing is allowed") })
      // No hint leads to a command that will be rejected.
      #expect(!process.output.history.contains { $0.contains("tern push") })
      #expect(try await run(["set", "a", "1", "--server", address]).code == 4)
      #expect(try await run(["get", "a", "--server", address]).code == 4)
    }
  }

  @Test("what rules given over the wire refuse is explained to the operator, after a restart too")
  func explained() async throws {
    try await withFolder { folder in
      var server = try await ServerUnderTest(folder: folder)
      #expect(server.process.output.history.contains { $0.contains("tern push") })
      let request = [
        "PUT /.settings/rules.json HTTP/1.1", "Host: localhost", "Connection: close",
        "Authorization: Bearer owner", "Content-Length: \(rules.utf8.count)", "", rules,
      ]
      try sendBytes(
        Array(request.joined(separator: "\r\n").utf8),
        toPort: try #require(UInt16(server.port)), endingOutput: false)
      for run in ["first", "second"] {
        let refused = try await server.tern("set", "shut/\(run)", "1")
        #expect(refused.code == 4, "\(refused)")
        let id = try #require(refused.errors.firstMatch(of: /\[([0-9a-f]{16})\]/)?.output.1)
        let line = await server.process.errors.line(within: patience) { $0.contains(id) }
        #expect(line?.contains("denied at /shut/\(run): no .write rule grants it") == true)
        #expect(await server.stop() == 0)
        if run == "first" { server = try await ServerUnderTest(folder: folder) }
      }
    }
  }

  @Test("rules follow their file; one with an error is reported, and changes nothing")
  func reload() async throws {
    try await withFolder { folder in
      let file = try write(rules, to: folder + "/database.rules.json")
      let process = try ChildProcess(
        ternBinary, ["serve", "--path", folder + "/data", "--port", "0"], folder: folder)
      defer { process.killNow() }
      let line = await process.output.line(within: patience) { $0.hasPrefix("listening on ") }
      let address = String(try #require(line).dropFirst("listening on ".count))
      func told(_ text: String) async throws {
        let line = await process.errors.line(within: patience) { $0.contains(text) }
        try #require(line != nil, "\(process.errors.history)")
      }
      #expect(try await run(["set", "open/a", "1", "--server", address]).code == 0)
      let watching = try ChildProcess(ternBinary, ["watch", "open", "--server", address])
      defer { watching.killNow() }
      #expect(await watching.output.line(within: patience) { $0.contains("a") } != nil)

      _ = try write(#"{"rules": {"open": {".read": "auth.uid ==="}}}"#, to: file)
      try await told("database.rules.json:1:")
      try await told("the rules before stay in force")
      #expect(try await run(["set", "open/b", "1", "--server", address]).code == 0)

      try Data(#"{"rules": {"shut": {".read": true}}}"#.utf8)
        .write(to: URL(filePath: file), options: .atomic)
      try await told("its rules are in force")
      #expect(await watching.exitCode(within: patience) == 4, "it may not listen any more")
      #expect(try await run(["set", "open/c", "1", "--server", address]).code == 4)
      #expect(try await run(["get", "shut", "--server", address]).code == 5)
    }
  }

  private func write(_ text: String, to path: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test("a server that has moved sends clients on, and says so; one that is closed says why")
  func farewell() async throws {
    try await withServer(["--dev", "--moved-to", "db2.example.com:9000"]) { server, _ in
      #expect(
        server.process.output.history.contains(
          "no client is served: the databases are at db2.example.com:9000"))
      let port = try #require(UInt16(server.port))
      let request = "GET /a.json?ns=x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let answer = String(
        decoding: try sendBytes(Array(request.utf8), toPort: port, endingOutput: false),
        as: UTF8.self)
      #expect(answer.contains("Location: //db2.example.com:9000/a.json?ns=x\r\n"), "\(answer)")
    }
    let both = try await run(["serve", "--moved-to", "a", "--closed", "b"])
    #expect(both.code != 0 && both.errors.contains("not both"))
    let bad = try await run(["serve", "--moved-to", "a b"])
    #expect(bad.code != 0 && bad.errors.contains("needs a host"))
  }
}
