import Foundation
import TernCore
import Testing

@testable import tern

@Suite("small commands") struct VerbTests {
  @Test("the manual page is ASCII, and roff reads every text as it is")
  func manual() async throws {
    let escaped = #"\&.a\-b\en \[u201C]\[u2026]\[u201D] \[u1F600]"#
    #expect(ManualPage.escaped(#".a-b\n “…” 😀"#) == escaped)
    let page = try await run(["manual"]).output.joined(separator: "\n")
    #expect(page.utf8.allSatisfy { $0 < 0x80 })
    #expect(page.contains(".SS tern serve"))
  }

  @Test("typos, help for nothing, and lonely options are usage errors")
  func typos() async throws {
    for (words, message) in [
      (["sett", "x", "1", "--server", "h"], "tern: no command 'sett'; did you mean set?"),
      (["help", "nonsuch"], "tern: no command 'nonsuch'; tern has "),
      (["get", "a", "--severl", "h"], "tern: Unknown option '--severl'"),
    ] {
      let refused = try await run(words)
      #expect(refused.code == 2 && refused.errors.hasPrefix(message), "\(refused)")
      #expect(refused.output.isEmpty)
    }
    #expect(try await run(["help", "get"]).code == 0)
  }

  @Test("ping says that a server is up, and the environment names server and token")
  func ping() async throws {
    try await withServer { server, _ in
      let up = try await server.tern("ping")
      #expect(up.output.first?.hasPrefix("\(server.address) is up: connected in ") == true, "\(up)")
      let json = try await server.tern("ping", "--json")
      #expect(json.output.first?.hasPrefix(#"{"server":"\#(server.address)","connectM"#) == true)
      #expect(try await run(["ping", "--server", "127.0.0.1:1"]).code == 3)
      let variable = ["TERN_SERVER": server.address, "TERN_TOKEN": "owner"]
      #expect(try await run(["set", "a", "1"], environment: variable).code == 0)
      #expect(try await run(["get", "a"], environment: variable).output == ["1"])
      let wrong = ["TERN_SERVER": server.address, "TERN_TOKEN": "x.y"]
      let refused = try await run(["get", "a"], environment: wrong)
      #expect(refused.code == 4, "\(refused)")
      let info = try await server.tern("get", ".info/connected")
      #expect(info.output == ["true"], "\(info)")
    }
  }

  @Test("commands choose the database that others have named", arguments: ["flag", "variable"])
  func databases(how: String) async throws {
    try await withServer { server, folder in
      let body = #"{"ship": "Gull"}"#
      let request =
        "PUT /berths/a1.json?ns=harbor HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
      let port = try #require(UInt16(server.port))
      try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
      let flags = ["--server", server.address] + (how == "flag" ? ["--ns", "harbor"] : [])
      let variables = how == "flag" ? [:] : ["TERN_DATABASE": "harbor"]
      func tern(_ words: String...) async throws -> Finished {
        try await run(words + flags, environment: variables)
      }
      #expect(try await tern("get", "berths/a1/ship").output == [#""Gull""#])
      #expect(try await tern("set", "berths/a2", "1", "--cache", folder + "/c").code == 0)
      let exported = try await tern("export", "/")
      #expect(exported.output.contains(#""berths": {"a1":{"ship":"Gull"},"a2":1}"#), "\(exported)")
      #expect(try await server.tern("get", "berths").code == 5)
      let checked = try await run(["verify", "--cache", folder + "/c"])
      #expect(checked.output.contains { $0.hasPrefix("trees/harbor/queue: ") }, "\(checked)")
    }
  }

