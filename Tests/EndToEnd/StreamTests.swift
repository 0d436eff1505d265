import Foundation
import Testing

@testable import tern

@Suite("standard streams") struct StreamTests {
  /// Runs a line of the shell, with the program as `$0` and the server as `$1`.
  private func shell(_ line: String, _ server: String) async throws -> Finished {
    let child = try ChildProcess("/bin/bash", ["-c", line, ternBinary, server])
    child.closeInput()
    return await finish(child)
  }

  @Test("output that cannot be written is an error of every command")
  func fullOutput() async throws {
    try await withServer { server, folder in
      _ = try await server.tern("set", "a", #"{"b": 1, "c": 2}"#)
      _ = try await server.tern("doc", "set", "c/d", "{}")
      try Data(#"{"rules": {}}"#.utf8).write(to: URL(filePath: folder + "/rules.json"))
      let key = Data(String(repeating: "k", count: 64).utf8)
      _ = FileManager.default.createFile(
        atPath: folder + "/key", contents: key, attributes: [.posixPermissions: 0o600])
      try FileManager.default.createDirectory(
        atPath: folder + "/cache", withIntermediateDirectories: true)
      for command in [
        "get a --server $1", "query a --server $1", "push a 1 --server $1", "export a --server $1",
        "watch a --server $1", "doc get c/d --server $1", "doc export / --server $1",
        "ping --server $1", "rules check \(folder)/rules.json", "auth sign --key \(folder)/key ann",
        "config", "--help", "pending --cache \(folder)/cache", "shell --server $1",
      ] {
        let full = try await shell(#"exec "$0" \#(command) > /dev/full"#, server.address)
        #expect(full.code == 1, "\(command): \(full)")
        #expect(
          full.errors == "tern: cannot write standard output: No space left on device", "\(command)"
        )
      }
    }
  }

  @Test("a reader that has gone ends a command in silence")
  func goneReader() async throws {
    try await withServer { server, _ in
      let members = (0..<3_000).map { "\"k\($0)\": \"\(String(repeating: "x", count: 100))\"" }
      _ = try await server.tern("set", "many", "-", input: "{\(members.joined(separator: ","))}")
      for command in ["export many -", "get many", "query many", "watch many"] {
        let piped = try await shell(
          #"set -o pipefail; "$0" \#(command) --server $1 | head -1 > /dev/null"#, server.address)
        #expect(piped.code == 0 && piped.errors.isEmpty, "\(command): \(piped)")
      }
    }
  }

  @Test("an export into a pipe arrives there, and the pipe stays one")
  func pipe() async throws {
    try await withServer { server, folder in
      _ = try await server.tern("set", "a", #"{"b": 1}"#)
      let piped = try await shell(
        #"mkfifo \#(folder)/p; "$0" export a \#(folder)/p --server $1 & cat \#(folder)/p; "#
          + #"test -p \#(folder)/p && wait %1"#, server.address)
      #expect(piped.code == 0 && piped.output == ["{", #""b": 1"#, "}"], "\(piped)")
      let standard = try await shell(
        #""$0" export a /dev/stdout --server $1 | cat"#, server.address)
      #expect(standard.output == ["{", #""b": 1"#, "}"], "\(standard)")
    }
  }

  @Test("with --json errors are objects too")
  func jsonErrors() async throws {
    let bad = try await run(["set", "a", "{bad", "--json"])
    #expect(bad.code == 2)
    #expect(
      bad.errors
        == #"{"error":"value: not JSON at line 1, column 2: expected a member's name in double "#
        + #"quotes, found b","code":2}"#)
    let away = try await run(["get", "a", "--json", "--server", "127.0.0.1:1"])
    #expect(away.code == 3 && away.errors.hasSuffix(#""code":3}"#), "\(away)")
    let flag = try await run(["get", "--json"])
    #expect(
      flag.code == 2 && flag.errors.hasPrefix(#"{"error":"Missing expected argument"#), "\(flag)")
    let text = try await run(["get"])
    #expect(text.errors == "tern: Missing expected argument '<path>'; see: tern get --help")
  }
}
