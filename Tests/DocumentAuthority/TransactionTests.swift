import TernTestKit
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery

@Suite("transactions under way on a server")
struct TransactionTests {
  private func code<Success>(_ result: Result<Success, DocumentStatus>) -> DocumentStatus.Code? {
    guard case .failure(let status) = result else { return nil }
    return status.code
  }

  @Test("a transaction ends with its commit, by rollback, or when it takes too long")
  func endings() throws {
    var dice = SeededGenerator(seed: 1)
    var table = DocumentTransactions()
    func begin(_ table: inout DocumentTransactions, at uptime: Int64) throws -> [UInt8] {
      try table.begin(.readWrite, uptime: uptime) { dice.next() }.get()
    }
    let first = try begin(&table, at: 0)
    let second = try begin(&table, at: 0)
    #expect(first != second)
    #expect(table.note([Document("c/a", .missing)], in: first) == nil)
    #expect(try table.finish(first, uptime: 10).get()?.count == 1)
    table.noteCommit(first)
    #expect(code(table.finish(first, uptime: 10)) == .aborted)
    #expect(table.rollback(first)?.code == .aborted)
    #expect(table.rollback(second) == nil)
    #expect(table.rollback(second) == nil)
    #expect(code(table.use(second, uptime: 10)) == .aborted)
    // Ids of an earlier run have ended; other bytes never were one.
    var next = DocumentTransactions()
    #expect(code(next.use(second, uptime: 10)) == .aborted)
    #expect(code(next.use([1, 2, 3], uptime: 10)) == .invalidArgument)
    #expect(next.rollback(Array(second.reversed()))?.code == .invalidArgument)
    #expect(DocumentTransactions.checkRetried(first) == nil)
    let only = try table.begin(.readOnly(at: .none), uptime: 0) { dice.next() }.get()
    #expect(DocumentTransactions.checkRetried(only)?.code == .invalidArgument)
    #expect(table.rollback(only) == nil)

    let idle = try begin(&table, at: 0)
    #expect(code(table.use(idle, uptime: 60_000)) == nil)
    #expect(code(table.use(idle, uptime: 120_001)) == .aborted)
    let long = try begin(&table, at: 0)
    for uptime in stride(from: Int64(0), through: 270_000, by: 30_000) {
      #expect(code(table.use(long, uptime: uptime)) == nil)
    }
    #expect(code(table.finish(long, uptime: 270_001)) == .aborted)
    #expect(table.count == 0)
  }

  @Test("there are only so many, and they read only so much")
  func limits() throws {
    var limits = DocumentTransactionLimits()
    limits.open = 2
    limits.reads = 2
    var dice = SeededGenerator(seed: 1)
    var table = DocumentTransactions(limits: limits)
    let first = try table.begin(.readWrite, uptime: 0) { dice.next() }.get()
    let only = try table.begin(.readOnly(at: .none), uptime: 0) { dice.next() }.get()
    #expect(code(table.begin(.readWrite, uptime: 1) { dice.next() }) == .resourceExhausted)
    let documents = ["c/a", "c/b", "c/c"].map { Document(DocumentKey(unchecked: $0), .missing) }
    #expect(table.note(documents, in: first)?.code == .resourceExhausted)
    #expect(table.note(documents, in: only) == nil)
    #expect(try table.finish(only, uptime: 1).get() == nil)
    #expect(table.count == 0)
    // Those that took too long make room.
    _ = table.begin(.readWrite, uptime: 0) { dice.next() }
    _ = table.begin(.readWrite, uptime: 0) { dice.next() }
    #expect(code(table.begin(.readWrite, uptime: 100_000) { dice.next() }) == nil)
  }

  @Test("a batch writes each document once")
  func batches() throws {
    let twice = [set("c/a", [:]), DocumentMutation.delete("c/a")]
    #expect(throws: DocumentStatus.self) { try DocumentAuthority.checkBatch(twice) }
    #expect(throws: DocumentStatus.self) {
      try DocumentAuthority.checkBatch([.verify("c/a", is: .none)])
    }
    try DocumentAuthority.checkBatch([set("c/a", [:]), .delete("c/b")])
  }

  @Test("the time of readings is that of the last commit, whatever the clock on the wall says")
  func clock() throws {
    let store = try AuthorityStore()
    var clock = DocumentClock()
    #expect(clock.reading.microseconds == 1)
    let first = try store.write([set("c/a", [:])]).version
    clock.note(first)
    #expect(clock.reading == first)
    store.now -= 1_000_000
    clock.note(try store.write([set("c/b", [:])]).version)
    #expect(clock.reading.microseconds == first.microseconds + 1)
    clock.note(first)
    #expect(clock.reading.microseconds == first.microseconds + 1)
  }

  @Test("a commit that changes nothing has the time of the last one that did")
  func unchanged() throws {
    let store = try AuthorityStore()
    #expect(try store.write([.delete("c/a")]).version.microseconds == 1)
    let last = try store.write([set("c/a", [:])]).version
    #expect(try store.write([.delete("c/b")]).version == last)
    #expect(try store.write([set("c/a", [:])]).version == last)
  }
}
