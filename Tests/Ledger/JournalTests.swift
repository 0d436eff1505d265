import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernLedger

struct JournalTests {
  /// A commit of one row, the next of its stream.
  private func commit(_ number: UInt64, _ mutation: Mutation) -> Commit {
    let id = CommitID(stream: UInt128(number % 3), sequence: number / 3 + 1)
    return Commit(
      claim: IdempotencyKey(id: id, payloadHash: number, acknowledged: number / 3 / 2),
      mutations: [mutation], record: [UInt8(truncatingIfNeeded: number)])
  }

  private func key(_ name: UInt8) -> [UInt8] { [0x20, name] }

  private func open(_ store: any OrderedStore, _ rows: Int) throws -> EmbeddedLedger {
    try EmbeddedLedger(store: store, options: LedgerOptions(journalRows: rows)) { 7 }
  }

  /// Everything a reader can see but the log.
  private func contents(of ledger: EmbeddedLedger) throws -> [Row] {
    try ledger.read { snapshot throws(StorageError) in
      var rows = try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
      for stream in UInt128(0)..<3 {
        guard let state = try snapshot.stream(stream) else { continue }
        rows.append(Row(key: [], value: StreamRow.encode(state, touched: 0)))
      }
      return rows
    }
  }

  @Test(
    "a write with an impossible number is corruption that is reported", arguments: [0, UInt64.max])
  func impossibleNumbers(sequence: UInt64) throws {
    let store = MemoryStore()
    _ = try open(store, 8)
    var entries = ByteWriter()
    entries.append(bigEndian: Int64(7))
    let claim = IdempotencyKey(
      id: CommitID(stream: 1, sequence: sequence), payloadHash: 1, acknowledged: 0)
    JournalEntry.append(Commit(claim: claim, mutations: [], record: [1]), 1, to: &entries)
    var row = ByteWriter()
    row.append(LedgerKey.journal)
    row.append(bigEndian: UInt64(1))
    try store.write { transaction throws(StorageError) in
      try transaction.put(entries.bytes, for: row.bytes)
    }
    #expect(throws: LedgerError.self) { try open(store, 8).read { _ in } }
    // A stream that has come to its last number takes no more, and stops no other.
    var state = StreamState()
    state.record(claim, 1, [])
    #expect(state.verdict(on: claim) != nil || sequence == 0)
    state.record(claim, 2, [])
  }

  @Test("no writer gets the last number there is, because a ledger that holds it does not open")
  func lastNumber() throws {
    let store = MemoryStore()
    let id = CommitID(stream: 1, sequence: .max)
    let claim = IdempotencyKey(id: id, payloadHash: 1, acknowledged: .max - 1)
    let result = try open(store, 8).commit([Commit(claim: claim, mutations: [], record: [1])])
    #expect(result == [.gap(expected: .max)])
    try open(store, 8).read { _ in }
  }

  @Test(
    "with a journal or without one, and across restarts, the same is seen",
    arguments: UInt64(1)...30)
  func sameWithout(seed: UInt64) throws {
    var random = Steps(state: seed)
    let (plain, journaled) = (MemoryStore(), MemoryStore())
    var number: UInt64 = 0
    for step in 0..<60 {
      let commits = (0...random.next(4)).map { _ in
        defer { number += 1 }
        let name = UInt8(random.next(40))
        switch random.next(5) {
        case 0:
          return commit(number, .remove(KeyRange(from: key(name), to: key(name + 9))))
        case 1: return commit(number, .remove(KeyRange(from: key(name))))
        default: return commit(number, .put(key: key(name), value: [UInt8(random.next(256))]))
        }
      }
      let reference = try open(plain, 0)
      let ledger = try open(journaled, 1 + random.next(12))
      #expect(try reference.commit(commits) == ledger.commit(commits))
      let seen = try contents(of: ledger)
      try #require(try contents(of: reference) == seen, "seed \(seed), step \(step)")
      try #require(try contents(of: open(journaled, 1)) == seen, "seed \(seed), step \(step)")
      #expect(
        try ledger.commit(commits).allSatisfy { result in
          if case .duplicate = result { return true }
          return result == .forgotten
        })
    }
  }

  @Test("a batch that fails leaves nothing behind, not even in memory")
  func failedBatch() throws {
    let disk = FaultyDisk()
    let ledger = try open(disk.open(), 100)
    _ = try ledger.commit([commit(0, .put(key: key(1), value: [1]))])
    let before = try contents(of: ledger)
    let many = (0..<200).map { Mutation.put(key: key(UInt8($0)), value: [2]) }
    let bad = Commit(mutations: many, record: [1])
    disk.inject(.writeError, after: 150)
    #expect(throws: LedgerError.self) {
      try ledger.commit([commit(3, .put(key: key(1), value: [3])), bad])
    }
    #expect(try contents(of: ledger) == before)
    #expect(try ledger.commit([commit(3, .put(key: key(1), value: [4]))]) == [.committed(2)])
    #expect(try contents(of: ledger).first?.value == [4])
  }

  @Test("settled rows lie in the store, and the journal is empty then")
  func settling() throws {
    let store = MemoryStore()
    let ledger = try open(store, 4)
    func stored(_ range: KeyRange) throws -> Int {
      try store.read { snapshot throws(StorageError) in try snapshot.scan(range).count }
    }
    for number in UInt64(0)..<4 {
      _ = try ledger.commit([commit(number, .put(key: key(UInt8(number)), value: [1]))])
    }
    #expect(try stored(KeyRange(from: [LedgerLimits.firstOwnByte])) == 0)
    #expect(try stored(Journal.range) == 4)
    _ = try ledger.commit([commit(4, .put(key: key(4), value: [1]))])
    #expect(try stored(KeyRange(from: [LedgerLimits.firstOwnByte])) == 5)
    #expect(try stored(Journal.range) == 0)
  }

  @Test("a ledger of format 1 is taken over")
  func formatOne() throws {
    let store = MemoryStore()
    _ = try open(store, 0).commit([commit(0, .put(key: key(1), value: [1]))])
    try store.write { transaction throws(StorageError) in
      try transaction.put(Array("tern ledger".utf8) + [1], for: LedgerKey.format)
    }
    #expect(try contents(of: open(store, 10)).count == 2)
    let format = try store.read { snapshot throws(StorageError) in
      try snapshot.get(LedgerKey.format)?.last
    }
    #expect(format == 3)
  }

  @Test("a damaged journal is an error, never a value")
  func damage() throws {
    let store = MemoryStore()
    _ = try open(store, 10).commit([commit(0, .put(key: key(1), value: [1]))])
    try store.write { transaction throws(StorageError) in
      for row in try transaction.scan(Journal.range) {
        try transaction.put(Array(row.value.dropLast()), for: row.key)
      }
    }
    let ledger = try open(store, 10)
    #expect(throws: LedgerError.self) { try contents(of: ledger) }
    #expect(throws: LedgerError.self) {
      try ledger.commit([commit(3, .put(key: key(1), value: [3]))])
    }
  }
}

/// The same numbers for the same seed.
private struct Steps {
  var state: UInt64

  mutating func next(_ count: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(count))
  }
}
