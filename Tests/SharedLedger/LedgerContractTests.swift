import Synchronization
import TernCommitLog
import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernSharedLedger

/// The ledgers that keep the same promises.
enum LedgerKind: CaseIterable {
  /// One store, one process.
  case embedded
  /// A node that comes back to its own copy.
  case shared
  /// A node that comes back to an empty store, and has the log alone.
  case sharedAnew
  /// The same with a log that was cut, and a checkpoint.
  case sharedFromCheckpoint
}

/// A ledger of one kind, over restarts.
final class LedgerBench: Sendable {
  private let kind: LedgerKind
  private let cluster = TestCluster()
  private let store = MemoryStore()
  private let node = Mutex<SharedLedger?>(nil)

  init(_ kind: LedgerKind) { self.kind = kind }

  /// Ends the ledger that was opened before, and opens it again.
  func open() async throws -> any Ledger {
    if kind == .embedded { return try EmbeddedLedger(store: store) { 0 } }
    let last = node.withLock { $0 }
    if kind == .sharedFromCheckpoint, let last {
      cluster.clock.advance(by: .seconds(60))
      for _ in 0..<20 { _ = await last.step() }
    }
    await last?.close()
    let next = cluster.node(over: kind == .shared ? store : MemoryStore()) {
      if kind == .sharedFromCheckpoint {
        $0.checkpointBatches = 1
        $0.retention = .init(batches: 0, age: .zero)
      }
    }
    node.withLock { $0 = next.ledger }
    try await next.lead()
    return next.ledger
  }
}

@Suite("The promises of every ledger")
struct LedgerContractTests {
  private func value(of key: String, in ledger: any Ledger) async throws -> [UInt8]? {
    try await ledger.read { snapshot throws(StorageError) in try snapshot.get(Array(key.utf8)) }
  }

