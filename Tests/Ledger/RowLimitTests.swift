import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

@Suite("Rows that no store takes") struct RowLimitTests {
  private func open(_ store: MemoryStore, rows: Int = 8) throws -> EmbeddedLedger {
    try EmbeddedLedger(store: store, options: LedgerOptions(journalRows: rows)) { 0 }
  }

  private func put(
    _ name: UInt8, _ value: [UInt8] = [1], keyBytes: Int = 2, sequence: UInt64? = nil
  ) -> Commit {
    let key = [0x20, name] + [UInt8](repeating: 7, count: keyBytes - 2)
    let claim = sequence.map {
      IdempotencyKey(id: CommitID(stream: 9, sequence: $0), payloadHash: $0)
    }
    return Commit(claim: claim, mutations: [.put(key: key, value: value)], record: [name])
  }

  @Test(
    "a commit beyond a limit is rejected alone, with the limit's name", arguments: [0, 8])
  func rejectedAlone(rows: Int) throws {
    let store = MemoryStore()
    let ledger = try open(store, rows: rows)
    let results = try ledger.commit([
      put(1, sequence: 1), put(2, keyBytes: 4_097, sequence: 2),
      put(3, [UInt8](repeating: 0, count: StorageLimits.valueBytes + 1), sequence: 2),
      put(4, keyBytes: 4_096, sequence: 2),
    ])
    #expect(
      results == [
        .committed(1), .exceedsLimit(.keyTooLong(bytes: 4_097)),
        .exceedsLimit(.valueTooLong(bytes: StorageLimits.valueBytes + 1)), .committed(2),
      ])
    for name in UInt8(10)..<40 { _ = try ledger.commit([put(name)]) }
    let names = try open(store, rows: rows).read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: [0x20])).map { $0.key[1] }
    }
    #expect(names == [1, 4] + Array(10..<40))
  }

  @Test("the outcomes of a stream that acknowledges nothing stay within a row")
  func longStream() throws {
    let store = MemoryStore()
    let ledger = try open(store, rows: 64)
    let outcome = [UInt8](repeating: 5, count: 1_016)
    var sequence: UInt64 = 0
    for _ in 0..<30 {
      let commits = (1...100).map { offset in
        let id = CommitID(stream: 9, sequence: sequence + UInt64(offset))
        return Commit(
          claim: IdempotencyKey(id: id, payloadHash: 1), mutations: [], record: [1],
          outcome: outcome)
      }
      _ = try ledger.commit(commits)
      sequence += 100
    }
    let again = try open(store)
    let state = try again.read { snapshot throws(StorageError) in try snapshot.stream(9) }
    let stream = try #require(state)
    #expect(stream.last == 3_000 && stream.outcomes.count >= 1_024)
    #expect(StreamRow.encode(stream, touched: 0).count <= LedgerLimits.streamBytes + 64)
    // The oldest are forgotten, never made again.
    for (sequence, isKnown) in [(UInt64(1), false), (stream.first, true), (3_000, true)] {
      let claim = IdempotencyKey(id: CommitID(stream: 9, sequence: sequence), payloadHash: 1)
      let repeated = Commit(claim: claim, mutations: [], record: [1])
      let result = try again.commit([repeated])
      #expect((result == [.forgotten]) == !isKnown)
      #expect(try again.read { $0.version } == 3_000)
    }
  }

  @Test("what was acknowledged and cannot be settled is found, quarantined, and stops no client")
  func salvage() throws {
    let store = MemoryStore()
    _ = try open(store).commit([put(1, sequence: 1)])
    // As earlier versions stored it: a long key between two commits that are well.
    var entries = ByteWriter()
    entries.append(bigEndian: Int64(0))
    JournalEntry.append(put(2, sequence: 2), 2, to: &entries)
    JournalEntry.append(put(3, keyBytes: 4_200), 3, to: &entries)
    JournalEntry.append(put(4, sequence: 3), 4, to: &entries)
    let key = Journal.key(2)
    var segment = LogSegment(first: 2)
    for _ in 2...4 { segment.append(nil, [1]) }
    try store.write { transaction throws(StorageError) in
      try transaction.put(entries.bytes, for: key)
      try segment.forEachRow { row throws(StorageError) in
        try transaction.put(row.value, for: row.key)
      }
    }
    let damage = LedgerError.storage(.corruptRecord(key: key))
    #expect(throws: damage) { try open(store).read { _ in } }

    let found = try EmbeddedLedger.damagedRows(in: store)
    #expect(found.map(\.key) == [key] && found.first?.value == entries.bytes)
    try EmbeddedLedger.setAside(found, in: store, substitutes: [])
    #expect(try EmbeddedLedger.damagedRows(in: store).isEmpty)
    let ledger = try open(store)
    for name in UInt8(10)..<40 { _ = try ledger.commit([put(name)]) }
    let names = try open(store).read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: [0x20])).map { $0.key[1] }
    }
    #expect(names == [1, 2, 4] + Array(10..<40))
    #expect(try ledger.commit([put(9, sequence: 4)]) == [.committed(35)])
  }
}
