import Foundation
import Testing

@testable import tern

@Suite("import and export of documents") struct DocumentDataTests {
  @Test(
    "a collection with what lies below it goes out and in", arguments: ["sqlite", "lmdb", "memory"])
  func roundTrip(storage: String) async throws {
    try await withServer(["--storage", storage]) { server, folder in
      let file = folder + "/in.jsonl"
      try write(lines(1...1_200), to: file)
      let imported = try await server.tern("doc", "import", file)
      #expect(imported.output == ["imported 1202 documents"], "\(imported)")
      let count = try await server.tern("doc", "query", "people", "--count")
      #expect(count.output == ["count 1200"])

      let out = folder + "/out.jsonl"
      let exported = try await server.tern("doc", "export", "people", out, "--page-size", "77")
      #expect(exported.output == ["exported 1201 documents to \(out)"], "\(exported)")
      let original = try lines(of: out)
      #expect(original.first?.hasPrefix(#"{"path":"people/1","fields":{"at":"#) == true)
      #expect(original.contains(#"{"path":"people/7/notes/x","fields":{"text":"hi"}}"#))
      let everything = try await server.tern("doc", "export", "/", "--flat")
      #expect(everything.output.count == 1_200)

      // Again, in the other form, into another database.
      let typed = folder + "/typed.jsonl"
      #expect(try await server.tern("doc", "export", "/", typed, "--typed").code == 0)
      try await withServer { second, _ in
        #expect(try await second.tern("doc", "import", typed, "--typed").code == 0)
        #expect(try await second.tern("doc", "export", "people", out).code == 0)
        #expect(try lines(of: out) == original)
        let ghosts = try await second.tern("doc", "export", "ghosts/nobody")
        #expect(ghosts.output == [#"{"path":"ghosts/nobody/notes/x","fields":{}}"#])
      }
    }
  }

  @Test("a reference into another database goes out and in", arguments: [[], ["--typed"]])
  func foreignReference(form: [String]) async throws {
    try await withServer { server, folder in
      let name = "projects/other/databases/(default)/documents/a/b"
      let patched = try await run(
        [
          "-sf", "-X", "PATCH", "-d", #"{"fields": {"at": {"referenceValue": "\#(name)"}}}"#,
          "http://\(server.address)/v1/projects/tern/databases/(default)/documents/c/d",
        ], program: "/usr/bin/curl")
      #expect(patched.code == 0, "\(patched)")
      let file = folder + "/out.jsonl"
      let exported = try await run(
        ["doc", "export", "/", file, "--server", server.address] + form)
      #expect(exported.code == 0, "\(exported)")
      let original = try lines(of: file)
      #expect(original.joined().contains(name), "\(original)")
      #expect(try await server.tern("doc", "delete", "c/d").code == 0)
      let imported = try await run(
        ["doc", "import", file, "--server", server.address] + form)
      #expect(imported.code == 0, "\(imported)")
      let again = folder + "/again.jsonl"
      _ = try await run(["doc", "export", "/", again, "--server", server.address] + form)
      #expect(try lines(of: again) == original)
    }
  }

  @Test("a bad line is named, what stands before it is written, and the rest can follow")
  func badLine() async throws {
    try await withServer { server, folder in
      let file = folder + "/in.jsonl"
      var content = lines(1...1_200)
      content[700] = #"{"path": "people", "fields": {}}"#
      try write(content, to: file)
      let stopped = try await server.tern("doc", "import", file)
      #expect(stopped.code == 2)
      #expect(stopped.errors.contains("line 701: people is a collection"), "\(stopped)")
      #expect(stopped.errors.contains("go on with --from-line 701"), "\(stopped)")
      #expect(try await server.tern("doc", "query", "people", "--count").output == ["count 700"])

      content[700] = lines(701...701)[0]
      try write(content, to: file)
      #expect(try await server.tern("doc", "import", file, "--from-line", "701").code == 0)
      #expect(try await server.tern("doc", "query", "people", "--count").output == ["count 1200"])
      for (line, words) in [
        ("{", "line 1: not JSON at column 2"), ("{}", "line 1: a line is"),
        (#"{"path": "a/b", "fields": {"x": [[]]}}"#, "line 1: x holds an array in an array"),
      ] {
        let refused = try await server.tern("doc", "import", "-", input: line)
        #expect(refused.code == 2 && refused.errors.contains(words), "\(refused)")
      }
    }
  }

  /// Returns lines of members, one each, and at the end a note below one of them and one below a
  /// missing one.
  private func lines(_ numbers: ClosedRange<Int>) -> [String] {
    var lines = numbers.map {
      #"{"path": "people/\#($0)", "fields": {"n": \#($0), "half": \#($0).5, "#
        + #""at": {"timestampValue": "2026-11-21T09:00:00Z"}}}"#
    }
    if numbers.count > 1 {
      lines += [
        #"{"path": "people/7/notes/x", "fields": {"text": "hi"}}"#, "",
        #"{"path": "ghosts/nobody/notes/x", "fields": {}}"#,
      ]
    }
    return lines
  }

  private func write(_ lines: [String], to file: String) throws {
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
  }

  private func lines(of file: String) throws -> [String] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }
}
