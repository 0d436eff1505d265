import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import Testing

@testable import TernDocumentAuthority
@testable import TernServer

@Suite("Reads as of an earlier time at a server")
struct DocumentPastTests {
  private func code(_ answer: DocumentAnswer) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  private func write(_ bench: DocumentBench, _ call: UInt32, _ writes: DocumentMutation...) throws {
    _ = try bench.ask(1, call, .commit(writes, transaction: [], nil)).get()
  }

  @Test("a transaction goes on after an idle time; a time of a client's choice is too old")
  func idle() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    bench.now += 100_000_000
    try write(bench, 1, bench.set("c/a", ["n": 1]))
    // A minute in which every database has its turn to forget.
    for _ in 0..<12 {
      bench.uptime += 5_000
      bench.now += 5_000
      try bench.run([.tick, bench.frame(1, .ping)])
    }
    _ = bench.take(1)
    let begun = try bench.ask(1, 2, .begin(.readOnly(nil))).get()
    guard case .transaction(let id)? = begun.first,
      case .document(let first)? = try bench.ask(1, 3, .get("c/a", mask: nil, .now)).get().first
    else {
      Issue.record("no transaction")
      return
    }
    bench.now += 2 * 3_600_000
    try write(bench, 4, bench.set("c/a", ["n": 2]))
    let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    let chosen = DocumentReadPoint.time(first.version)
    #expect(code(try bench.ask(1, 5, .get("c/a", mask: nil, chosen))) == .invalidArgument)
    #expect(code(try bench.ask(1, 6, .query(all, chosen))) == .invalidArgument)
    let found = try bench.ask(1, 7, .query(all, .transaction(id))).get()
    guard case .query(let answer)? = found.first else { return }
    #expect(answer.document?.fields == ["n": 1])
  }

  @Test("rules look up documents of the past once, and in a bounded number of rows")
  func lookups() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try write(bench, 1, bench.set("c/a", ["n": 1]))
    let begun = try bench.ask(1, 2, .get("c/a", mask: nil, .now)).get()
    guard case .document(let first)? = begun.first else { return }
    for call in UInt32(0)..<500 {
      bench.now += 1
      try write(bench, 10 + call, bench.set("c/other", ["n": .integer(Int64(call))]))
    }
    let rows = DocumentRows(prefix: StoreLayout.documents(benchDatabase), database: benchDatabase)
    let authority = DocumentAuthority(rows: rows)
    try bench.ledger.read { snapshot throws(StorageError) in
      let counting = CountingReader(over: snapshot.reader)
      let lookup = DocumentLookup(authority, counting, at: first.version, pastRows: 1_000)
      #expect(lookup.document("c/a").fields == ["n": 1])
      #expect(counting.rows < 50, "that it exists tells when it has changed")
      #expect(!lookup.document("c/missing").isFound)
      let before = counting.rows
      for _ in 0..<10 { _ = lookup.document("c/missing") }
      #expect(counting.rows == before)
      #expect(!lookup.isTooOld)
      for number in 0..<10 { _ = lookup.document(DocumentKey(unchecked: "c/missing\(number)")) }
      #expect(lookup.isTooOld)
      #expect(counting.rows < 1_600, "\(counting.rows) rows")
      try lookup.finish()
    }
  }
}