  @Test("versions count commits, across a restart too", arguments: LedgerKind.allCases)
  func versions(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    var ledger = try await bench.open()
    #expect(try await ledger.commit([]) == [])
    #expect(
      try await ledger.commit([put("a", 1), put("b", 2)]) == [.committed(1), .committed(2)])
    ledger = try await bench.open()
    #expect(try await ledger.read { $0.version } == 2)
    #expect(try await ledger.commit([put("a", 3)]) == [.committed(3)])
    #expect(try await value(of: "a", in: ledger) == [3])
    #expect(try await value(of: "b", in: ledger) == [2])
    let log = try await ledger.log(after: 2, limit: 10)
    #expect(log.map(\.version) == [3])
    #expect(log.map(\.record) == [[3]])
    #expect(try await ledger.log(after: 3, limit: 1).isEmpty)
  }

  @Test("a write is applied once however often it is sent", arguments: LedgerKind.allCases)
  func exactlyOnce(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    let ledger = try await bench.open()
    let first = put("a", 1, claim(1))
    #expect(
      try await ledger.commit([first, first]) == [.committed(1), .duplicate(1, outcome: [1, 1])])
    #expect(try await ledger.commit([put("a", 9)]) == [.committed(2)])
    let next = try await bench.open()
    #expect(try await next.commit([first]) == [.duplicate(1, outcome: [1, 1])])
    #expect(try await value(of: "a", in: next) == [9])
    #expect(try await next.commit([put("a", 1, claim(1, hash: 8))]) == [.mismatch])
    #expect(try await next.commit([put("a", 1, claim(3))]) == [.gap(expected: 2)])
  }

  @Test("a rejection is an outcome and takes no version", arguments: LedgerKind.allCases)
  func rejection(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    let ledger = try await bench.open()
    let denied = Commit(claim: claim(1), mutations: [], record: [], outcome: [0xD])
    #expect(try await ledger.commit([denied]) == [.committed(0)])
    let next = try await bench.open()
    #expect(try await next.commit([denied]) == [.duplicate(0, outcome: [0xD])])
    #expect(try await next.log(after: 0, limit: 9).isEmpty)
    #expect(try await next.commit([put("a", 1, claim(2))]) == [.committed(1)])
  }

  @Test("outcomes the writer knows are forgotten", arguments: LedgerKind.allCases)
  func acknowledged(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    let ledger = try await bench.open()
    _ = try await ledger.commit((1...5).map { put("a", UInt8($0), claim($0)) })
    #expect(try await ledger.commit([put("a", 6, claim(6, known: 4))]) == [.committed(6)])
    let next = try await bench.open()
    #expect(try await next.commit([put("a", 4, claim(4))]) == [.forgotten])
    #expect(try await next.commit([put("a", 5, claim(5))]) == [.duplicate(5, outcome: [5, 5])])
    let state = try await next.read { snapshot throws(StorageError) in
      try snapshot.stream(42)
    }
    #expect(state?.last == 6)
    #expect(state?.outcomes.count == 2)
  }

  @Test("a lost stream goes on where its writer knows it stood", arguments: LedgerKind.allCases)
  func lostStream(kind: LedgerKind) async throws {
    let ledger = try await LedgerBench(kind).open()
    #expect(try await ledger.commit([put("a", 1, claim(57, known: 55))]) == [.gap(expected: 56)])
    #expect(try await ledger.commit([put("a", 1, claim(57, known: 56))]) == [.committed(1)])
    #expect(try await ledger.commit([put("a", 2, claim(58, known: 56))]) == [.committed(2)])
  }

  @Test("reads are validated, preconditions are checked", arguments: LedgerKind.allCases)
  func validation(kind: LedgerKind) async throws {
    let ledger = try await LedgerBench(kind).open()
    _ = try await ledger.commit([put("a", 1), put("b", 1)])
    var commit = put("c", 1)
    commit.reads = [KeyRange(only: Array("a".utf8))]
    commit.readVersion = 1
    #expect(try await ledger.commit([commit]) == [.committed(3)])
    commit.readVersion = 0
    #expect(try await ledger.commit([commit]) == [.conflict])
    commit.readVersion = 3
    // Against an earlier commit of the same batch.
    #expect(try await ledger.commit([put("a", 1), commit]) == [.committed(4), .conflict])
    commit.reads = []
    commit.preconditions = [.exists(Array("a".utf8)), .absent(Array("z".utf8))]
    #expect(try await ledger.commit([commit]) == [.committed(5)])
    commit.preconditions = [.equals(key: Array("a".utf8), value: [2])]
    #expect(try await ledger.commit([commit]) == [.failedPrecondition])
    #expect(try await ledger.commit([put("a", 2), commit]) == [.committed(6), .committed(7)])
  }

  @Test("removed ranges are gone, after a restart too", arguments: LedgerKind.allCases)
  func ranges(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    var ledger = try await bench.open()
    _ = try await ledger.commit(["a1", "a2", "b", "c"].map { put($0, 1) })
    ledger = try await bench.open()
    _ = try await ledger.commit([
      Commit(mutations: [.remove(KeyRange(prefix: Array("a".utf8)))], record: [1]),
      put("a2", 7),
      Commit(mutations: [.remove(KeyRange(from: Array("c".utf8)))], record: [1]),
    ])
    ledger = try await bench.open()
    let keys = try await ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte])).map(\.key)
    }
    #expect(keys == ["a2", "b"].map { Array($0.utf8) })
  }

  @Test("a row beyond the limits is refused alone", arguments: LedgerKind.allCases)
  func limits(kind: LedgerKind) async throws {
    let ledger = try await LedgerBench(kind).open()
    let long = Commit(
      mutations: [.put(key: [UInt8](repeating: 0x61, count: 5_000), value: [])], record: [1])
    #expect(
      try await ledger.commit([long, put("a", 1)])
        == [.exceedsLimit(.keyTooLong(bytes: 5_000)), .committed(1)])
  }

  @Test(
    "a decision sees what is committed, and hands back what it keeps",
    arguments: LedgerKind.allCases)
  func decisions(kind: LedgerKind) async throws {
    let ledger = try await LedgerBench(kind).open()
    _ = try await ledger.commit([put("a", 1)])
    let (results, kept) = try await ledger.decide { snapshot throws(StorageError) in
      let old = try snapshot.get(Array("a".utf8))
      return Decision([put("a", 2)], keeping: (snapshot.version, old))
    }
    #expect(results == [.committed(2)])
    #expect(kept.0 == 1 && kept.1 == [1])
    await #expect(throws: LedgerError.storage(.abandoned)) {
      try await ledger.decide { _ throws(StorageError) -> Decision<Int> in throw .abandoned }
    }
    #expect(try await ledger.commit([put("a", 3)]) == [.committed(3)])
  }

  @Test("a commit of many megabytes comes back whole", arguments: LedgerKind.allCases)
  func largeCommit(kind: LedgerKind) async throws {
    let bench = LedgerBench(kind)
    let ledger = try await bench.open()
    let bytes = (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let keys = (1...3).map { Array("large\($0)".utf8) }
    let commit = Commit(mutations: keys.map { .put(key: $0, value: bytes) }, record: bytes)
    #expect(try await ledger.commit([commit, put("a", 1)]) == [.committed(1), .committed(2)])
    #expect(try await ledger.log(after: 0, limit: 1).first?.record == bytes)
    let next = try await bench.open()
    for key in keys {
      let isWhole = try await next.read { snapshot throws(StorageError) in
        try snapshot.get(key) == bytes
      }
      #expect(isWhole)
    }
    #expect(try await next.commit([put("a", 1)]) == [.committed(3)])
  }

  @Test("waiting ends with the next commit", arguments: LedgerKind.allCases)
  func waiting(kind: LedgerKind) async throws {
    let ledger = try await LedgerBench(kind).open()
    async let waiting: Void = ledger.waitForCommit(after: 0)
    _ = try await ledger.commit([put("a", 1)])
    await waiting
    let task = Task { await ledger.waitForCommit(after: 1) }
    task.cancel()
    await task.value
  }
}
