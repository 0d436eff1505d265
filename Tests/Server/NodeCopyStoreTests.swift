import TernLedger
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernServer

/// The store of a node's copy of a shared log, and the operations that change stores: with other
/// rows it would still pass for current.
@Suite("Stores of nodes, and what changes stores") struct NodeCopyStoreTests {
  /// A store with a node's copy, whole or partial.
  private func copy(isWhole: Bool) throws -> MemoryStore {
    let store = MemoryStore()
    try EmbeddedLedger.beginCopy(in: store)
    let rules = Row(
      key: StoreLayout.rules + Array("default".utf8), value: Array(#"{"rules": {}}"#.utf8))
    try EmbeddedLedger.addRows([rules], to: store)
    if isWhole {
      try EmbeddedLedger.finishCopy(in: store, at: ReplicaMark(position: 3, id: 4), version: 7)
    }
    return store
  }

  private func rows(of store: any OrderedStore) throws -> [Row] {
    try store.read { snapshot throws(StorageError) in try snapshot.scan() }
  }

  @Test("a database is not copied into a node's copy", arguments: [true, false])
  func copying(isWhole: Bool) throws {
    let target = try copy(isWhole: isWhole)
    let before = try rows(of: target)
    let source = MemoryStore()
    _ = try EmbeddedLedger(store: source, uptime: { 0 }).commit([
      Commit(
        mutations: [.put(key: DatabaseLayout.database("default").prefix + [1], value: [1])],
        record: [])
    ])
    #expect(throws: BackupError.ledger(.foreignStore)) {
      try RestoredStore(source).copyDatabase(
        "default", as: "other", into: target, now: nil)
    }
    #expect(try rows(of: target) == before)
  }

  @Test("damaged records are not taken out of a node's copy", arguments: [true, false])
  func salvaging(isWhole: Bool) throws {
    let store = try copy(isWhole: isWhole)
    let before = try rows(of: store)
    let key = StoreLayout.rules + Array("default".utf8)
    let damaged = DamagedServerRecord(DamagedRow(key: key, value: [9]))
    #expect(throws: LedgerError.foreignStore) {
      try TernServer.setAside([damaged], in: store, now: 0)
    }
    #expect(try rows(of: store) == before)
    // Without the row that says what it is, the rest would pass for an embedded server's.
    let place = DamagedServerRecord(DamagedRow(key: LedgerKey.replica, value: [9]))
    #expect(throws: LedgerError.foreignStore) {
      try TernServer.setAside([place], in: store, now: 0)
    }
    #expect(try rows(of: store) == before)
  }

  @Test("a server by itself does not begin on a node's copy", arguments: [true, false])
  func serving(isWhole: Bool) async throws {
    let store = try copy(isWhole: isWhole)
    let resources = LedgerResources(
      openStore: { store }, uptime: { 0 }, clock: ContinuousClock(), randomBits: { 7 },
      whenClosed: { _ in })
    await #expect(throws: LedgerError.foreignStore) {
      _ = try await EmbeddedLedgerPlugin.open(EmbeddedLedgerPlugin.Options(), with: resources)
    }
  }
}
