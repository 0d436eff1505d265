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
    // The page of the header fails its checksum now.
    #expect(throws: StorageError.newerFormat(found: 7, supported: 2)) {
      try Disk.sqlite.open(directory.path, integrity: .records)
    }
  }

  @Test("a newer LMDB format is refused by name")
  func lmdb() throws {
    try Disk.lmdb.open(directory.path).close()
    let key: [UInt8] = [2] + Array("format".utf8)
    try directory.edit("rows.mdb") { data in
      let old = Data(key + record(key, 1))
      // Pages of earlier commits hold it, too.
      var count = 0
      while let place = data.range(of: old) {
        data.replaceSubrange(place, with: key + record(key, 7))
        count += 1
      }
      #expect(count > 0)
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

@Suite("the worked examples of Docs/Formats")
struct FormatExampleTests {
  let directory = TemporaryDirectory()

  @Test("storage-lmdb.md")
  func lmdb() throws {
    let store = try Disk.lmdb.open(directory.path)
    try store.put(Array("hello".utf8), for: Array("rooms/42".utf8))
    try store.put(Array("long".utf8), for: [UInt8](repeating: 0x61, count: 512))
    store.close()
    let one: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
    let chunk = [UInt8](repeating: 0x61, count: 509)
    // A key and its value lie side by side in an LMDB file.
    let nodes: [[UInt8]] = [
      [0] + Array("rooms/42".utf8) + [0xAC, 0x3E, 0xE4, 0x0D] + Array("hello".utf8),
      [0] + chunk + [0xFF, 0x60, 0xF6, 0xF8, 0xF0] + one,
      [1] + one + Array("aaa".utf8) + [0x0B, 0xD7, 0xB0, 0xF9] + Array("long".utf8),
      [2] + Array("bucket".utf8) + [0x3E, 0x2C, 0x88, 0x46] + one,
      [2] + Array("format".utf8) + [0xB7, 0xD8, 0x33, 0x6B] + one,
    ]
    try directory.edit("rows.mdb") { data in
      for node in nodes { #expect(data.range(of: Data(node)) != nil) }
    }
  }

  @Test("storage-sqlite.md")
  func sqlite() throws {
    let store = try Disk.sqlite.open(directory.path)
    try store.put(Array("hello".utf8), for: Array("rooms/42".utf8))
    store.close()
    try directory.edit("rows.sqlite") { data in
      let row = Array("rooms/42".utf8) + [0xAC, 0x3E, 0xE4, 0x0D] + Array("hello".utf8)
      #expect(data.range(of: Data(row)) != nil)
      #expect(data[68..<72].elementsEqual([0x54, 0x65, 0x72, 0x6E]))
    }
  }
}
