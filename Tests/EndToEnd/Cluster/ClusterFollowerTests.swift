import Foundation
import TernClient
import TernCore
import TernPostgresTesting
import Testing

@testable import tern

/// Clients of a node that follows, and serves from its copy.
@Suite(
  "nodes of a cluster that follow and serve", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ClusterFollowerTests {
  @Test("a node that follows serves every command, is ready, and relays nothing")
  func commands() async throws {
    try await withCluster(followers: "serve") { cluster, follower in
      let address = "127.0.0.1:\(cluster.port(of: follower))"
      let set = try await run(["set", "rooms/1", #""Hi""#, "--server", address])
      #expect(set.code == 0, "\(set)")
      #expect(try await run(["get", "rooms/1", "--server", address]).output == [#""Hi""#])
      let other = "127.0.0.1:\(cluster.port(of: 1 - follower))"
      #expect(try await run(["get", "rooms/1", "--server", other]).output == [#""Hi""#])
      let put = await cluster.ask("PUT", "/rooms/2.json", #"{"n": 2}"#, at: follower)
      #expect(put?.status == 200 && put?.body.contains("2") == true, "\(put as Any)")
      let read = await cluster.ask("GET", "/rooms/2/n.json", at: follower)
      #expect(read?.body.hasPrefix("2") == true, "\(read as Any)")
      #expect(await cluster.ask("GET", "/-/readyz", at: follower)?.status == 200)
      let figures = await cluster.ask("GET", "/-/metrics", at: follower)?.body ?? ""
      #expect(figures.contains("tern_ready 1") && figures.contains("tern_cluster_leading 0"))
      #expect(figures.contains(#"tern_relay_connections_total{outcome="relayed"} 0"#))
    }
  }

  @Test("a client of a follower goes on when its node leads, and when another one does")
  func leaderChanges() async throws {
    try await withCluster(followers: "serve") { cluster, follower in
      let client = try await clusterClient(port: cluster.port(of: follower))
      try await client.tree["count"].increment(by: 1).acknowledged()
      let log = ["--ledger", cluster.postgres.connection(schema: "public")]
      let status = try await run(["cluster", "status", "--json"] + log)
      let links = try linksByRole(status.output.first ?? "")
      #expect(links.keys.sorted() == ["follower", "leader"], "\(status)")
      #expect(links.values.allSatisfy { $0 ?? 0 > 0 }, "\(status)")
      // The node that the client is connected to leads itself, then follows again.
      try await cluster.suffer(.stopLeader) {
        try await client.tree["count"].increment(by: 1).acknowledged(within: patience)
      }
      try await cluster.awaitService(at: 1 - follower)
      let moved = try await run(["cluster", "step-down"] + log)
      #expect(moved.output == ["127.0.0.1:\(cluster.port(of: 1 - follower)) leads"], "\(moved)")
      try await client.tree["count"].increment(by: 1).acknowledged(within: patience)
      #expect(try await client.tree["count"].get().number == 3)
      await client.close()
    }
  }

  @Test(
    "the clients that Google ships for Python are served by a node that follows",
    .enabled(if: StockClients.areInstalled, "run Tools/python first"),
    arguments: ["cases.py", "documents.py"])
  func stockClients(script: String) async throws {
    try await StockClients.play(script, followers: "serve")
  }
}

/// The links of the nodes that `tern cluster status --json` has printed, by their roles.
func linksByRole(_ line: String) throws -> [String: Int?] {
  let whole = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
  let nodes = try #require(whole?["nodes"] as? [[String: Any]])
  return Dictionary(
    nodes.map { ($0["role"] as? String ?? "", $0["links"] as? Int) }, uniquingKeysWith: { $1 })
}
