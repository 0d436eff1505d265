import TernLedger
import Testing

@Suite("shards by the names of databases")
struct ShardTableTests {
  @Test("a whole name goes before a beginning, a longer beginning before a shorter one")
  func order() throws {
    let table = try ShardTable([
      1: ["games", "tenant-*", "projects/p/databases/*"], 2: ["tenant-a*", "tenant-abc"],
      3: ["tenant-abc*", "projects/p/databases/d"],
    ])
    let cases: [(String, UInt32)] = [
      ("games", 1), ("games2", 0), ("game", 0), ("tenant-", 1), ("tenant-b", 1), ("tenant-a", 2),
      ("tenant-abc", 2), ("tenant-abcd", 3), ("projects/p/databases/(default)", 1),
      ("projects/p/databases/d", 3), ("projects/q/databases/d", 0), ("", 0), ("default", 0),
    ]
    for (name, shard) in cases { #expect(table.shard(of: name) == shard, "\(name)") }
    #expect(table.shards == [0, 1, 2, 3])
    #expect(!table.isEmpty && ShardTable().isEmpty && ShardTable().shards == [0])
  }

  @Test("names are told apart by their bytes")
  func bytes() throws {
    let table = try ShardTable([1: ["\u{e9}"], 2: ["e\u{301}"]])
    #expect(table.shard(of: "\u{e9}") == 1 && table.shard(of: "e\u{301}") == 2)
  }

  @Test("what names no databases, or one of them twice, makes no table")
  func mistakes() {
    for entry in ["", "*", "a*b", "**"] {
      #expect(throws: ShardTableError.malformed(entry)) { try ShardTable([1: [entry]]) }
    }
    #expect(throws: ShardTableError.repeated("a")) { try ShardTable([1: ["a"], 2: ["a"]]) }
    #expect(throws: ShardTableError.repeated("a*")) { try ShardTable([1: ["a*", "b", "a*"]]) }
    let many = (0...ShardTable.mostEntries).map { "n\($0)" }
    #expect(throws: ShardTableError.tooMany(limit: ShardTable.mostEntries)) {
      try ShardTable([1: many])
    }
  }
}
