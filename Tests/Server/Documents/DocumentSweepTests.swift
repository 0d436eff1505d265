import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorage
import Testing

@testable import TernDocumentAuthority
@testable import TernServer

@Suite("Forgetting what documents were")
struct DocumentSweepTests {
  private func changeCount(_ bench: DocumentBench) throws -> Int {
    let prefix = StoreLayout.documents(benchDatabase) + [DocumentRows.Kind.change.rawValue]
    return try bench.ledger.read { snapshot throws(StorageError) in
      let reader = snapshot.reader
      return try Snapshot(reader).scan(KeyRange(prefix: prefix)).count
    }
  }

  private func write(_ bench: DocumentBench, _ call: UInt32, _ collections: Range<Int>) throws {
    let writes = collections.map { number in
      bench.set(DocumentKey(unchecked: "c\(number)/a"), ["n": .integer(Int64(call))])
    }
    _ = try bench.ask(1, call, .commit(writes, transaction: [], nil)).get()
  }

  @Test("1,000 collections that are written every minute are swept as fast as they are written")
  func manyCollections() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    var counts: [Int] = []
    // An hour and a half, in which each collection is written once in five minutes.
    for minute in UInt32(0)..<90 {
      let part = Int(minute % 5) * 200
      try write(bench, minute + 1, part..<part + 200)
      for _ in 0..<12 {
        bench.uptime += 5_000
        bench.now += 5_000
        try bench.run([.tick, bench.frame(1, .ping)])
      }
      _ = bench.take(1)
      if minute % 10 == 9 { counts.append(try changeCount(bench)) }
    }
    // What an hour has changed, and what is not yet looked at.
    #expect(counts.last ?? 0 >= 12_000)
    #expect(counts.suffix(3).allSatisfy { $0 <= 13_000 }, "\(counts)")
  }

  @Test("a go takes more steps where there are more collections, up to a limit")
  func steps() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    func steps() throws -> Int {
      let rows = DocumentRows(
        prefix: StoreLayout.documents(benchDatabase), database: benchDatabase)
      let authority = DocumentAuthority(rows: rows)
      return try bench.ledger.read { snapshot throws(StorageError) in
        try authority.sweepSteps(in: snapshot.reader)
      }
    }
    #expect(try steps() == DocumentSweepLimits.leastSteps)
    try write(bench, 1, 0..<1_000)
    #expect(try steps() == 125)
    for part in 1..<6 { try write(bench, UInt32(part + 1), part * 1_000..<(part + 1) * 1_000) }
    #expect(try steps() == DocumentSweepLimits.mostSteps)
  }

  @Test("every database has its turn within a minute")
  func databases() throws {
    let bench = try DocumentBench()
    for slot in 1...40 {
      try bench.link(slot)
      bench.databases[slot] = try DocumentDatabase(projectID: "p\(slot)")
      _ = try bench.ask(slot, 1, .commit([bench.set("c/a", [:])], transaction: [], nil)).get()
      bench.now += 1
    }
    bench.now += 2 * 3_600_000
    for slot in 1...40 {
      _ = try bench.ask(slot, 2, .commit([bench.set("c/a", ["n": 1])], transaction: [], nil)).get()
    }
    func rows() throws -> Int {
      try bench.ledger.read { snapshot throws(StorageError) in
        let reader = snapshot.reader
        return try Snapshot(reader).scan(KeyRange(prefix: [0x28])).count {
          $0.key.dropFirst($0.key.firstIndex(of: 0).map { $0 + 1 } ?? 0).first == 7
        }
      }
    }
    #expect(try rows() == 80)
    for _ in 0..<12 {
      bench.uptime += 5_000
      try bench.run([.tick])
    }
    #expect(try rows() == 40)
  }
}
