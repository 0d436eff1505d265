import Synchronization
import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

/// A clock that tests set.
final class ManualClock: Sendable {
  private let time = Mutex<Int64>(1_000)
  var now: Int64 { time.withLock { $0 } }
  func advance(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

struct EmbeddedLedgerTests {
  let store = MemoryStore()
  let clock = ManualClock()

  func open(_ options: LedgerOptions = LedgerOptions()) throws -> EmbeddedLedger {
    try EmbeddedLedger(store: store, options: options) { [clock] in clock.now }
  }

  func put(_ key: String, _ value: UInt8, _ claim: IdempotencyKey? = nil) -> Commit {
    Commit(
      claim: claim, mutations: [.put(key: Array(key.utf8), value: [value])], record: [value],
      outcome: [value, value])
  }

  func claim(_ sequence: UInt64, hash: UInt64 = 7, known: UInt64 = 0) -> IdempotencyKey {
    IdempotencyKey(
      id: CommitID(stream: 42, sequence: sequence), payloadHash: hash, acknowledged: known)
  }

  func value(of key: String, in ledger: EmbeddedLedger) throws -> [UInt8]? {
    try ledger.read { snapshot throws(StorageError) in try snapshot.get(Array(key.utf8)) }
  }

  @Test("versions count commits, across a restart too")
  func versions() throws {
    var ledger = try open()
    #expect(try ledger.commit([put("a", 1), put("b", 2)]) == [.committed(1), .committed(2)])
    ledger = try open()
    #expect(try ledger.read { snapshot throws(StorageError) in snapshot.version } == 2)
    #expect(try ledger.commit([put("a", 3)]) == [.committed(3)])
    #expect(try value(of: "a", in: ledger) == [3])
    let log = try ledger.log(after: 0, limit: 10)
    #expect(log.map(\.version) == [1, 2, 3])
    #expect(log.map(\.record) == [[1], [2], [3]])
    #expect(try ledger.log(after: 1, limit: 1).map(\.version) == [2])
    #expect(try ledger.log(after: 3, limit: 1).isEmpty)
  }

  @Test("a write is applied once however often it is sent")
  func exactlyOnce() throws {
    let ledger = try open()
    let first = put("a", 1, claim(1))
    #expect(try ledger.commit([first, first]) == [.committed(1), .duplicate(1, outcome: [1, 1])])
    #expect(try ledger.commit([put("a", 9)]) == [.committed(2)])
    #expect(try open().commit([first]) == [.duplicate(1, outcome: [1, 1])])
    #expect(try value(of: "a", in: ledger) == [9])
    #expect(try ledger.commit([put("a", 1, claim(1, hash: 8))]) == [.mismatch])
    #expect(try ledger.commit([put("a", 1, claim(3))]) == [.gap(expected: 2)])
  }

  @Test("a rejection is an outcome and takes no version")
  func rejection() throws {
    let ledger = try open()
    let denied = Commit(claim: claim(1), mutations: [], record: [], outcome: [0xD])
    #expect(try ledger.commit([denied]) == [.committed(0)])
    #expect(try open().commit([denied]) == [.duplicate(0, outcome: [0xD])])
    #expect(try ledger.log(after: 0, limit: 9).isEmpty)
  }

  @Test("outcomes the writer knows are forgotten")
  func acknowledged() throws {
    let ledger = try open()
    _ = try ledger.commit((1...5).map { put("a", UInt8($0), claim($0)) })
    #expect(try ledger.commit([put("a", 6, claim(6, known: 4))]) == [.committed(6)])
    #expect(try ledger.commit([put("a", 4, claim(4))]) == [.forgotten])
    #expect(try ledger.commit([put("a", 5, claim(5))]) == [.duplicate(5, outcome: [5, 5])])
    let state = try ledger.read { snapshot throws(StorageError) in try snapshot.stream(42) }
    #expect(state?.last == 6)
    #expect(state?.outcomes.count == 2)
  }

  @Test("a stream that was lost goes on where its writer knows it stood")
  func lostStream() throws {
    let ledger = try open()
    #expect(try ledger.commit([put("a", 1, claim(57, known: 55))]) == [.gap(expected: 56)])
    #expect(try ledger.commit([put("a", 1, claim(57, known: 56))]) == [.committed(1)])
    #expect(try ledger.commit([put("a", 2, claim(58, known: 56))]) == [.committed(2)])
  }

  @Test("silent streams expire, busy ones stay")
  func expiry() throws {
    let ledger = try open(LedgerOptions(streamLifetime: .seconds(60)))
    _ = try ledger.commit([put("a", 1, claim(1))])
    clock.advance(by: 60_000)
    try ledger.maintain()
    clock.advance(by: 1_000)
    let other = IdempotencyKey(id: CommitID(stream: 7, sequence: 1), payloadHash: 1)
    _ = try ledger.commit([put("a", 1, other)])
    _ = try ledger.commit((0..<1_100).map { put("b", UInt8(truncatingIfNeeded: $0)) })
    try ledger.read { snapshot throws(StorageError) in
      #expect(try snapshot.stream(42) == nil)
      #expect(try snapshot.stream(7) != nil)
    }
  }

  @Test("a clock that jumps years ahead makes no writer forgotten")
  func clockJump() throws {
    let ledger = try open()
    let many = (0..<1_100).map { put("b", UInt8(truncatingIfNeeded: $0)) }
    _ = try ledger.commit([put("a", 1, claim(1))])
    _ = try ledger.commit(many)
    clock.advance(by: 56 * 365 * 86_400_000)
    _ = try ledger.commit(many)
    #expect(
      try ledger.commit([put("a", 9, claim(1))]) == [.duplicate(1, outcome: [1, 1])])
    #expect(try ledger.commit([put("a", 2, claim(2))]).count == 1)
    #expect(try value(of: "a", in: ledger) == [2])
  }

  @Test("reads are validated, preconditions are checked")
  func validation() throws {
    let ledger = try open()
    _ = try ledger.commit([put("a", 1), put("b", 1)])
    var commit = put("c", 1)
    commit.reads = [KeyRange(only: Array("a".utf8))]
    commit.readVersion = 1
    #expect(try ledger.commit([commit]) == [.committed(3)])
    commit.readVersion = 0
    #expect(try ledger.commit([commit]) == [.conflict])
    commit.reads = []
    commit.preconditions = [.exists(Array("a".utf8)), .absent(Array("z".utf8))]
    #expect(try ledger.commit([commit]) == [.committed(4)])
    commit.preconditions = [.equals(key: Array("a".utf8), value: [2])]
    #expect(try ledger.commit([commit]) == [.failedPrecondition])
  }

  @Test("what a large commit changed is remembered in one range, without what it wrote")
  func largeCommit() throws {
    let ledger = try open()
    let keys = (0..<2_000).map { Array("m\(10_000 + $0)".utf8) }
    let puts = keys.map { Mutation.put(key: $0, value: [1]) }
    _ = try ledger.commit([
      Commit(mutations: puts + [.remove(KeyRange(prefix: Array("b".utf8)))], record: [1])
    ])
    for (key, hasConflict) in [
      ("a", false), ("b7", true), ("m10000", true), ("m11999", true), ("m11999x", false),
      ("z", false),
    ] {
      var commit = put("out", 1)
      commit.reads = [KeyRange(only: Array(key.utf8))]
      commit.readVersion = 0
      #expect((try ledger.commit([commit]) == [.conflict]) == hasConflict, "\(key)")
    }
  }

  @Test("the log is cut at its limit and says so")
  func truncation() throws {
    let ledger = try open(LedgerOptions(logLimit: 8))
    for value in UInt8(1)...30 { _ = try ledger.commit([put("a", value)]) }
    #expect(throws: LedgerError.self) { try ledger.log(after: 0, limit: 1) }
    let kept = try ledger.log(after: 22, limit: 100)
    #expect(kept.map(\.version) == Array(23...30))
    #expect(try open().commit([put("a", 1)]) == [.committed(31)])
  }

  @Test("a record longer than a row of the log comes back whole")
  func longRecord() throws {
    let ledger = try open()
    let record = (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    _ = try ledger.commit([Commit(mutations: [], record: record), put("a", 1)])
    #expect(try ledger.log(after: 0, limit: 5).map(\.record) == [record, [1]])
    let next = try open()
    #expect(try next.commit([put("a", 1)]) == [.committed(3)])
    // Around the very length of a row: a count, a mark, a length of four bytes, and the record.
    for (index, more) in (-1...1).enumerated() {
      let record = [UInt8](repeating: 7, count: LedgerLimits.logRowBytes - 6 + more)
      _ = try next.commit([Commit(mutations: [], record: record)])
      let entry = try next.log(after: UInt64(3 + index), limit: 1).first
      #expect(entry?.record == record, "\(more)")
    }
  }

  @Test("a store of something else is refused")
  func foreign() throws {
    try store.write { transaction throws(StorageError) in
      try transaction.put([1], for: Array("x".utf8))
    }
    #expect(throws: LedgerError.foreignStore) { try open() }
  }

  @Test("waiting ends with the next commit")
  func waiting() async throws {
    let ledger = try open()
    async let waiting: Void = ledger.waitForCommit(after: 0)
    _ = try ledger.commit([put("a", 1)])
    await waiting
    let task = Task { await ledger.waitForCommit(after: 1) }
    task.cancel()
    await task.value
  }
}
