import Foundation
import TernClient
import TernCore
import TernPostgresTesting
import Testing

@testable import tern

/// Clients of nodes whose databases belong to several shards.
@Suite(
  "nodes of several shards", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ClusterShardTests {
  private static let table =
    #"{"1": ["games", "cases", "projects/cases/databases/(default)"]}"#

  @Test("the wrong node serves the commands and REST of databases of another shard")
  func commands() async throws {
    try await withShards([Self.table, Self.table]) { cluster in
      let (wrong, right) = (address(0, cluster), address(1, cluster))
      let at = ["--ns", "games", "--server"]
      let set = try await run(["set", "rooms/1", #""Hi""#] + at + [wrong])
      #expect(set.code == 0, "\(set)")
      #expect(try await run(["get", "rooms/1"] + at + [right]).output == [#""Hi""#])
      #expect(try await run(["get", "rooms/1"] + at + [wrong]).output == [#""Hi""#])
      let put = await cluster.ask("PUT", "/rooms/2.json?ns=games", #"{"n": 2}"#, at: 0)
      #expect(put?.status == 200, "\(put as Any)")
      for node in [0, 1] {
        let read = await cluster.ask("GET", "/rooms.json?ns=games", at: node)
        #expect(read?.body.contains(#""n":2"#) == true, "\(read as Any)")
        let other = await cluster.ask("GET", "/rooms.json", at: node)
        #expect(other?.status == 200 && other?.body.hasPrefix("null") == true, "\(other as Any)")
      }
      // What is deleted at the wrong node is deleted.
      #expect(await cluster.ask("DELETE", "/rooms/2.json?ns=games", at: 0)?.status == 200)
      let gone = await cluster.ask("GET", "/rooms/2.json?ns=games", at: 1)
      #expect(gone?.body.hasPrefix("null") == true, "\(gone as Any)")
    }
  }

  @Test("databases of both models are deleted at the node of another shard")
  func deletion() async throws {
    try await withShards([Self.table, Self.table]) { cluster in
      let at = ["--server", address(0, cluster)]
      #expect(await cluster.ask("PUT", "/a.json?ns=games", "1", at: 1)?.status == 200)
      let name = "projects/cases/databases/(default)"
      let document = "/v1/\(name)/documents/c/a"
      let body = #"{"fields": {"n": {"integerValue": "1"}}}"#
      #expect(await cluster.ask("PATCH", document, body, at: 1)?.status == 200)
      for database in ["games", name] {
        let deleted = try await run(["databases", "delete", database, "--yes"] + at)
        #expect(deleted.code == 0, "\(deleted)")
      }
      for node in [0, 1] {
        let gone = await cluster.ask("GET", "/a.json?ns=games", at: node)
        #expect(gone?.body.hasPrefix("null") == true, "\(gone as Any)")
        #expect(await cluster.ask("GET", document, at: node)?.status == 404)
      }
    }
  }

  @Test("the status of a cluster tells all shards of its table, or one")
  func status() async throws {
    try await withShards([Self.table, Self.table]) { cluster in
      let file = cluster.configurationFile(of: 1)
      let all = try await run(["cluster", "status", "--config", file])
      #expect(all.code == 0, "\(all)")
      #expect(all.output.filter { $0.hasPrefix("shard ") } == ["shard 0", "shard 1"])
      let leaders = all.output.filter { $0.hasPrefix("leader: ") }
      #expect(leaders.count == 2 && leaders[0].contains(address(0, cluster)), "\(leaders)")
      let one = try await run(["cluster", "status", "--config", file, "--shard", "1", "--json"])
      #expect(one.output.first?.contains(#""shard":1,"leader":"\#(address(1, cluster))""#) == true)
    }
  }

  @Test("a large node is read and streamed whole at the wrong node")
  func large() async throws {
    try await withShards([Self.table, Self.table]) { cluster in
      let text = String(repeating: "x", count: 1 << 20)
      let body = #"{"a": "\#(text)", "b": "\#(text)"}"#
      let put = await cluster.ask("PUT", "/big.json?ns=games&print=silent", body, at: 0)
      #expect(put?.status == 204, "\(put?.status as Any)")
      let read = await cluster.ask("GET", "/big.json?ns=games", at: 0)
      #expect(read?.status == 200 && (read?.body.utf8.count ?? 0) > 2 << 20)
      // More than one answer may have, as at the node of the data.
      for part in 0..<33 {
        let put = await cluster.ask("PUT", "/huge/\(part).json?ns=games&print=silent", body, at: 1)
        #expect(put?.status == 204)
      }
      let wrong = await cluster.ask("GET", "/huge.json?ns=games", at: 0)
      let right = await cluster.ask("GET", "/huge.json?ns=games", at: 1)
      #expect(wrong?.status == 200 && (wrong?.body.utf8.count ?? 0) > 66 << 20)
      #expect(wrong?.body == right?.body)
      let streamed = try await Self.streamed("/big.json?ns=games", 2 << 20, cluster.port(of: 0))
      #expect(streamed.contains("event: put") && streamed.utf8.count > 2 << 20)
    }
  }

  /// Returns the beginning of an event stream, of so many bytes at least. Blocks a thread.
  private static func streamed(_ target: String, _ count: Int, _ port: Int) async throws -> String {
    let socket = try LocalSocket(connectingTo: UInt16(port))
    defer { socket.close() }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    unsafe setsockopt(
      socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
    socket.write(Array(head.utf8)[...])
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        while bytes.count <= count, case let more = socket.read(), !more.isEmpty { bytes += more }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  @Test("nodes whose tables differ refuse each other's clients, and pass nothing on for ever")
  func differentTables() async throws {
    try await withShards([#"{"1": ["games"]}"#, #"{"1": ["other"]}"#]) { cluster in
      let answer = await cluster.ask("GET", "/a.json?ns=games", at: 0)
      #expect(answer?.status == 503, "\(answer as Any)")
      #expect(answer?.body.contains("belongs to shard 0") == true, "\(answer as Any)")
      let at = ["--ns", "games", "--server", address(0, cluster)]
      let get = try await run(["get", "a", "--timeout", "3s"] + at)
      #expect(get.code != 0, "\(get)")
      #expect(await cluster.ask("GET", "/a.json", at: 0)?.status == 200)
    }
  }

  @Test(
    "the clients that Google ships for Python are served by a node of another shard",
    .enabled(if: StockClients.areInstalled, "run Tools/python first"),
    arguments: ["cases.py", "documents.py"])
  func stockClients(script: String) async throws {
    let arguments = StockClients.arguments(of: script)
    try await withShards([Self.table, Self.table], arguments) { cluster in
      try await StockClients.play(script, cluster, at: 0)
    }
  }

  private func address(_ node: Int, _ cluster: ClusterUnderTest) -> String {
    "127.0.0.1:\(cluster.port(of: node))"
  }

  /// Two nodes, of shard 0 and of shard 1.
  private func withShards(
    _ tables: [String], _ arguments: [String] = [], _ body: (ClusterUnderTest) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let cluster = try ClusterUnderTest(folder: folder, shards: tables, leaseSeconds: 10)
      defer { cluster.clean() }
      for index in 0..<2 { try cluster.start(index, arguments: arguments) }
      for index in 0..<2 { try await cluster.awaitFollowing(at: index) }
      try await body(cluster)
    }
  }
}
