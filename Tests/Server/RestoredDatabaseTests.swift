import TernLedger
import TernStorage
import TernStorageMemory
import Testing

@testable import TernServer

/// One database of a backup that is added to a store which a server has used.
@Suite("Single databases from a backup") struct RestoredDatabaseTests {
  private let tree = DatabaseLayout.database("default").prefix
  private let first = "projects/p/databases/(default)"
  private let second = "projects/p/databases/second"

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

  private func bigEndian(_ number: Int64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: number)
    return writer.bytes
  }

  /// The rows of a document and its database. Source: Docs/Formats/document-rows.md, section 1.
  private func documents(
    _ name: String, version: Int64, isEmpty: Bool = false
  ) -> [(key: [UInt8], value: [UInt8])] {
    let prefix = DatabaseLayout.database(name).prefix
    let state = [1] + bigEndian(version) + bigEndian(version) + [0, 0, 0, 2]
    let document = (prefix + documentKey, bigEndian(version) + bigEndian(version) + [0])
    return [(prefix + [0], state)] + (isEmpty ? [(prefix + changeKey, [9])] : [document])
  }

  private let documentKey: [UInt8] = [1, 0, 0, 0, 1, 0x41, 1]
  private let changeKey: [UInt8] = [7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0]

  private func rulesKey(_ name: String) -> [UInt8] { StoreLayout.documentRules + name.utf8 }

  private func rules(of name: String, in store: MemoryStore) throws -> [UInt8]? {
    try rows(below: rulesKey(name), of: store)[rulesKey(name)]
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
    try RestoredStore(backup).copyDatabase("default", as: "default", into: target, now: 0)
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
      try RestoredStore(backup).copyDatabase("default", as: "before", into: target, now: 0)
    }
    #expect(reason == #"there is a database "before" in the server's store already"#)
    #expect(try rows(below: other, of: target) == [other + [1]: [8]])
    #expect(try EmbeddedLedger(store: target, uptime: { 0 }).log(after: 0, limit: 9).count == 1)
  }

  @Test("a database that the backup does not have is named")
  func missing() throws {
    let (backup, target) = (try store([(tree + [1], [7])]), try store([(tree + [1], [8])]))
    let reason = reason {
      try RestoredStore(backup).copyDatabase("harbor", as: "harbor", into: target, now: 0)
    }
    #expect(reason == #"there is no database "harbor" in the backup"#)
  }

  // MARK: Rules

  @Test("documents keep their own rules under a new name")
  func ownRules() throws {
    let backup = try store(
      documents(first, version: 5) + [(rulesKey(first), [1]), (rulesKey("projects/p"), [2])])
    let target = try store([(tree + [1], [8])])
    try RestoredStore(backup).copyDatabase(first, as: second, into: target, now: nil)
    #expect(try rules(of: second, in: target) == [1])
  }

  @Test(
    "documents that the rules of their project closed stay closed",
    arguments: [nil, [2], [3]] as [[UInt8]?])
  func projectRules(ofTarget there: [UInt8]?) throws {
    let backup = try store(documents(first, version: 5) + [(rulesKey("projects/p"), [2])])
    var rows: [(key: [UInt8], value: [UInt8])] = [(tree + [1], [8])]
    if let there { rows.append((rulesKey("projects/p"), there)) }
    let target = try store(rows)
    try RestoredStore(backup).copyDatabase(first, as: second, into: target, now: nil)
    // Where the project has the same rules, the database goes on following them.
    #expect(try rules(of: second, in: target) == (there == [2] ? nil : [2]))
    #expect(try rules(of: "projects/p", in: target) == there)
  }

  // MARK: Documents in place

  @Test("documents that were deleted come back under their name, later than all before")
  func documentsInPlace() throws {
    let backup = try store(documents(first, version: 500))
    let target = try store(documents(first, version: 900, isEmpty: true))
    try RestoredStore(backup).copyDatabase(first, as: first, into: target, now: 0)
    let prefix = DatabaseLayout.database(first).prefix
    #expect(
      try rows(below: prefix, of: target) == [
        prefix + [0]: [1] + bigEndian(901) + bigEndian(901) + [0, 0, 0, 2],
        prefix + documentKey: bigEndian(500) + bigEndian(901) + [0],
      ])
    let again = reason {
      try RestoredStore(backup).copyDatabase(first, as: first, into: target, now: 0)
    }
    #expect(again?.hasSuffix("already") == true)
  }

  @Test("a copy that no client meets keeps its versions")
  func sameEpoch() throws {
    let backup = try store(documents(first, version: 500))
    let target = try store([(tree + [1], [8])])
    try RestoredStore(backup).copyDatabase(first, as: second, into: target, now: nil)
    let prefix = DatabaseLayout.database(second).prefix
    #expect(
      try rows(below: prefix + [1], of: target) == [
        prefix + documentKey: bigEndian(500) + bigEndian(500) + [0]
      ])
  }
}
