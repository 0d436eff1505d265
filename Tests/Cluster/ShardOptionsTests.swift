import TernAssembly
import TernServer
import TernServerAssembly
import TernSharedLedger
import TernStorageMemory
import Testing

@Suite("the table of shards in a configuration")
struct ShardOptionsTests {
  private static func refusal(of section: [String: ConfigurationValue]) -> String? {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(NodeLoopbackPlugin.self)
    catalog.register(SharedLedgerPlugin<MemoryLogPlugin>.self)
    var configuration = Configuration(
      storage: ["kind": "memory"], transport: ["kind": "node-loopback", "address": "options"])
    let whole: [String: ConfigurationValue] = [
      "kind": "shared", "log": "memory:1/options", "address": "a:1", "secretFile": "-",
    ]
    configuration.ledger = .object(whole.merging(section) { $1 })
    do throws(ConfigurationError) {
      try Assembler(catalog: catalog).checkServer(configuration)
    } catch {
      return error.description
    }
    return nil
  }

  @Test("a node of a cluster reads links whose first message is awaited, or does not begin")
  func inbox() async throws {
    var options = ServerOptions()
    options.limits.inboxBytes = ServerLimits.leastSharedInboxBytes - 1
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(NodeLoopbackPlugin.self)
    catalog.register(SharedLedgerPlugin<MemoryLogPlugin>.self)
    let assembler = Assembler(catalog: catalog)
    var configuration = Configuration(
      storage: ["kind": "memory"], transport: ["kind": "node-loopback", "address": "inbox"])
    // A server without other nodes may have any.
    try await assembler.server(from: configuration, options: options).stop()
    configuration.ledger = ["kind": "shared", "log": "memory:1/inbox", "address": "a:1"]
    do throws(ServerAssemblyError) {
      try await assembler.server(from: configuration, options: options).stop()
      Issue.record("assembled")
    } catch {
      guard case .parts(.configuration(.refused("limits", let reason))) = error else {
        Issue.record(error)
        return
      }
      #expect(reason.contains("inboxBytes is 8388607") && reason.contains("8388608"), "\(reason)")
    }
  }

  @Test("a node of a shard that the table names, or of shard 0")
  func good() {
    let table: ConfigurationValue = ["1": ["games", "tenant-*"], "7": ["projects/p/databases/d"]]
    for shard: Int64 in [0, 1, 7] {
      #expect(Self.refusal(of: ["shard": .integer(shard), "shards": table]) == nil)
    }
    // Without a table a shard is a cluster by itself.
    #expect(Self.refusal(of: ["shard": 5]) == nil)
    #expect(Self.refusal(of: ["shards": [:]]) == nil)
  }

  @Test(
    "a table that two nodes could read differently, or no node serve, is refused by name",
    arguments: [
      (["shard": 2, "shards": ["1": ["games"]]], "no database belongs to shard 2"),
      (["shards": ["one": ["games"]]], "\"one\" is no number of a shard"),
      (["shards": ["1": ["games"], "2": ["games"]]], "\"games\" is named twice"),
      (["shards": ["1": ["a*b"]]], "\"a*b\" is no name"),
      (["shards": ["1": ["*"]]], "\"*\" is no name"),
      (["shards": ["1": ["games"]], "followers": "relay"], "followers that serve"),
      (["shards": ["1": ["games"]], "secretFile": .null], "give them a secretFile"),
    ] as [([String: ConfigurationValue], String)])
  func bad(section: [String: ConfigurationValue], words: String) throws {
    let refusal = try #require(Self.refusal(of: section))
    #expect(refusal.contains(words), "\(refusal)")
  }
}
