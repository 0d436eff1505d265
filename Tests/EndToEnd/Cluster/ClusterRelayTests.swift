import Foundation
import TernClient
import TernCore
import TernPostgresTesting
import Testing

@testable import tern

/// Clients that know no more of a cluster than the address of a node that stands by.
@Suite(
  "relays in a cluster", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ClusterRelayTests {
  @Test("a node that stands by serves every command, and tells its own state")
  func commands() async throws {
    try await withCluster(followers: "relay") { cluster, standby in
      let address = "127.0.0.1:\(cluster.port(of: standby))"
      #expect(try await run(["set", "rooms/1", #""Hi""#, "--server", address]).code == 0)
      let read = try await run(["get", "rooms/1", "--server", address])
      #expect(read.output == [#""Hi""#], "\(read)")
      let other = "127.0.0.1:\(cluster.port(of: 1 - standby))"
      #expect(try await run(["get", "rooms/1", "--server", other]).output == [#""Hi""#])
      let ready = await cluster.ask("GET", "/-/readyz", at: standby)
      #expect(ready?.status == 503 && ready?.body.contains("stands by") == true, "\(ready as Any)")
      #expect(ready?.body.contains("127.0.0.1") == false, "\(ready as Any)")
      let figures = await cluster.ask("GET", "/-/metrics", at: standby)?.body ?? ""
      #expect(figures.contains("tern_ready 0"))
      #expect(figures.contains(#"tern_relay_connections_total{outcome="relayed"} "#))
      #expect(!figures.contains(#"tern_relay_connections_total{outcome="relayed"} 0"#))
      #expect(figures.contains("tern_relay_upstream 0"))
      #expect(figures.contains(#"tern_relay_upstream_total{outcome="opened"} 0"#))
      let leading = await cluster.ask("GET", "/-/metrics", at: 1 - standby)?.body ?? ""
      #expect(leading.contains("tern_ready 1"))
      #expect(
        leading.contains("tern_cluster_leading 1") && figures.contains("tern_cluster_leading 0"))
      #expect(leading.contains("tern_cluster_terms_total 1"))
      #expect(!leading.contains(#"tern_cluster_appends_total{outcome="appended"} 0"#))
      #expect(!leading.contains(#"tern_relay_connections_total{outcome="accepted"} 0"#))
    }
  }

  @Test("the state of a cluster is told, and its leader hands over when it is asked")
  func steering() async throws {
    try await withCluster(followers: "relay") { cluster, standby in
      let log = ["--ledger", cluster.postgres.connection(schema: "public")]
      let client = try await clusterClient(port: cluster.port(of: standby))
      try await client.tree["count"].increment(by: 1).acknowledged()
      let status = try await run(["cluster", "status", "--json"] + log)
      #expect(status.code == 0, "\(status)")
      let line = try #require(status.output.first)
      let links = try linksByRole(line)
      #expect(links.keys.sorted() == ["leader", "standby"], "\(line)")
      #expect(links["standby"] == 0 && (links["leader"] ?? nil) ?? 0 > 0, "\(line)")
      #expect(line.contains(#""leader":"127.0.0.1:\#(cluster.port(of: 1 - standby))""#), "\(line)")
      let words = try await run(["cluster", "status"] + log)
      #expect(words.output.contains { $0.hasPrefix("NODE") && $0.contains("LINKS") }, "\(words)")
      let moved = try await run(["cluster", "step-down"] + log)
      #expect(moved.output == ["127.0.0.1:\(cluster.port(of: standby)) leads"], "\(moved)")
      try await client.tree["count"].increment(by: 1).acknowledged(within: patience)
      #expect(try await client.tree["count"].get().number == 2)
      await client.close()

      let other = try cluster.process(1 - standby)
      other.stop()
      _ = await other.exitCode(within: patience)
      let refused = try await run(["cluster", "step-down"] + log)
      #expect(refused.code == 4 && refused.errors.contains("no other node"), "\(refused)")
    }
    let unreachable = try await run(
      ["cluster", "status", "--ledger", "host=127.0.0.1 port=1 user=x dbname=x"])
    #expect(unreachable.code == 3, "\(unreachable)")
    #expect(try await run(["cluster"]).code == 2)
  }

  @Test("a client of a standby goes on when its node leads, and when another one does")
  func leaderChanges() async throws {
    try await withCluster(followers: "relay") { cluster, standby in
      let client = try await clusterClient(port: cluster.port(of: standby))
      try await client.tree["count"].increment(by: 1).acknowledged()
      // The node that the client is connected to leads itself, then stands by again.
      try await cluster.suffer(.stopLeader) {
        try await client.tree["count"].increment(by: 1).acknowledged(within: patience)
      }
      try await cluster.awaitService(at: 1 - standby)
      let log = ["--ledger", cluster.postgres.connection(schema: "public")]
      let moved = try await run(["cluster", "step-down"] + log)
      #expect(moved.output == ["127.0.0.1:\(cluster.port(of: 1 - standby)) leads"], "\(moved)")
      try await client.tree["count"].increment(by: 1).acknowledged(within: patience)
      #expect(try await client.tree["count"].get().number == 3)
      await client.close()
    }
  }

  @Test("a client that knows both nodes loses nothing when either is killed")
  func severalAddresses() async throws {
    try await withCluster(followers: "relay", leaseSeconds: 1) { cluster, standby in
      let leader = 1 - standby
      let client = try await clusterClient(
        ports: [cluster.port(of: leader), cluster.port(of: standby)])
      let place = client.tree["count"]
      try await place.increment(by: 1).acknowledged()
      for victim in [leader, standby] {
        let process = try cluster.process(victim)
        let waiting = try await place.increment(by: 1)
        process.killNow()
        _ = await process.exitCode(within: patience)
        try await waiting.acknowledged(within: patience)
        try await place.increment(by: 1).acknowledged(within: patience)
        try cluster.start(victim)
        try await cluster.awaitService(at: victim)
      }
      #expect(try await place.get().number == 5)
      await client.close()
    }
  }

  @Test("secrets that are too short, and nodes without an address, do not start")
  func mistakes() async throws {
    try await withFolder { folder in
      let secret = folder + "/secret"
      try "short\n".write(toFile: secret, atomically: true, encoding: .utf8)
      let flags = ["serve", "--dev", "--storage", "memory", "--ledger", "postgres://127.0.0.1/x"]
      let own = ["--node-address", "127.0.0.1:9000", "--cluster-secret", secret]
      let short = try await run(flags + own)
      #expect(short.code != 0 && short.errors.contains("32 to 4096"), "\(short)")
      let checked = try await run(flags + own + ["--check"])
      #expect(checked.output.contains { $0.hasPrefix("cluster secret: ") && $0.contains("32") })
      let long = String(repeating: "s", count: 32)
      try long.write(toFile: secret, atomically: true, encoding: .utf8)
      let nowhere = try await run(flags + ["--cluster-secret", secret])
      #expect(nowhere.code != 0 && nowhere.errors.contains("--node-address"), "\(nowhere)")
      let odd = try await run(flags + ["--cluster-secret", secret, "--node-address", "db"])
      #expect(odd.code != 0 && odd.errors.contains("--node-address"), "\(odd)")
    }
  }

  @Test(
    "the clients that Google ships for Python are served by a node that relays",
    .enabled(if: StockClients.areInstalled, "run Tools/python first"),
    arguments: ["cases.py", "documents.py"])
  func stockClients(script: String) async throws {
    try await StockClients.play(script, followers: "relay")
  }
}
