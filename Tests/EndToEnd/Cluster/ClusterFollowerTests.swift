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

  @Test("an operator deploys rules, revokes tokens and deletes databases at a node that follows")
  func operators() async throws {
    try await withFolder { keys in
      let (key, rules) = (keys + "/key", keys + "/rules")
      try String(repeating: "secret", count: 8).write(
        toFile: key, atomically: true, encoding: .utf8)
      try #"{"rules": {".read": "auth != null", ".write": "auth != null"}}"#.write(
        toFile: rules, atomically: true, encoding: .utf8)
      let token = try #require(try await run(["auth", "sign", "--key", key, "ada"]).output.first)
      try await withCluster(followers: "serve", ["--auth-keys", key]) { cluster, follower in
        let nodes = [follower, 1 - follower]
        let at = ["--server", "127.0.0.1:\(cluster.port(of: follower))"]
        func status(_ method: String, _ target: String, at node: Int) async -> Int? {
          await cluster.ask(method, target, method == "PUT" ? "1" : "", at: node)?.status
        }
        let deployed = try await run(["rules", "deploy", rules] + at)
        #expect(deployed.code == 0, "\(deployed)")
        for node in nodes {
          #expect(await status("GET", "/a.json", at: node) == 401)
          #expect(await status("PUT", "/a.json?auth=\(token)", at: node) == 200)
        }
        // The leader judges the credential of the operator, whatever the node thinks of it.
        #expect(await status("DELETE", "/-/databases/default?auth=\(token)", at: follower) == 401)
        #expect(await status("GET", "/a.json?auth=\(token)", at: follower) == 200)
        let revoked = try await run(["auth", "revoke", "ada"] + at)
        #expect(revoked.code == 0, "\(revoked)")
        for node in nodes {
          #expect(await status("GET", "/a.json?auth=\(token)", at: node) == 401)
        }
        let deleted = try await run(["databases", "delete", "default", "--yes"] + at)
        #expect(deleted.code == 0, "\(deleted)")
        for node in nodes {
          // Its own rules are gone with it.
          let read = await cluster.ask("GET", "/a.json", at: node)
          #expect(read?.status == 200 && read?.body.hasPrefix("null") == true, "\(read as Any)")
        }
      }
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
