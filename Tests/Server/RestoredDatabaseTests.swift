import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernServer

/// One database of a backup that is added to a store which a server has used.
@Suite("Single databases from a backup") struct RestoredDatabaseTests {
  private let tree = DatabaseLayout.database("default").prefix

  // MARK: Stores

  private func store(_ rows: [(key: [UInt8], value: [UInt8])]) throws -> MemoryStore {
    let store = MemoryStore()
    _ = try EmbeddedLedger(store: store, uptime: { 0 }).commit([
      Commit(mutations: rows.map { .put(key: $0.key, value: $0.value) }, record: [1])
    ])
    return store
  }

  private func commit(_ mutations: [Mutation], to store: MemoryStore) throws {
    _ = try EmbeddedLedger(store: store, uptime: { 0 }).commit([
      Commit(mutations: mutations, record: [2])
    ])
  }

  /// The rows of a store, as a server sees them.
  private func rows(
    below prefix: [UInt8], of store: MemoryStore
  ) throws -> [[UInt8]: [UInt8]] {
    try EmbeddedLedger(store: store, uptime: { 0 }).read { snapshot throws(StorageError) in
      let rows = try snapshot.scan(KeyRange(prefix: prefix))
      return Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) })
    }
  }

  private func reason(_ body: () throws -> Void) -> String? {
    do { try body() } catch BackupError.inaccessible(let reason) { return reason } catch {}
    return nil
  }

  // MARK: Journals and logs

  @Test("a removal that waits in the journal of the server's store does not meet the copy")
  func removalInJournal() throws {
    let backup = try store([(tree + [1], [7])])
    let target = try store([(tree + [1], [8])])
    try commit([.remove(KeyRange(prefix: tree))], to: target)
    try RestoredStore(backup).copyDatabase("default", as: "default", into: target)
    #expect(try rows(below: tree, of: target) == [tree + [1]: [7]])
    // The log of before does not lead to the copy.
    let ledger = try EmbeddedLedger(store: target) { 0 }
    #expect(throws: LedgerError.self) { try ledger.log(after: 2, limit: 9) }
  }

  @Test("a database that is in the journal alone is there, and stays as it is")
  func occupiedInJournal() throws {
    let backup = try store([(tree + [1], [7])])
    let other = DatabaseLayout.database("before").prefix
    let target = try store([(other + [1], [8])])
    let reason = reason {
      try RestoredStore(backup).copyDatabase("default", as: "before", into: target)
    }
    #expect(reason?.hasSuffix("already") == true)
    #expect(try rows(below: other, of: target) == [other + [1]: [8]])
    #expect(try EmbeddedLedger(store: target, uptime: { 0 }).log(after: 0, limit: 9).count == 1)
  }
}
