import TernStorage
import TernTestKit
import Testing

@testable import TernLedger

@Suite("What a ledger holds back for a full disk") struct ReserveTests {
  private let key: [UInt8] = [0x20]

  private func commit(_ value: UInt8) -> Commit {
    Commit(mutations: [.put(key: key, value: [value])], record: [value])
  }

  @Test("a commit that met a full disk is made from the reserve, under the same version")
  func reserve() throws {
    let disk = FaultyDisk()
    let ledger = try EmbeddedLedger(store: disk.open()) { 0 }
    #expect(try ledger.commit([commit(1)]) == [.committed(1)])
    disk.fill(holdingBack: 1_000)
    #expect(throws: LedgerError.storage(.diskFull)) { try ledger.commit([commit(2)]) }
    #expect(try ledger.commitFromReserve([commit(2)]) == [.committed(2)])
    #expect(throws: LedgerError.storage(.diskFull)) { try ledger.takeReserve() }
    disk.free()
    try ledger.takeReserve()
    #expect(try ledger.commit([commit(3)]) == [.committed(3)])
    let log = try ledger.log(after: 0, limit: 10)
    #expect(log.map(\.version) == [1, 2, 3] && log.map(\.record) == [[1], [2], [3]])
    let again = try EmbeddedLedger(store: disk.open()) { 0 }
    #expect(try again.read { snapshot throws(StorageError) in try snapshot.get(key) } == [3])
  }

  @Test("M2 what is committed from the reserve gets its rows at once, so that a full disk empties")
  func rowsAtOnce() throws {
    let store = FaultyDisk().open()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    for value in UInt8(1)...3 { #expect(try ledger.commit([commit(value)]).count == 1) }
    func journalRows() throws -> Int {
      try store.read { view throws(StorageError) in try view.scan(Journal.range).count }
    }
    #expect(try journalRows() == 3)
    let removal = Commit(mutations: [.remove(KeyRange(only: key))], record: [9])
    #expect(try ledger.commitFromReserve([removal]) == [.committed(4)])
    #expect(try journalRows() == 0)
    let left = try store.read { view throws(StorageError) in try view.get(key) }
    #expect(left == nil)
    let again = try EmbeddedLedger(store: store) { 0 }
    #expect(try again.read { snapshot throws(StorageError) in try snapshot.get(key) } == nil)
  }
}
