import Foundation
import Testing

@testable import tern

/// Commands that are refused say why, and leave nothing behind.
@Suite("reasons of refused commands") struct CommandReasonTests {
  @Test("a text that is no token is named", arguments: ["abc", "a.b.c", "ann.token"])
  func token(_ text: String) async throws {
    for arguments in [["auth", "inspect", text], ["auth", "inspect", text, "--json"]] {
      let told = try await run(arguments)
      #expect(told.code == 2, "\(told)")
      #expect(told.errors.contains("this is no token"), "\(told)")
    }
  }

  @Test("a folder of a cache that is not there is named, and not made")
  func missingCache() async throws {
    try await withFolder { folder in
      for verb in ["list", "send", "salvage"] {
        let told = try await run(["pending", verb, "--cache", folder + "/none"])
        #expect(told.code != 0 && !told.errors.isEmpty, "\(verb): \(told)")
      }
      let listed = try await run(["pending", "--cache", folder + "/none"])
      #expect(listed.code == 5 && listed.errors.contains("there is no folder"), "\(listed)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
  }

  @Test("an empty file of document rules is no rules", arguments: ["", " \n\t\r\n"])
  func emptyRules(_ text: String) async throws {
    try await withFolder { folder in
      let file = folder + "/firestore.rules"
      try Data(text.utf8).write(to: URL(filePath: file))
      let checked = try await run(
        ["serve", "--check", "--document-rules", file, "--path", folder + "/data", "--port", "0"])
      #expect(checked.code == 2 && checked.errors.contains("is empty"), "\(checked)")
    }
  }

  @Test("one port for clients and for the admin listener is found before a start")
  func samePort() async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      try Data(#"{"admin": {"port": 9731}, "transport": {"port": 9731}}"#.utf8)
        .write(to: URL(filePath: file))
      let checked = try await run(
        ["serve", "--check", "--config", file, "--path", folder + "/data"])
      #expect(checked.code != 0, "\(checked)")
      #expect(checked.output.joined(separator: "\n").contains("admin port: 9731 is the port"))
    }
  }

  @Test("documents have a database of their own, and --ns of the tree is none")
  func databases() async throws {
    try await withServer { server, _ in
      let refused = try await server.tern("doc", "set", "c/d", "{}", "--ns", "other")
      #expect(refused.code == 2 && refused.errors.contains("projects/P/databases/D"))
      let wrong = try await server.tern("doc", "set", "c/d", "{}", "--ns", "projects/p")
      #expect(wrong.code == 2, "\(wrong)")
      let second = "projects/p/databases/second"
      #expect(try await server.tern("doc", "set", "c/d", #"{"n": 1}"#, "--ns", second).code == 0)
      #expect(try await server.tern("doc", "get", "c/d", "--ns", second).code == 0)
      #expect(try await server.tern("doc", "get", "c/d").code == 5)
      // The tree is that of TERN_DATABASE or the default one, whatever the documents are.
      #expect(try await server.tern("set", "a", "1", "--ns", second).code == 0)
      #expect(try await server.tern("get", "a").output == ["1"])
    }
  }
}
