import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

/// Rows of the log whose numbers make no sense, though their checksums hold.
struct LogDamageTests {
  /// A log of two entries, with the bytes of the first one's row replaced.
  private func damaged(_ first: Version, _ value: [UInt8]) throws -> MemoryStore {
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store) { 7 }
    for record in [1, 2] as [UInt8] {
      _ = try ledger.commit([Commit(mutations: [], record: [record])])
    }
    try store.write { transaction throws(StorageError) in
      try transaction.put(value, for: LogSegment.key(first))
    }
    return store
  }

  private func count(_ number: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(variable: number)
    return writer.bytes
  }

  @Test(
    "a count that leads behind the last number there is, is corruption that is reported",
    arguments: [0, UInt64.max, UInt64.max - 1, 1 << 40])
  func absurdCount(number: UInt64) throws {
    let whole = count(number) + [0, 1, 7]
    let ledger = try EmbeddedLedger(store: try damaged(1, whole)) { 7 }
    #expect(throws: LedgerError.corrupt(key: LogSegment.key(1))) {
      try ledger.log(after: 0, limit: 10)
    }
    #expect(try ledger.log(after: 1, limit: 10).map(\.record) == [[2]])
  }

  @Test("so it is at the end of the log, where the ledger opens", arguments: [0, UInt64.max])
  func absurdEnd(number: UInt64) throws {
    let store = try damaged(2, count(number))
    #expect(throws: LedgerError.corrupt(key: LogSegment.key(2))) {
      try EmbeddedLedger(store: store) { 7 }
    }
    let last = try damaged(.max, count(1) + [0, 1, 7])
    #expect(throws: LedgerError.corrupt(key: LogSegment.key(.max))) {
      try EmbeddedLedger(store: last) { 7 }
    }
  }
}
