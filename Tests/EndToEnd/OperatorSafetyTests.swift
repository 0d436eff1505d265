import Foundation
import Testing

@testable import tern

@Suite("commands that could harm what is there") struct OperatorSafetyTests {
  @Test("a measurement needs a place of its own, and leaves nothing there")
  func bench() async throws {
    try await withServer { server, _ in
      _ = try await server.tern("update", "/", #"{"kept/a": 1, "leaf": "x"}"#)
      let before = try await server.tern("get", "/").output
      for place in ["/", "", "kept", "leaf", "kept/a"] {
        let refused = try await server.tern(
          "bench", "writes", "--duration", "1", "--clients", "1", "--at", place)
        #expect(refused.code == 2, "\(place): \(refused)")
        #expect(try await server.tern("get", "/").output == before, "\(place)")
      }
      let measured = try await server.tern(
        "bench", "writes", "--duration", "1", "--clients", "1", "--at", "own/place")
      #expect(measured.code == 0, "\(measured)")
      #expect(try await server.tern("get", "/").output == before)
      // The usual place holds what a killed measurement has left.
      _ = try await server.tern("set", "tern-bench/left/n", "1")
      let beside = try await server.tern("bench", "writes", "--duration", "1", "--clients", "1")
      #expect(beside.code == 0, "\(beside)")
      let left = try await server.tern("get", "tern-bench").output.joined()
      #expect(left.filter { !$0.isWhitespace } == #"{"left":{"n":1}}"#)
    }
  }

  @Test(
    "config check refuses what serve refuses",
    arguments: [
      #"{"admin": {"port": 99999}}"#, #"{"log": {"level": "loud"}}"#,
      #"{"limits": {"requestsPerAddress": "many"}}"#, #"{"endpoints": {"nothing": true}}"#,
      #"{"ledger": {"kind": "none-such"}}"#, #"{"auth": {"keys": ["/no/such/key"]}}"#,
    ])
  func configuration(_ text: String) async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      try Data(text.utf8).write(to: URL(filePath: file))
      let served = try await run(
        ["serve", "--check", "--config", file, "--path", folder + "/data", "--port", "0"],
        folder: folder)
      let checked = try await run(["config", "check", "--config", file], folder: folder)
      #expect(checked.code != 0 && checked.code == served.code, "\(checked) \(served)")
    }
  }

  @Test("config check takes the configuration of a client, and needs no store")
  func client() async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      let text = #"{"transport": {"kind": "websocket", "host": "db.example.com", "tls": {}}}"#
      try Data(text.utf8).write(to: URL(filePath: file))
      let checked = try await run(["config", "check", "--config", file], folder: folder)
      #expect(checked.code == 0, "\(checked)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["tern.json"])
    }
  }

  @Test(
    "a store of another kind is named, not called damaged, and nothing is made beside it",
    arguments: [("lmdb", "sqlite"), ("sqlite", "lmdb")])
  func otherKind(stored: String, asked: String) async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(folder: folder, arguments: ["--storage", stored])
      #expect(try await server.tern("set", "a", "1").code == 0)
      #expect(await server.stop() == 0)
      let data = folder + "/data"
      let files = try FileManager.default.contentsOfDirectory(atPath: data + "/server").sorted()
      for command in [["verify"], ["serve", "--port", "0"], ["compact"]] {
        let refused = try await run(command + ["--path", data, "--storage", asked])
        #expect(refused.code == 2, "\(command) \(refused)")
        #expect(refused.errors.contains("--storage \(stored)"), "\(command) \(refused)")
        #expect(!refused.errors.contains("damaged"), "\(command) \(refused)")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: data + "/server").sorted()
      #expect(left == files)
      #expect(try await run(["verify", "--path", data, "--storage", stored]).code == 0)
    }
  }

  @Test("a failed read of standard input stores nothing")
  func failedInput() async throws {
    try await withServer { server, folder in
      let script = #"exec "$0" set x - --text --server "$1" < "$2""#
      let refused = try await run(
        ["-c", script, ternBinary, server.address, folder], program: "/bin/sh")
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.errors.contains("cannot read standard input"), "\(refused)")
      #expect(try await server.tern("get", "x").code == 5)
    }
  }
}
