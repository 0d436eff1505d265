import TernCore
import TernDocumentWire
import TernLedger
import TernTreeWire
import Testing

@testable import TernServer

@Suite("databases that belong to other shards")
struct DatabasePlacesTests {
  private static func places() throws -> DatabasePlaces {
    let places = DatabasePlaces()
    #expect(places.holds("games"), "all databases, before a directory is known")
    places.use(ShardDirectoryDouble(try ShardTable([1: ["games", "projects/p/databases/*"]])))
    return places
  }

  @Test("no session of another shard's tree opens here, whatever brought it")
  func trees() throws {
    let bench = try MachineBench(places: try Self.places())
    try bench.run([.opened(slot: 1, isLocal: true)])
    let opening = TreeClientMessage.open(TreeOpening(namespace: "games")).encode()
    try bench.run([.frame(slot: 1, opening)])
    #expect(bench.closed[1] == .invalidNamespace("games"))
    try bench.open(2, namespace: "other")
    _ = try bench.ask(2, bench.put("a", json("1")))
    #expect(try bench.get(2, "a") == json("1"))
  }

  @Test("no call about another shard's documents is decided here")
  func documents() throws {
    let bench = try DocumentBench(places: try Self.places())
    let set = DocumentMutation(try DocumentKey("a/b"), .set(["n": .integer(1)]))
    for (slot, project) in ["p", "q"].enumerated() {
      try bench.link(slot)
      bench.databases[slot] = DocumentDatabase(unchecked: project)
      let answer = try bench.ask(slot, 1, .commit([set], transaction: [], nil))
      // The same commit to a database of this shard is made.
      let isMade = if case .success = answer { true } else { false }
      #expect(isMade == (project == "q") && bench.lastCommits.isEmpty != isMade, "\(answer)")
      if case .failure(let status) = answer { #expect(status.code == .notFound) }
    }
  }
}

/// A directory for decisions, which finds no nodes.
struct ShardDirectoryDouble: ShardDirectory {
  let table: ShardTable
  let own: UInt32 = 0

  init(_ table: ShardTable) { self.table = table }

  func leader(of shard: UInt32) async throws(LedgerError) -> String? { nil }
}
