import TernStorage
import Testing

@testable import TernStorageSQLite

@Suite("moving the log of a SQLite store beside its commits") struct SQLiteLogTests {
  private func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  /// Commits a value of some pages under a key of its own.
  private func commit(_ number: Int, to store: SQLiteStore) throws {
    try store.write { transaction throws(StorageError) in
      try transaction.put([UInt8](repeating: UInt8(number & 255), count: 40_000), for: key(number))
    }
  }

  private func check(_ count: Int, in store: SQLiteStore) throws {
    try store.read { snapshot throws(StorageError) in
      for number in 0..<count {
        let value = try snapshot.get(key(number))
        #expect(value?.count == 40_000 && value?.first == UInt8(number & 255))
      }
    }
  }

  private func bytes(_ file: String, in directory: TemporaryDirectory) throws -> Int {
    try StoreImage.files(in: directory.path)[file]?.count ?? 0
  }

  @Test("a long log is moved without a further commit, and begins anew with the next ones")
  func moves() throws {
    let directory = TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    for number in 0..<120 { try commit(number, to: store) }
    store.mover.finish()
    // The pages of the first ninety commits are fewer than those at which a move begins.
    #expect(try bytes("rows.sqlite", in: directory) > 90 * 40_000)
    let log = try bytes("rows.sqlite-wal", in: directory)
    for number in 120..<180 { try commit(number, to: store) }
    store.mover.finish()
    #expect(try bytes("rows.sqlite-wal", in: directory) == log, "it was written from its start")
    try check(180, in: store)
  }

  @Test("commits that overtake a move wait for it before the log is too long")
  func bound() throws {
    let directory = TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    // The move cannot begin: its connection is taken until all was committed up to the bound.
    store.mover.exclude { _ in
      for number in 0..<250 { #expect(throws: Never.self) { try commit(number, to: store) } }
    }
    for number in 250..<900 { try commit(number, to: store) }
    store.mover.finish()
    #expect(try bytes("rows.sqlite-wal", in: directory) <= (SQLiteStore.mostPages + 100) * 4_120)
    try check(900, in: store)
  }

  @Test("a store is closed and opened again while its log is moved", arguments: 0..<5)
  func closing(round: Int) throws {
    let directory = TemporaryDirectory()
    var store = try SQLiteStore(path: directory.path)
    for number in 0..<(98 + round) { try commit(number, to: store) }
    store.close()
    store = try SQLiteStore(path: directory.path)
    try check(98 + round, in: store)
    #expect(try store.verify().isWell)
  }

  @Test("a store is wiped and compacted while its log is moved")
  func wiping() throws {
    let directory = TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    for number in 0..<110 { try commit(number, to: store) }
    try store.compact()
    try check(110, in: store)
    for number in 0..<110 { try commit(number, to: store) }
    try store.wipe()
    store.mover.finish()
    for number in 0..<110 { try commit(number, to: store) }
    store.mover.finish()
    try check(110, in: store)
    #expect(try store.verify().isWell)
  }

  @Test("snapshots that stay open keep what they see while the log is moved")
  func snapshots() throws {
    let directory = TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    for number in 0..<10 { try commit(number, to: store) }
    try store.read { snapshot throws(StorageError) in
      for number in 10..<250 { #expect(throws: Never.self) { try commit(number, to: store) } }
      store.mover.finish()
      #expect(try snapshot.get(key(9)) != nil)
      #expect(try snapshot.get(key(10)) == nil)
    }
    try check(250, in: store)
  }
}
