import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernQuery
import TernTransport
import Testing

@testable import TernServer

/// Tests the charges of targets of queries with limits and offsets, and what their ends release.
@Suite("Memory of watched queries")
struct ListenChargeTests {
  private func bench(_ addressBytes: Int = 16 << 20) throws -> DocumentBench {
    var options = ServerOptions()
    options.limits.memoryBytes = 64 << 20
    options.limits.memoryBytesPerAddress = addressBytes
    let bench = try DocumentBench(options: options)
    try bench.link(1)
    try bench.link(2)
    return bench
  }

  private func fill(_ bench: DocumentBench, _ call: UInt32, _ numbers: Range<Int64>) throws {
    let writes = numbers.map {
      bench.set(DocumentKey(unchecked: "c/\(10_000 + $0)"), ["n": .integer($0)])
    }
    _ = try bench.ask(2, call, .commit(writes, transaction: [], nil)).get()
  }

  private func charged(_ bench: DocumentBench) -> Int { bench.budget.usedBytes(for: .listens) }

  private func query() throws -> DocumentQuery {
    try .collection(CollectionPath("c")).ordered(by: "n")
  }

  @Test("the documents that an offset skips are charged, also when a client resumes")
  func offset() throws {
    let bench = try bench()
    for part in 0..<5 {
      try fill(bench, UInt32(part + 1), Int64(part * 100)..<Int64(part * 100 + 100))
    }
    let query = try query().skipping(450).first(1)
    let changes = try bench.listen(1, 1, WatchTarget(id: 2, subject: .query(query.target)))
    #expect(charged(bench) >= 451 * 512)
    let tokens = changes.compactMap { change in
      if case .target(let target) = change { target.resumeToken } else { nil }
    }
    let token = try #require(tokens.last { !$0.isEmpty })
    try bench.send(1, .cancel(stream: 1))
    #expect(charged(bench) < 10_000)
    let resumed = WatchTarget(id: 2, subject: .query(query.target), resume: .token(token))
    _ = try bench.listen(1, 2, resumed)
    #expect(charged(bench) >= 451 * 512)
    let far = WatchTarget(id: 4, subject: .query(try self.query().skipping(10_001).first(1).target))
    try bench.say(1, 2, .listen(.add(far)))
    #expect(bench.changes(1, 2).map(\.brief) == ["refuse [4] invalidArgument"])
  }

  @Test("a target that is refused as too large is charged no longer")
  func refused() throws {
    let bench = try bench(512 << 20)
    let text = DocumentValue.string(String(repeating: "x", count: 600_000))
    for number in 0..<115 {
      let write = bench.set(DocumentKey(unchecked: "c/\(number)"), ["t": text])
      _ = try bench.ask(2, UInt32(number + 1), .commit([write], transaction: [], nil)).get()
    }
    let far = WatchTarget(id: 4, subject: .query(try query().skipping(10_001).first(1).target))
    _ = try bench.listen(1, 1, far)
    let before = charged(bench)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    try bench.say(1, 1, .listen(.add(WatchTarget(id: 2, subject: .query(all.target)))))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [2] resourceExhausted"])
    #expect(charged(bench) == before)
  }

  @Test("a window that grows is charged, and ends where its client may hold no more")
  func growth() throws {
    let query = try query().first(1_000)
    let bench = try bench()
    _ = try bench.listen(1, 1, WatchTarget(id: 2, subject: .query(query.target)))
    let before = charged(bench)
    #expect(before < 20_000)
    for part in 0..<3 {
      try fill(bench, UInt32(part + 1), Int64(part * 100)..<Int64(part * 100 + 100))
    }
    #expect(charged(bench) >= before + 300 * 512)
    try bench.say(1, 1, .listen(.remove(2)))
    #expect(charged(bench) < before)

    let narrow = try self.bench(600_000)
    _ = try narrow.listen(1, 1, WatchTarget(id: 2, subject: .query(query.target)))
    var told: [String] = []
    for part in 0..<15 {
      try fill(narrow, UInt32(part + 1), Int64(part * 100)..<Int64(part * 100 + 100))
      told += narrow.changes(1, 1).map(\.brief)
    }
    #expect(told.contains("refuse [2] resourceExhausted"))
    #expect(charged(narrow) <= 600_000)
  }

  @Test("few rows are read when documents of a far window go one after the other")
  func refilling() throws {
    let bench = try bench()
    for part in 0..<10 {
      try fill(bench, UInt32(part + 1), Int64(part * 100)..<Int64(part * 100 + 100))
    }
    let query = try query().skipping(400).first(1)
    _ = try bench.listen(1, 1, WatchTarget(id: 2, subject: .query(query.target)))
    _ = bench.take(1)
    for number in 0..<300 {
      let delete = DocumentMutation.delete(DocumentKey(unchecked: "c/\(10_000 + number)"))
      _ = try bench.ask(2, UInt32(100 + number), .commit([delete], transaction: [], nil)).get()
      #expect(bench.changes(1, 1).contains { $0.brief == "c/\(10_401 + number) [2]" })
    }
  }

  @Test("a target that cannot be read ends the one that is watched under its id")
  func unreadable() throws {
    let bench = try bench()
    _ = try bench.listen(1, 1, WatchTarget(id: 5, subject: .query(try query().target)))
    #expect(charged(bench) > 0)
    let bad = DocumentQuery.collection(CollectionPath(unchecked: "__bad__"))
    try bench.say(1, 1, .listen(.add(WatchTarget(id: 5, subject: .query(bad.target)))))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [5] invalidArgument"])
    try fill(bench, 1, 0..<1)
    #expect(bench.changes(1, 1).isEmpty)
    let watch = bench.machine.documents.registry.known(benchDatabase)?.watch
    #expect(watch?.groupCount == 0)
  }

  @Test("an id that the server chooses is none that is in use")
  func chosenIDs() throws {
    let bench = try bench()
    let query = try query()
    _ = try bench.listen(
      1, 1, WatchTarget(id: 1, subject: .query(query.target)),
      WatchTarget(id: 2, subject: .documents(["c/a"])))
    let before = charged(bench)
    try bench.say(1, 1, .listen(.add(WatchTarget(id: 0, subject: .documents(["c/b"])))))
    #expect(bench.changes(1, 1).first?.brief == "add [3]")
    #expect(charged(bench) > before)
  }
}
