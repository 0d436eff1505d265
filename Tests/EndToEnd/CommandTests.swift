import Foundation
import Testing

@testable import tern

@Suite("commands") struct CommandTests {
  @Test("set, get, update, push, remove", arguments: ["sqlite", "lmdb", "memory"])
  func writing(storage: String) async throws {
    try await withServer(["--storage", storage]) { server, _ in
      let set = try await server.tern("set", "rooms/42", #"{"title": "Hi", "n": [1, 2.5]}"#)
      #expect(set.code == 0 && set.output.isEmpty, "\(set)")
      let get = try await server.tern("get", "rooms/42")
      #expect(
        get.output == ["{", #"  "n": ["#, "    1,", "    2.5", "  ],", #"  "title": "Hi""#, "}"])
      let update = try await server.tern(
        "update", "/", #"{"rooms/42/title": "Hello", "rooms/42/n": null, "a": true}"#, "--json")
      #expect(update.output == [#"{"path":"","state":"acknowledged"}"#])
      let push = try await server.tern("push", "rooms", "text", "--text")
      let path = try #require(push.output.first)
      #expect(path.hasPrefix("rooms/-"))
      #expect(try await server.tern("get", path).output == [#""text""#])
      #expect(try await server.tern("remove", path).code == 0)
      let left = try await server.tern("get", "/", "--json")
      #expect(
        left.output == [
          #"{"event":"value","path":"","key":null,"value":{"a":true,"rooms":{"42":"#
            + #"{"title":"Hello"}}},"pending":false,"fromCache":false,"complete":true}"#
        ])
      let piped = try await server.tern("set", "piped", "-", input: "[1]")
      #expect(piped.code == 0)
    }
  }

  @Test("query prints children in its order")
  func query() async throws {
    try await withServer { server, _ in
      _ = try await server.tern("set", "scores", #"{"ann": 9, "bob": 12, "cyd": 3, "dan": 7}"#)
      let last = try await server.tern("query", "scores", "--order-by-value", "--last", "2")
      #expect(last.output == ["ann 9", "bob 12"])
      let range = try await server.tern(
        "query", "scores", "--order-by-value", "--start-after", "3", "--end-before", "12",
        "--json")
      let end = #","pending":false,"fromCache":false,"complete":true}"#
      #expect(
        range.output == [
          #"{"event":"value","path":"scores/dan","key":"dan","value":7"# + end,
          #"{"event":"value","path":"scores/ann","key":"ann","value":9"# + end,
        ])
      let none = try await server.tern("query", "scores", "--order-by-key", "--equal-to", "\"x\"")
      #expect(none.code == 5)
    }
  }

  @Test("watch prints events as they come")
  func watch() async throws {
    try await withServer { server, _ in
      _ = try await server.tern("set", "scores", #"{"ann": 9, "bob": 12, "cyd": 3}"#)
      let watch = try ChildProcess(
        ternBinary,
        ["watch", "scores", "--order-by-value", "--last", "2", "--server", server.address])
      #expect(await watch.output.line(within: patience) { $0 == "added scores/ann 9" } != nil)
      #expect(await watch.output.line(within: patience) { $0 == "added scores/bob 12" } != nil)
      _ = try await server.tern("set", "scores/cyd", "20")
      for line in ["removed scores/ann 9", "added scores/cyd 20"] {
        #expect(await watch.output.line(within: patience) { $0 == line } != nil, "\(line)")
      }
      watch.stop()
      #expect(await watch.exitCode(within: patience) == 0)

      let value = try await server.tern("watch", "scores/ann", "--value", "--count", "1", "--json")
      #expect(
        value.output == [
          #"{"event":"value","path":"scores/ann","key":"ann","value":9,"#
            + #""pending":false,"fromCache":false,"complete":true}"#
        ])
    }
  }

  @Test("exit codes")
  func exitCodes() async throws {
    try await withServer { server, folder in
      let commands: [(code: Int32, arguments: [String])] = [
        (5, ["get", "nothing"]), (2, ["get", "a.b"]), (2, ["set", "a", "not json"]),
        (2, ["set", "a"]), (2, ["fly", "a"]), (2, ["query", "a", "--first", "1", "--last", "1"]),
        (2, ["get", "a", "--storage", "lmdb"]), (1, ["import", "a", folder + "/missing.json"]),
      ]
      for command in commands {
        let finished = try await run(command.arguments + ["--server", server.address])
        #expect(finished.code == command.code, "\(command.arguments) \(finished)")
      }
      #expect(try await run(["get", "a", "--server", "127.0.0.1:1"]).code == 3)
      #expect(try await run(["set", "a", "1", "--server", "127.0.0.1:1"]).code == 3)
      #expect(try await run(["--help"]).code == 0)
      #expect(await server.stop() == 0)
      #expect(server.process.output.history.last == "stopped")
    }
  }
}
