import Foundation
import TernStorage
import Testing

@Suite("format versions")
struct FormatVersionTests {
  let directory = TemporaryDirectory()

  @Test("a newer SQLite format is refused by name")
  func sqlite() throws {
    try Disk.sqlite.open(directory.path).close()
    // The user version, big-endian, in the header of the database.
    try directory.edit("rows.sqlite") { $0.replaceSubrange(60..<64, with: [0, 0, 0, 7]) }
    #expect(throws: StorageError.newerFormat(found: 7, supported: 1)) {
      try Disk.sqlite.open(directory.path)
    }
  }

  @Test("a newer LMDB format is refused by name")
  func lmdb() throws {
    try Disk.lmdb.open(directory.path).close()
    let key: [UInt8] = [2] + Array("format".utf8)
    try directory.edit("rows.mdb") { data in
      let old = Data(key + record(key, 1))
      let place = try #require(data.range(of: old))
      data.replaceSubrange(place, with: key + record(key, 7))
    }
    #expect(throws: StorageError.newerFormat(found: 7, supported: 1)) {
      try Disk.lmdb.open(directory.path)
    }
  }

  private func record(_ key: [UInt8], _ version: UInt8) -> [UInt8] {
    let value: [UInt8] = [0, 0, 0, 0, 0, 0, 0, version]
    var buffer = RecordBuffer()
    let copy: [UInt8]? = unsafe try? buffer.withRecord(value.span, for: key.span) {
      record throws(StorageError) in unsafe [UInt8](record)
    }
    return copy ?? []
  }
}
