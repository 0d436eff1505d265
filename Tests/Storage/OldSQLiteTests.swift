import CSQLite
import Foundation
import TernStorage
import TernStorageSQLite
import Testing

/// Stores that were made before pages had checksums.
@Suite("a SQLite store of version 1")
struct OldSQLiteTests {
  private let directory = TemporaryDirectory()
  private let rows: [Row] = (0..<300).map { number in
    Row(
      key: Array("key-\(1_000 + number)".utf8),
      value: [UInt8](repeating: UInt8(number & 255), count: number % 20 == 0 ? 5_000 : 50))
  }

  /// Makes the store as version 1 did.
  private func make() throws {
    try FileManager.default.createDirectory(
      atPath: directory.path, withIntermediateDirectories: true)
    var database: OpaquePointer?
    let code = unsafe sqlite3_open(directory.path + "/rows.sqlite", &database)
    try #require(code == SQLITE_OK)
    defer { unsafe sqlite3_close(database) }
    var sql = """
      PRAGMA journal_mode = WAL; PRAGMA application_id = \(0x5465_726E); PRAGMA user_version = 1;
      CREATE TABLE rows (key BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
      BEGIN;
      """
    var buffer = RecordBuffer()
    for row in rows {
      let record: [UInt8] = unsafe try buffer.withRecord(row.value.span, for: row.key.span) {
        record throws(StorageError) in unsafe [UInt8](record)
      }
      sql += "INSERT INTO rows VALUES (x'\(row.key.hex)', x'\(record.hex)');"
    }
    let done = unsafe sqlite3_exec(database, sql + "COMMIT", nil, nil, nil)
    try #require(done == SQLITE_OK)
  }

  private func version() throws -> UInt8 {
    try Data(contentsOf: URL(filePath: directory.path + "/rows.sqlite"))[63]
  }

  @Test("it opens, is read and written, and keeps its version")
  func opening() throws {
    try make()
    var store = try SQLiteStore(path: directory.path)
    #expect(try store.scan() == rows)
    try store.put([UInt8](repeating: 1, count: 9_000), for: rows[3].key)
    try store.write { transaction throws(StorageError) in try transaction.remove(rows[20].key) }
    #expect(try store.verify().rows == 299)
    #expect(store.isOldFormat)
    store.close()
    #expect(try version() == 1)
    store = try SQLiteStore(path: directory.path)
    #expect(try store.get(rows[3].key)?.count == 9_000)
    #expect(try store.get(rows[20].key) == nil)
  }

  @Test("compacted, it has checksums, and notices a flipped bit", arguments: [false, true])
  func upgrade(isKilled: Bool) throws {
    try make()
    let store = try SQLiteStore(path: directory.path)
    #expect(store.isOldFormat)
    try store.compact()
    #expect(!store.isOldFormat)
    #expect(try store.scan() == rows)
    #expect(try store.verify().isWell)
    try store.put([UInt8](repeating: 1, count: 9_000), for: rows[3].key)
    if !isKilled { store.close() }
    let files = try StoreImage.files(in: directory.path)
    store.close()
    #expect(try version() == 2)
    var expected = rows
    expected[3].value = [UInt8](repeating: 1, count: 9_000)
    let place = try #require(files["rows.sqlite"]?.range(of: Data(rows[40].key)))
    for byte in [nil, 63, 20, 68, place.lowerBound] {
      var image = StoreImage(files: files, rows: expected, isKilled: isKilled)
      if let byte { image.files["rows.sqlite"]?[byte] ^= 2 }
      let copy = TemporaryDirectory()
      try image.write(to: copy.path)
      let again = try SQLiteStore(path: copy.path)
      #expect(try again.scan() == expected, "byte \(byte ?? -1)")
      again.close()
    }
  }

  @Test("compacting gives space back, and keeps all rows")
  func compacting() throws {
    let store = try SQLiteStore(path: directory.path)
    let value = [UInt8](repeating: 3, count: 30_000)
    for number in UInt8(0)..<40 { try store.put(value, for: [number]) }
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: KeyRange(from: [1], to: [40]))
    }
    try store.compact()
    #expect(try store.scan() == [Row(key: [0], value: value)])
    let sizes = try StoreImage.files(in: directory.path).mapValues(\.count)
    #expect(sizes["rows.sqlite"] ?? 0 < 80_000)
    #expect(sizes["rows.sqlite-wal"] == 0)
    #expect(try store.verify().isWell)
    try store.put([1], for: [2])
    store.close()
    #expect(try SQLiteStore(path: directory.path).scan().count == 2)
  }

  @Test("a long log is cut off once it was moved")
  func longLog() throws {
    let store = try SQLiteStore(path: directory.path)
    try store.write { transaction throws(StorageError) in
      for number in UInt8(0)..<20 {
        try transaction.put([UInt8](repeating: number, count: 1 << 20), for: [number])
      }
    }
    #expect(try StoreImage.files(in: directory.path)["rows.sqlite-wal"]?.isEmpty == true)
    #expect(try store.verify().rows == 20)
    store.close()
    #expect(try SQLiteStore(path: directory.path).scan().count == 20)
  }
}

extension [UInt8] {
  fileprivate var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
