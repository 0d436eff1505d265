import Foundation
import Testing

@testable import tern

@Suite("rules for documents", .serialized) struct DocumentRulesCommandTests {
  private func rules(_ write: String) -> String {
    """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /users/{user} {
          allow read: if request.auth.uid == user;
          allow list: if resource.data.owner == request.auth.uid;
          allow write: if \(write);
        }
      }
    }
    """
  }

  private let own = "request.auth.uid == user && request.resource.data.owner == user"

  @discardableResult
  private func write(_ text: String, to path: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    return path
  }

  private func token(_ folder: String, _ arguments: String...) async throws -> String {
    let signed = try await run(["auth", "sign", "--key", folder + "/key"] + arguments)
    let text = try #require(signed.output.first, "\(signed)")
    return try write(text, to: folder + "/token-\(arguments.joined().hashValue)")
  }

  @Test("a server with firestore.rules serves users as it says, and follows the file")
  func served() async throws {
    try await withFolder { folder in
      try write(String(repeating: "secret", count: 8), to: folder + "/key")
      try write(#"{"rules": {}}"#, to: folder + "/tree.json")
      try write(rules(own), to: folder + "/firestore.rules")
      try write(
        #"{"database": {"rules": "tree.json"}, "firestore": {"rules": "firestore.rules"}}"#,
        to: folder + "/firebase.json")
      let server = try await ServerUnderTest(
        folder: folder,
        arguments: [
          "--rules", folder + "/firebase.json", "--document-rules", folder + "/firebase.json",
          "--auth-keys", folder + "/key",
        ])
      defer { server.process.killNow() }
      let ann = try await token(folder, "ann")
      let mine = #"{"owner": "ann"}"#
      let set = try await server.tern("doc", "set", "users/ann", mine, "--token", ann)
      #expect(set.code == 0, "\(set)")
      #expect(try await server.tern("doc", "get", "users/ann", "--token", ann).code == 0)
      #expect(try await server.tern("doc", "get", "users/ann").code == 4)
      #expect(try await server.tern("doc", "set", "users/ben", mine, "--token", ann).code == 4)
      let query = ["doc", "query", "users", "--where", #"owner == "ann""#]
      let found = try await run(query + ["--token", ann, "--server", server.address])
      #expect(found.code == 0, "\(found)")
      let all = try await server.tern("doc", "query", "users", "--token", ann)
      #expect(all.code == 4, "\(all)")
      let id = try #require(all.errors.firstMatch(of: /\[([0-9a-f]{16})\]/)?.output.1, "\(all)")
      let line = await server.process.errors.line(within: patience) { $0.contains(id) }
      #expect(line != nil, "the log has the id of the denial")

      try write(rules("false"), to: folder + "/firestore.rules")
      let followed = await server.process.errors.line(within: patience) {
        $0.contains("firestore.rules has changed")
      }
      #expect(followed != nil, "\(server.process.errors.history)")
      #expect(try await server.tern("doc", "set", "users/ann", mine, "--token", ann).code == 4)
      try write("service cloud.firestore {", to: folder + "/firestore.rules")
      let kept = await server.process.errors.line(within: patience) {
        $0.contains("the rules before stay in force")
      }
      #expect(kept != nil)
      #expect(await server.stop() == 0)
    }
  }

  @Test("a file with a mistake keeps a server from starting")
  func mistake() async throws {
    try await withFolder { folder in
      let file = try write("service cloud.firestore {", to: folder + "/firestore.rules")
      let refused = try await run(
        ["serve", "--document-rules", file, "--port", "0"], folder: folder)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("firestore.rules:L1:"), "\(refused)")
    }
  }
}
