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
    let key = try DocumentKey("a/b")
    let database = DocumentDatabase(unchecked: "p")
    let commit = DocumentRequest(
      .commit([.delete(key)], transaction: [], nil), in: database
    ).encode()
    try bench.run([
      .opened(slot: 1, isLocal: true),
      .frame(
        slot: 1,
        DocumentClientFrame.open(stream: 1, DocumentCallOpening(.commit, message: commit)).encode()),
    ])
    #expect(bench.lastCommits.isEmpty)
  }
}

/// A directory for decisions, which finds no nodes.
struct ShardDirectoryDouble: ShardDirectory {
  let table: ShardTable
  let own: UInt32 = 0

  init(_ table: ShardTable) { self.table = table }

  func leader(of shard: UInt32) async throws(LedgerError) -> String? { nil }
}
