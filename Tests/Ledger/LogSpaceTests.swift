import Synchronization
import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

/// A store that does not grow past a limit.
private final class SmallStore: OrderedStore {
  private let inner = MemoryStore()
  private let limit: Mutex<Int>

  init(bytes: Int) { limit = Mutex(bytes) }

  /// Lets the limit be what is stored now, as when another program fills the disk.
  func fill() throws {
    let bytes = try bytes(.all)
    limit.withLock { $0 = bytes }
  }

  func bytes(_ range: KeyRange) throws -> Int {
    try inner.read { snapshot throws(StorageError) in Self.bytes(try snapshot.scan(range)) }
  }

  private static func bytes(_ rows: [Row]) -> Int {
    rows.reduce(0) { $0 + $1.key.count + $1.value.count }
  }

  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try inner.read(body)
  }

  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let limit = limit.withLock { $0 }
    return try inner.write { transaction throws(StorageError) in
      let result = try body(&transaction)
      guard Self.bytes(try transaction.scan()) <= limit else { throw .diskFull }
      return result
    }
  }

  func wipe() throws(StorageError) { try inner.wipe() }

  func inspectFiles(_ inspection: inout StoreInspection, bytes: Int) throws(StorageError) {
    try inner.inspectFiles(&inspection, bytes: bytes)
  }

  func close() { inner.close() }
}

@Suite("The space of the log") struct LogSpaceTests {
  private let key: [UInt8] = [0x20]

  private func put(_ number: Int, bytes: Int = 200_000) -> Commit {
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
    return Commit(mutations: [.put(key: key, value: value)], record: value)
  }

  @Test("overwriting one value never fills a store that has space for it")
  func overwriting() throws {
    let store = SmallStore(bytes: 4_000_000)
    let ledger = try EmbeddedLedger(store: store) { 0 }
    var decisions = 0
    for number in 1...100 {
      let (results, kept) = try ledger.decide { snapshot throws(StorageError) in
        decisions += 1
        return Decision([put(number)], keeping: snapshot.version)
      }
      #expect(results == [.committed(Version(number))] && kept == Version(number - 1))
    }
    // A decision is made once, also when it is stored at the second attempt.
    #expect(decisions == 100)
    #expect(try ledger.log(after: 99, limit: 9).map(\.version) == [100])
    let again = try EmbeddedLedger(store: store) { 0 }
    let value = try again.read { snapshot throws(StorageError) in try snapshot.get(key) }
    #expect(value == [UInt8](repeating: 100, count: 200_000))
  }

  @Test("the log makes space for what is held back, and a store without a log stays full")
  func reserve() throws {
    let store = SmallStore(bytes: 4_000_000)
    let ledger = try EmbeddedLedger(store: store) { 0 }
    for number in 1...10 { _ = try ledger.commit([put(number)]) }
    try store.fill()
    try ledger.takeReserve()
    #expect(throws: LedgerError.storage(.diskFull)) {
      try ledger.commit([put(11, bytes: 5_000_000)])
    }
    #expect(try store.bytes(KeyRange(prefix: [LedgerKey.log])) < 300_000)
    #expect(try ledger.commit([put(11)]) == [.committed(11)])
  }

  @Test("a log takes a quarter of the limit that its store has")
  func storeLimit() async throws {
    let store = MemoryStore()
    let resources = LedgerResources(
      openStore: { store }, storeLimitBytes: 4_000_000, uptime: { 0 }, clock: ContinuousClock(),
      randomBits: { 7 }, whenClosed: { _ in })
    let ledger = try await EmbeddedLedgerPlugin.open(
      EmbeddedLedgerPlugin.Options(), with: resources)
    for number in 1...30 { _ = try await ledger.commit([put(number)]) }
    let figures = try await ledger.statistics()
    let bytes = try #require(figures?.logBytes)
    #expect(bytes > 600_000 && bytes <= 1_000_000)
    var options = LedgerOptions(logBytes: 1_000)
    options.bound(byStoreLimit: 40_000_000)
    #expect(options.logBytes == 1_000)
    options.bound(byStoreLimit: nil)
    #expect(options.logBytes == 1_000)
  }
}