  @Test("a database is not replaced by accident")
  func confirmation() async throws {
    try await withServer { server, folder in
      _ = try await server.tern("set", "a", "1")
      try Data(#"{"b": 2}"#.utf8).write(to: URL(filePath: folder + "/b.json"))
      for words in [["remove", "/"], ["set", "/", "{}"], ["import", "/", folder + "/b.json"]] {
        let refused = try await run(words + ["--server", server.address])
        #expect(refused.code == 2 && refused.errors.contains("--yes"), "\(refused)")
        #expect(try await server.tern("get", "a").output == ["1"])
      }
      let asked = try await withTerminal("remove a", answer: "n", server)
      #expect(asked.code == 1, "\(asked)")
      #expect(asked.output.contains { $0.contains("Remove everything at /a? [y/N]") }, "\(asked)")
      #expect(try await server.tern("get", "a").output == ["1"])
      #expect(try await withTerminal("remove a", answer: "y", server).code == 0)
      #expect(try await server.tern("get", "a").code == 5)
      let yes = try await server.tern("import", "/", folder + "/b.json", "--yes")
      #expect(yes.code == 0, "\(yes)")
      #expect(try await server.tern("import", "x", folder + "/b.json").code == 0)
    }
  }

  /// Runs a command on a terminal, and types an answer.
  private func withTerminal(
    _ words: String, answer: String, _ server: ServerUnderTest
  ) async throws -> Finished {
    let child = try ChildProcess(
      "/bin/bash",
      [
        "-c", #"printf '\#(answer)\n' | script -qec "'$0' \#(words) --server $1" /dev/null"#,
        ternBinary, server.address,
      ])
    child.closeInput()
    return await finish(child)
  }

  @Test("doc add makes an id, and collections are listed as JSON")
  func addDocument() async throws {
    try await withServer { server, _ in
      let added = try await server.tern("doc", "add", "cities", #"{"n": 1}"#)
      let path = try #require(added.output.first)
      #expect(path.hasPrefix("cities/") && path.count == 27, "\(added)")
      #expect(try await server.tern("doc", "get", path).output == ["{", #"  "n": 1"#, "}"])
      let listed = try await server.tern("doc", "collections", "--json")
      #expect(listed.output == [#"{"path":"cities"}"#])
      let order = try await server.tern("doc", "query", "cities", "--order-by", "n DESC")
      #expect(order.code == 0 && order.output.count == 1, "\(order)")
      let spaces = try await server.tern("doc", "query", "cities", "--order-by", "n down")
      #expect(spaces.code == 2 && spaces.errors.contains("backticks"), "\(spaces)")
      let typo = try await server.tern("doc", "set", "c/x", #"{"a": {"intValue": "5"}}"#)
      #expect(typo.code == 0)
      #expect(typo.errors.contains(#"{"intValue":"5"} is stored as a map"#), "\(typo)")
      let collection = try await server.tern("doc", "get", "cities")
      #expect(collection.errors.contains("to list: tern doc query cities"))
    }
  }

  @Test("tokens are looked into and checked without a server")
  func tokens() async throws {
    try await withFolder { folder in
      for name in ["key", "other"] {
        let secret = String(repeating: name, count: 32)
        try Data(secret.utf8).write(to: URL(filePath: folder + "/" + name))
      }
      let sign = ["auth", "sign", "--key", folder + "/key", "ann", "--expires", "30d", "--json"]
      let signed = try await run(sign)
      let line = try #require(signed.output.first, "\(signed)")
      let token = try #require(try JSONValue(parsing: line)["token"]?.text)
      let claims = try #require(
        try await JSONValue(
          parsing: run(["auth", "inspect", token]).output.joined())["claims"])
      #expect(claims["sub"] == .string("ann"))
      let inspected = try await run(["auth", "inspect", token, "--json"])
      #expect(inspected.code == 0 && inspected.output.count == 1, "\(inspected)")
      let late = try await run(sign.dropLast(2) + ["30x"])
      let forms = "; a time is 45, 30s, 10m, 12h or 30d"
      #expect(late.code == 2 && late.errors.contains(forms), "\(late)")
      let times = ["exp", "iat"].compactMap { claims[$0]?.integer }
      #expect(times.count == 2 && times[0] - times[1] == 30 * 86_400)
      let taken = try await run(["auth", "verify", "--auth-keys", folder + "/key", token])
      #expect(taken.code == 0 && taken.output[0].hasPrefix("taken: user ann, until "), "\(taken)")
      let refused = try await run(["auth", "verify", "--auth-keys", folder + "/other", token])
      #expect(
        refused.code == 4 && refused.errors.contains("no key here has signed it"), "\(refused)")
      #expect(try await run(["auth", "inspect", "nonsense"]).code != 0)
    }
  }

  @Test("a server whose disk is full is reported as one")
  func fullDisk() async throws {
    try await withServer(["--config", try limited()]) { server, folder in
      let file = folder + "/big.json"
      let members = (0..<9_000).map { "\"k\($0)\": \"\(String(repeating: "x", count: 1_000))\"" }
      try Data("{\(members.joined(separator: ","))}".utf8).write(to: URL(filePath: file))
      let full = try await server.tern("import", "big", file, "--timeout", "200")
      #expect(full.code == 1, "\(full)")
      #expect(full.errors.contains("disk is full"), "\(full)")
      #expect(!full.errors.contains("cannot be reached"), "\(full)")
    }
  }

  /// A configuration whose store may not grow much.
  private func limited() throws -> String {
    let file = URL.temporaryDirectory.appending(path: "tern-limited-\(UUID().uuidString).json")
    try Data(#"{"storage": {"kind": "sqlite", "limitBytes": 6000000}} // small"#.utf8).write(
      to: file)
    return file.path
  }
}
