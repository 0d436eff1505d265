import Foundation
import Testing

@testable import tern

/// Real data: the Debian package iso-codes.
private let isoCodes = "/usr/share/iso-codes/json/"

@Suite("import and export") struct DataTests {
  @Test(
    "real data is imported, queried, exported and imported again",
    .enabled(if: FileManager.default.fileExists(atPath: isoCodes + "iso_3166-2.json")))
  func isoCodesRoundTrip() async throws {
    try await withServer { server, folder in
      let regions = try await server.tern(
        "import", "regions", isoCodes + "iso_3166-2.json", "--key-by", "code")
      #expect(regions.code == 0, "\(regions)")
      let languages = try await server.tern("import", "languages", isoCodes + "iso_639-3.json")
      #expect(languages.code == 0, "\(languages)")

      let names = try await server.tern(
        "query", "languages/639-3", "--order-by-child", "name", "--start-at", "\"Zz\"", "--json")
      #expect(names.code == 0 && !names.output.isEmpty)
      let region = try await server.tern("get", "regions/3166-2/DE-BY/name")
      #expect(region.output == [#""Bayern""#])

      let file = folder + "/out.json"
      let exported = try await server.tern("export", "regions/3166-2", file, "--page-size", "500")
      #expect(exported.code == 0, "\(exported)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
          "data", "out.json",
        ])
      _ = try await server.tern("import", "copy", file)
      let original = try await server.tern("get", "regions/3166-2")
      #expect(try await server.tern("get", "copy").output == original.output)
      #expect(original.output.count > 20_000)
    }
  }

  @Test("what cannot be imported says where and why")
  func badFiles() async throws {
    try await withServer { server, folder in
      let file = folder + "/bad.json"
      try Data(#"{"people": [{"a.b": 1}]}"#.utf8).write(to: URL(filePath: file))
      let key = try await server.tern("import", "x", file)
      #expect(key.code == 2)
      #expect(key.errors.contains("people/0/a.b"), "\(key)")
      #expect(key.errors.contains("keys hold no"), "\(key)")

      try Data(#"{"people": [1, }"#.utf8).write(to: URL(filePath: file))
      let syntax = try await server.tern("import", "x", file)
      #expect(syntax.code == 2)
      #expect(syntax.errors.contains("bad.json: line 1, column 16"), "\(syntax)")
    }
  }

  @Test("a file with a mistake at its end changes nothing")
  func lateMistake() async throws {
    try await withServer { server, folder in
      _ = try await server.tern("set", "x", #"{"kept": true}"#)
      let file = folder + "/late.json"
      let members = (0..<3_000).map { "\"\($0)\": \($0)" }.joined(separator: ", ")
      try Data("{\(members), ".utf8).write(to: URL(filePath: file))
      let refused = try await server.tern("import", "x", file)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("nothing was changed"), "\(refused)")
      #expect(try await server.tern("get", "x/kept").output == ["true"])
      let folders = try await server.tern("import", "x", folder)
      #expect(folders.code == 1)
      #expect(folders.errors.contains("it is a folder"), "\(folders)")
    }
  }

  @Test("standard input with a mistake changes nothing, and what is whole is imported")
  func standardInput() async throws {
    try await withServer { server, _ in
      _ = try await server.tern("set", "room", #"{"kept": true}"#)
      let refused = try await server.tern("import", "room", "-", input: #"{"x": tru"#)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("standard input: line 1"), "\(refused)")
      #expect(refused.errors.contains("nothing was changed"), "\(refused)")
      #expect(try await server.tern("get", "room/kept").output == ["true"])
      let members = (0..<3_000).map { "\"\($0)\": \($0)" }.joined(separator: ", ")
      let imported = try await server.tern("import", "room", "-", input: "{\(members)}")
      #expect(imported.output == ["imported 3000 values to /room"], "\(imported)")
      #expect(try await server.tern("get", "room/2999").output == ["2999"])
      #expect(try await server.tern("get", "room/kept").code == 5)
    }
  }

  @Test("the priority of a node with children goes out and in", arguments: ["1", "1000", "0"])
  func priorities(pageSize: String) async throws {
    try await withServer { server, folder in
      let file = folder + "/ranked.json"
      let text =
        #"{".priority": "r", "k": {".priority": 5, "a": 1, "b": {".value": 2, ".priority": 7}}}"#
      try Data(text.utf8).write(to: URL(filePath: file))
      #expect(try await server.tern("import", "ranked", file).code == 0)
      let size = ["--page-size", pageSize]
      let exported = try await run(
        ["export", "ranked/k", "-", "--server", server.address] + size)
      let lines = [
        "{", #"".priority": 5,"#, #""a": 1,"#, #""b": {".value":2,".priority":7}"#, "}",
      ]
      #expect(exported.output == lines, "\(exported)")
      let whole = try await run(["export", "ranked", "-", "--server", server.address] + size)
      #expect(whole.output.contains(#"".priority": "r","#), "\(whole)")
      let again = whole.output.joined(separator: "\n")
      #expect(try await server.tern("import", "/", "-", "--yes", input: again).code == 0)
      let root = try await run(["export", "/", "-", "--server", server.address] + size)
      #expect(root.output == whole.output, "\(root)")
    }
  }

  @Test("an export of nothing leaves no file")
  func exportNothing() async throws {
    try await withServer { server, folder in
      let exported = try await server.tern("export", "nothing", folder + "/out.json")
      #expect(exported.code == 5)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["data"])
      let elsewhere = try await server.tern("export", "nothing", folder + "/no/folder.json")
      #expect(elsewhere.code == 1)
    }
  }
}
