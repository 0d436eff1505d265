import Foundation
import Testing

@testable import tern

@Suite("tokens of a server", .serialized) struct TokenTests {
  private let rules = #"""
    {"rules": {
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}},
      "staff": {".read": "auth.token.role === 'staff'", ".write": "auth.token.role === 'staff'"}
    }}
    """#

  /// Lends a server that takes tokens of a secret, and the folder with `key` and `rules`.
  private func withTokenServer(
    _ arguments: [String] = [], _ body: (ServerUnderTest, String) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      try write(String(repeating: "secret", count: 8), to: folder + "/key")
      try write(rules, to: folder + "/rules")
      let server = try await ServerUnderTest(
        folder: folder,
        arguments: ["--rules", folder + "/rules", "--auth-keys", folder + "/key"] + arguments)
      defer { server.process.killNow() }
      try await body(server, folder)
    }
  }

  @discardableResult
  private func write(_ text: String, to path: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    return path
  }

  /// Makes a token with the key in a folder, and keeps it in a file there.
  private func token(_ folder: String, _ arguments: String...) async throws -> String {
    let signed = try await run(["auth", "sign", "--key", folder + "/key"] + arguments)
    let text = try #require(signed.output.first, "\(signed)")
    return try write(text, to: folder + "/token-\(arguments.joined().hashValue)")
  }

  @Test("rules see the identity of a token that tern auth sign made")
  func signed() async throws {
    try await withTokenServer { server, folder in
      let ada = try await token(folder, "ada")
      #expect(try await server.tern("set", "users/ada/a", "1", "--token", ada).code == 0)
      #expect(try await server.tern("set", "users/bob/a", "1", "--token", ada).code == 4)
      #expect(try await server.tern("set", "users/ada/a", "1").code == 4)
      #expect(try await server.tern("set", "staff/a", "1", "--token", ada).code == 4)
      let staff = try await token(folder, "ada", "--claims", #"{"role": "staff"}"#)
      #expect(try await server.tern("set", "staff/a", "1", "--token", staff).code == 0)
      let chief = try await token(folder, "--administrator")
      #expect(try await server.tern("set", "anywhere", "1", "--token", chief).code == 0)
    }
  }

  @Test("under rules documents are for administrators; with --dev for this machine, too")
  func documents() async throws {
    try await withTokenServer { server, folder in
      let ada = try await token(folder, "ada")
      let chief = try await token(folder, "--administrator")
      for command in [["set", "a/b", "{}"], ["get", "a/b"], ["delete", "a/b"], ["query", "a"]] {
        for user in [[], ["--token", ada]] {
          let ended = try await run(["doc"] + command + user + ["--server", server.address])
          #expect(ended.code == 4, "\(command) \(user): \(ended)")
        }
      }
      #expect(try await server.tern("doc", "set", "a/b", "{}", "--token", chief).code == 0)
      #expect(try await server.tern("doc", "get", "a/b", "--token", chief).code == 0)
    }
    try await withTokenServer(["--dev"]) { server, _ in
      let set = try await server.tern("doc", "set", "a/b", "{}")
      #expect(set.code == 0, "\(set)")
    }
  }

  @Test("a token that the server rejects ends every command with 4, whichever user it names")
  func refused() async throws {
    try await withTokenServer { server, folder in
      try FileManager.default.createDirectory(
        atPath: folder + "/other", withIntermediateDirectories: false)
      try write(String(repeating: "another", count: 8), to: folder + "/other/key")
      for claims in [["ada"], ["--administrator"]] {
        let signed = try await run(["auth", "sign", "--key", folder + "/other/key"] + claims)
        let file = try write(try #require(signed.output.first), to: folder + "/forged")
        let commands = [
          ["get", "users/ada"], ["set", "users/ada/a", "1"], ["doc", "get", "a/b"],
        ]
        for command in commands {
          let ended = try await run(
            command + ["--token", file, "--server", server.address])
          #expect(ended.code == 4, "\(claims) \(command): \(ended)")
          #expect(ended.errors.contains("refused the token"), "\(ended)")
        }
      }
    }
  }

  @Test("a token counts over REST in all its forms, and errors are reported")
  func rest() async throws {
    try await withTokenServer { server, folder in
      let file = try await token(folder, "ada")
      let token = try String(contentsOfFile: file, encoding: .utf8)
      let port = try #require(UInt16(server.port))
      func get(_ target: String, _ field: String = "") throws -> String {
        let request =
          "GET \(target) HTTP/1.1\r\nHost: localhost\r\n" + field
          + "Connection: close\r\n\r\n"
        return String(
          decoding: try sendBytes(Array(request.utf8), toPort: port, endingOutput: false),
          as: UTF8.self)
      }
      #expect(try get("/users/ada.json?auth=\(token)").hasPrefix("HTTP/1.1 200"))
      #expect(try get("/users/ada.json?access_token=\(token)").hasPrefix("HTTP/1.1 200"))
      let bearer = "Authorization: Bearer \(token)\r\n"
      #expect(try get("/users/ada.json", bearer).hasPrefix("HTTP/1.1 200"))
      #expect(try get("/users/bob.json", bearer).hasPrefix("HTTP/1.1 401"))
      #expect(try get("/users/ada.json").hasPrefix("HTTP/1.1 401"))
      let forged = try get("/users/ada.json?auth=\(token)A")
      #expect(forged.hasPrefix("HTTP/1.1 401") && forged.contains("The token is not valid"))
    }
  }

  @Test("other keys and revocations count within seconds, without a restart")
  func reload() async throws {
    try await withFolder { folder in
      let list = folder + "/revoked"
      try await withTokenServer(["--auth-revocations", list]) { server, folder in
        let ada = try await token(folder, "ada")
        #expect(try await server.tern("set", "users/ada/a", "1", "--token", ada).code == 0)
        #expect(try await run(["auth", "revoke", "ada", "--list", list]).code == 0)
        try await eventually {
          try await server.tern("set", "users/ada/a", "2", "--token", ada).code == 4
        }
        let bob = try await token(folder, "bob")
        #expect(try await server.tern("set", "users/bob/a", "1", "--token", bob).code == 0)
        try write(String(repeating: "other secret", count: 4), to: folder + "/key")
        try await eventually {
          try await server.tern("set", "users/bob/a", "2", "--token", bob).code == 4
        }
        let next = try await token(folder, "bob", "--expires", "60")
        #expect(try await server.tern("set", "users/bob/a", "3", "--token", next).code == 0)
        // A file that is no key changes nothing.
        try write("short", to: folder + "/key")
        let kept = await server.process.errors.line(within: patience) {
          $0.contains("stay in force")
        }
        #expect(kept != nil)
        #expect(try await server.tern("set", "users/bob/a", "4", "--token", next).code == 0)
      }
    }
  }

  /// Tries until it holds.
  private func eventually(_ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + patience
    while try await !holds() {
      guard ContinuousClock.now < end else {
        Issue.record("it never held")
        return
      }
    }
  }
}
