import Foundation
import Testing

@testable import tern

private let bay = #"{"name":"San Francisco","population":860000,"state":"CA"}"#

@Suite("document commands") struct DocumentCommandTests {
  @Test("set, get, update, delete", arguments: ["sqlite", "lmdb", "memory"])
  func writing(storage: String) async throws {
    try await withServer(["--storage", storage]) { server, _ in
      let set = try await server.tern("doc", "set", "cities/SF", bay)
      #expect(set.code == 0 && set.output.isEmpty, "\(set)")
      #expect(try await server.fields("cities/SF") == bay)
      let update = try await server.tern(
        "doc", "update", "cities/SF", #"{"mayor.name": "ann", "state": null}"#, "--increment",
        "population=0.5", "--array-union", #"tags=["sea", "sea"]"#, "--delete", "name", "--json")
      #expect(update.output == [#"{"path":"cities/SF","state":"acknowledged"}"#], "\(update)")
      let merged = try await server.tern(
        "doc", "set", "cities/SF", #"{"mayor": {"since": 1}}"#, "--merge", "--maximum",
        "mayor.terms=2")
      #expect(merged.code == 0, "\(merged)")
      #expect(
        try await server.fields("cities/SF")
          == #"{"mayor":{"name":"ann","since":1,"terms":2},"population":860000.5,"#
          + #""state":null,"tags":["sea"]}"#)
      let get = try await server.tern("doc", "get", "cities/SF", "--typed")
      #expect(
        get.output.prefix(4) == [
          "{", #"  "mayor": {"#, #"    "mapValue": {"#, #"      "fields": {"#,
        ])
      #expect(try await server.tern("doc", "set", "cities/LA", "-", input: "{}").code == 0)
      #expect(try await server.tern("doc", "get", "cities/LA").output == ["{}"])
      #expect(try await server.tern("doc", "delete", "cities/LA").code == 0)
      #expect(try await server.tern("doc", "get", "cities/LA").code == 5)
      #expect(await server.stop() == 0)
    }
  }

