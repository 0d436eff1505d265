import Foundation
import Testing

@testable import tern

@Suite("documents offline") struct DocumentOfflineTests {
  @Test(
    "writes made without a server are kept, listed and sent once", arguments: ["sqlite", "lmdb"])
  func queue(storage: String) async throws {
    try await withFolder { folder in
      let first = try await ServerUnderTest(
        folder: folder, arguments: ["--storage", storage], port: "\(try freePort())")
      let cache = ["--cache", folder + "/cache", "--storage", storage]
      let flags = cache + ["--server", first.address]
      #expect(try await run(["doc", "set", "cities/SF", #"{"n": 1}"#] + flags).code == 0)
      #expect(try await run(["doc", "query", "cities"] + flags).output == [#"cities/SF {"n":1}"#])
      first.process.killNow()
      _ = await first.process.exitCode(within: patience)

      let queued = try await run(
        ["doc", "update", "cities/SF", "--increment", "n=5", "--json"] + flags)
      #expect(queued.code == 0, "\(queued)")
      #expect(queued.output == [#"{"path":"cities/SF","state":"queued"}"#])
      let refused = try await run(["doc", "update", "cities/LA", #"{"n": 1}"#] + flags)
      #expect(refused.code == 0, "\(refused)")
      let seen = try await run(["doc", "get", "cities/SF", "--json"] + flags)
      #expect(seen.output.first?.contains(#""fields":{"n":6}"#) == true, "\(seen)")
      #expect(seen.output.first?.hasSuffix(#""pending":true,"fromCache":true}"#) == true)
      #expect(
        try await run(["doc", "query", "cities"] + flags).output == [
          #"cities/SF {"n":6} (pending) (from the cache)"#
        ])
      #expect(try await run(["doc", "query", "cities", "--count"] + flags).code == 3)
      let list = try await run(["pending"] + cache)
      #expect(list.output == ["pending d2 update cities/SF", "pending d3 update cities/LA"])
      let whole = try await run(["pending", "salvage"] + cache)
      #expect(whole.output == list.output + ["the queue is well"], "\(whole)")
      let json = try await run(["pending", "--json"] + cache)
      #expect(
        json.output.first
          == #"{"state":"pending","id":"d2","writes":[{"write":"update","path":"cities/SF","#
          + #""fields":{},"mask":[],"transforms":{"n":{"increment":5}}}],"reason":null}"#)
      #expect(try await run(["pending", "send"] + flags).code == 3)

      let second = try await ServerUnderTest(
        folder: folder, arguments: ["--storage", storage], port: first.port)
      let sent = try await run(["pending", "send"] + flags)
      #expect(sent.code == 4 && sent.errors.contains("rejected 1"), "\(sent)")
      #expect(try await second.fields("cities/SF") == #"{"n":6}"#)
      let left = try await run(["pending"] + cache)
      let number = try #require(left.output.first?.firstMatch(of: #/^rejected (d[0-9]+) /#)?.1)
      #expect(left.output == ["rejected \(number) update cities/LA: notFound"])

      #expect(try await run(["pending", "retry", String(number)] + flags).code == 4)
      #expect(try await second.tern("doc", "set", "cities/LA", "{}").code == 0)
      let again = try await run(["pending"] + cache)
      let next = try #require(again.output.first?.firstMatch(of: #/^rejected (d[0-9]+) /#)?.1)
      #expect(try await run(["pending", "retry", String(next)] + flags).code == 0)
      #expect(try await second.fields("cities/LA") == #"{"n":1}"#)
      #expect(try await run(["pending"] + cache).output == ["nothing is waiting"])
      #expect(try await run(["pending", "discard", "d77"] + flags).code == 5)
      #expect(await second.stop() == 0)
    }
  }

  @Test(
    "a queue that waits is imported into, listed as one, and sent", arguments: ["sqlite", "lmdb"])
  func importing(storage: String) async throws {
    try await withFolder { folder in
      let cache = ["--cache", folder + "/cache", "--storage", storage]
      let away = try await run(
        ["doc", "import", "-", "--server", "127.0.0.1:1"] + cache,
        input: #"{"path": "a/1", "fields": {}}"# + "\n" + #"{"path": "a/2", "fields": {"x": 1}}"#)
      #expect(away.code == 3, "\(away)")
      #expect(away.errors.contains("lines up to 2 are queued: go on with --from-line 3"), "\(away)")
      #expect(
        try await run(["pending"] + cache).output == ["pending d1 2 writes of documents, a/1 first"]
      )
      let server = try await ServerUnderTest(folder: folder)
      #expect(try await run(["pending", "send", "--server", server.address] + cache).code == 0)
      #expect(try await server.fields("a/2") == #"{"x":1}"#)
      let watched = try await run(
        ["doc", "watch", "a/2", "--count", "1", "--server", server.address] + cache)
      #expect(watched.output.first?.hasPrefix(#"value a/2 {"x":1}"#) == true, "\(watched)")
      let plan = try await run(
        ["doc", "query", "a", "--where", "x == 1", "--explain"] + cache)
      #expect(plan.code == 0 && plan.output.first?.contains("documents read") == true, "\(plan)")
      #expect(await server.stop() == 0)
    }
  }
}