  @Test("every type of value survives, in both forms")
  func types() async throws {
    try await withServer { server, folder in
      let all = #"""
        {"a":[1,1.0,null,true,"x"],"b":{"bytesValue":"AAH/"},"g":{"geoPointValue":{"latitude":37.7,"longitude":-122.4}},"m":{"mapValue":{"fields":{"integerValue":7}}},"n":{"doubleValue":"NaN"},"r":{"referenceValue":"cities/LA"},"t":{"timestampValue":"2026-11-21T09:00:00.123456Z"},"v":{"__type__":"__vector__","value":[1.0,-0.5]}}
        """#
      #expect(try await server.tern("doc", "set", "all/plain", all).code == 0)
      #expect(try await server.fields("all/plain") == all)
      let typed = try await server.fields("all/plain", "--typed")
      #expect(typed.contains(#"{"referenceValue":"projects/tern/databases/(default)/"#))
      #expect(try await server.tern("doc", "set", "all/typed", typed, "--typed").code == 0)
      #expect(try await server.fields("all/typed") == all)

      let now = try await server.tern("doc", "set", "all/time", "{}", "--server-time", "at.commit")
      #expect(now.code == 0, "\(now)")
      #expect(
        try await server.fields("all/time").hasPrefix(#"{"at":{"commit":{"timestampValue":"20"#))
    }
  }

  @Test("a write on a condition is refused when it does not hold")
  func preconditions() async throws {
    try await withServer { server, _ in
      #expect(try await server.tern("doc", "set", "a/b", "{}", "--if-missing").code == 0)
      let again = try await server.tern("doc", "set", "a/b", #"{"x":1}"#, "--if-missing")
      #expect(again.code == 4 && again.errors.contains("alreadyExists"), "\(again)")
      let missing = try await server.tern("doc", "update", "a/c", #"{"x":1}"#)
      #expect(
        missing.code == 4
          && missing.errors == "tern: the server refused it: there is no document a/c",
        "\(missing)")
      let gone = try await server.tern("doc", "delete", "a/c", "--if-exists")
      #expect(gone.code == 4 && gone.errors == missing.errors, "\(gone)")

      let found = try await server.tern("doc", "get", "a/b", "--json")
      let version = try #require(found.output.first?.firstMatch(of: /"version":"([^"]+)"/)?.1)
      let update = ["doc", "update", "a/b", "--increment", "n=1", "--if-version", String(version)]
      #expect(try await run(update + ["--server", server.address]).code == 0)
      #expect(try await run(update + ["--server", server.address]).code == 4)
      #expect(try await server.fields("a/b") == #"{"n":1}"#)
    }
  }

  @Test("query prints what is selected, in its order", arguments: ["sqlite", "lmdb", "memory"])
  func query(storage: String) async throws {
    try await withServer(["--storage", storage]) { server, _ in
      try await server.fillCities()
      func ids(_ arguments: String...) async throws -> [String] {
        let found = try await run(["doc", "query"] + arguments + ["--server", server.address])
        #expect(found.code == 0, "\(arguments): \(found)")
        return found.output.map { $0.split(separator: " ").first.map(String.init) ?? "" }
      }
      #expect(
        try await ids("cities", "--where", #"state == "CA""#, "--order-by", "population desc")
          == ["cities/LA", "cities/SF"])
      #expect(
        try await ids("cities", "--order-by", "population", "--limit-to-last", "2")
          == ["cities/LA", "cities/TK"])
      #expect(
        try await ids(
          "cities", "--order-by", "population", "--start-after", "860000", "--limit", "1")
          == ["cities/LA"])
      #expect(
        try await ids("cities", "--where", #"__name__ in ["SF", "TK"]"#)
          == ["cities/SF", "cities/TK"])
      #expect(
        try await ids(
          "cities", "--where-any", #"tags array-contains "sea""#, "--where-any",
          "population > 5000000") == ["cities/SF", "cities/TK"])
      #expect(
        try await ids(
          "sights", "--group", "--order-by", "__name__", "--end-before", #""cities/TK/sights/a""#)
          == ["cities/SF/sights/bridge"])
      let none = try await server.tern("doc", "query", "cities", "--where", "population < 0")
      #expect(none.code == 5 && none.output.isEmpty)
      let sums = try await server.tern(
        "doc", "query", "cities", "--where", #"state == "CA""#, "--count", "--sum", "population",
        "--average", "population")
      #expect(
        sums.output == ["count 2", "sum(population) 4740000", "average(population) 2370000.0"])
      let json = try await server.tern("doc", "query", "cities", "--count", "--json")
      #expect(json.output == [#"{"count":3}"#])
      #expect(try await server.tern("doc", "collections").output == ["cities"])
      #expect(
        try await server.tern("doc", "collections", "cities/SF").output == ["cities/SF/sights"])
    }
  }

  @Test("watch prints documents and queries with where they come from")
  func watch() async throws {
    try await withServer { server, _ in
      try await server.fillCities()
      let place = ["--server", server.address]
      let one = try ChildProcess(ternBinary, ["doc", "watch", "cities/SF"] + place)
      let some = try ChildProcess(
        ternBinary, ["doc", "watch", "cities", "--where", #"state == "CA""#] + place)
      defer { one.killNow() }
      defer { some.killNow() }
      let first = await one.output.line(within: patience) { $0.hasPrefix("value cities/SF {") }
      #expect(first?.hasSuffix("}") == true)
      for line in ["added cities/LA ", "added cities/SF ", "state 2 documents"] {
        #expect(await some.output.line(within: patience) { $0.hasPrefix(line) } != nil, "\(line)")
      }
      #expect(try await server.tern("doc", "update", "cities/SF", #"{"state": "NV"}"#).code == 0)
      #expect(
        try await server.tern("doc", "update", "cities/LA", #"{"state": "CA", "n": 1}"#).code == 0)
      for line in ["removed cities/SF ", "state 1 documents", "modified cities/LA "] {
        #expect(await some.output.line(within: patience) { $0.hasPrefix(line) } != nil, "\(line)")
      }
      #expect(await one.output.line(within: patience) { $0.contains(#""state":"NV""#) } != nil)
      for child in [one, some] {
        child.stop()
        #expect(await child.exitCode(within: patience) == 0)
      }
      let json = try await server.tern("doc", "watch", "cities/XX", "--count", "1", "--json")
      #expect(
        json.output == [
          #"{"event":"value","path":"cities/XX","fields":null,"version":null,"#
            + #""pending":false,"fromCache":false}"#
        ])
    }
  }

  @Test("exit codes")
  func exitCodes() async throws {
    try await withServer { server, folder in
      let commands: [(code: Int32, arguments: [String])] = [
        (5, ["get", "a/b"]), (2, ["get", "a"]), (2, ["get", "a//b"]), (2, ["set", "a/b", "[1]"]),
        (2, ["set", "a/b", "{"]), (2, ["set", "a/b", #"{"__x__": 1}"#]),
        (2, ["set", "a/b", #"{"x": [[1]]}"#]), (2, ["update", "a/b"]),
        (2, ["update", "a/b", #"{"x": 1, "x.y": 2}"#]), (2, ["query", "a/b"]),
        (2, ["query", "a", "--where", "x ~ 1"]), (2, ["query", "a", "--where", "x == y"]),
        (2, ["query", "a", "--limit-to-last", "1"]),
        (2, ["query", "a", "--limit", "1", "--limit-to-last", "1"]),
        (2, ["set", "a/b", "1", "--typed"]), (2, ["set", "a/b", "{}", "--increment", "n"]),
        (2, ["delete", "a/b", "--if-version", "yesterday"]),
        (1, ["import", folder + "/missing.jsonl"]), (5, ["export", "nothing"]),
      ]
      for command in commands {
        let finished = try await run(
          ["doc"] + command.arguments + ["--server", server.address])
        #expect(finished.code == command.code, "\(command.arguments) \(finished)")
        #expect(!finished.errors.isEmpty)
      }
      let nowhere = ["--server", "127.0.0.1:1"]
      for arguments in [
        ["get", "a/b"], ["set", "a/b", "{}"], ["query", "a"], ["query", "a", "--count"],
        ["export", "/"],
      ] {
        let finished = try await run(["doc"] + arguments + nowhere)
        #expect(finished.code == 3, "\(arguments) \(finished)")
      }
    }
  }

  @Test("a shell has documents, in the same words")
  func shell() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(folder: folder)
      defer { server.process.killNow() }
      let ended = try await server.tern(
        "shell",
        input: """
          doc set cities/SF {"name": "San Francisco", "n": 1}
          doc set cities/LA {"name": "Los Angeles", "n": 2}
          doc update cities/SF {"n": 3}
          doc set --merge cities/LA {"big": true}
          doc query cities --where 'n >= 2' --order-by "n desc" --limit 1
          settle
          pending
          doc collections
          doc delete cities/LA
          settle
          doc get cities/LA
          doc get cities/SF
          doc query
          doc fly cities/SF
          set a 1
          settle
          exit

          """)
      #expect(ended.code == 0, "\(ended)")
      let lines = ended.output
      for line in [
        "stored 1 set cities/SF", "acknowledged 1", "stored 3 update cities/SF",
        "stored 5 delete cities/LA", "acknowledged 5", "collection cities", "pending 0",
        "found 1", "error doc query needs a path", "stored 6 set a", "acknowledged 6",
        #"error no command 'doc fly'; see: help"#,
      ] { #expect(lines.contains(line), "\(line) in \(lines)") }
      #expect(lines.contains { $0.hasPrefix(#"value cities/SF {"n":3,"name":"San Francisco"}"#) })
      #expect(lines.contains { $0.hasPrefix("value cities/LA null") }, "\(lines)")
    }
  }
}

extension ServerUnderTest {
  /// The fields of a document on one line.
  func fields(_ path: String, _ flags: String...) async throws -> String {
    let found = try await run(["doc", "get", path, "--server", address] + flags)
    #expect(found.code == 0, "\(found)")
    return found.output.map { $0.trimmingCharacters(in: .whitespaces) }.joined()
      .replacing(#/("[^"]*"): /#) { "\($0.1):" }
  }

  /// Three cities, two of them in one state, and a sight.
  func fillCities() async throws {
    for (path, fields) in [
      ("cities/SF", #"{"state": "CA", "population": 860000, "tags": ["sea"]}"#),
      ("cities/LA", #"{"state": "CA", "population": 3880000}"#),
      ("cities/TK", #"{"population": 9000000}"#), ("cities/SF/sights/bridge", "{}"),
    ] {
      let set = try await tern("doc", "set", path, fields)
      #expect(set.code == 0, "\(set)")
    }
  }
}
