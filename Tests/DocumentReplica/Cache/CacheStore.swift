import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite
import TernTestKit

/// The stores every test of a cache runs on.
enum CacheStore: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb

  /// An empty store that is opened anew by ``Opened/reopen()``.
  func open() throws -> Opened { try Opened(self) }

  /// A store and the directory it lies in, which goes with it.
  final class Opened {
    private let kind: CacheStore
    private let path: String
    /// The disk of the store in memory; the others are in files.
    private let disk = FaultyDisk()
    private(set) var store: any OrderedStore

    fileprivate init(_ kind: CacheStore) throws {
      self.kind = kind
      path =
        FileManager.default.temporaryDirectory
        .appending(path: "tern-documents-" + UUID().uuidString).path
      store = try Opened.open(kind, path, disk)
    }

    deinit {
      store.close()
      try? FileManager.default.removeItem(atPath: path)
    }

    /// Closes the store and opens it again; one in memory keeps what it has.
    func reopen() throws {
      store.close()
      store = try Opened.open(kind, path, disk)
    }

    /// Flips one bit of a row, in its key, its checksum or its value, as it lies in the file, and
    /// opens the store again. In memory the row cannot be read then. LMDB refuses a store with a
    /// damaged key, so its keys stay.
    ///
    /// - Returns: How often the row was found; stale pages may hold it, too.
    func flip(_ row: Row, bit: Int) throws -> Int {
      store.close()
      defer { store = (try? Opened.open(kind, path, disk)) ?? store }
      guard kind != .memory else {
        disk.corrupt(row.key)
        return 1
      }
      let file = URL(filePath: path + (kind == .sqlite ? "/rows.sqlite" : "/rows.mdb"))
      var bytes = try Data(contentsOf: file)
      let checksumBytes = 4
      let length = row.key.count + checksumBytes + row.value.count
      let first = kind == .lmdb ? row.key.count * 8 : 0
      let place = first + bit % (length * 8 - first)
      var count = 0
      var start = bytes.startIndex
      while let found = bytes.range(of: Data(row.key), in: start..<bytes.endIndex) {
        start = found.lowerBound + 1
        let value = found.upperBound + checksumBytes
        guard value + row.value.count <= bytes.endIndex,
          bytes[value..<value + row.value.count].elementsEqual(row.value)
        else { continue }
        bytes[found.lowerBound + place / 8] ^= 1 << UInt8(place % 8)
        count += 1
        start = found.lowerBound + length
      }
      try bytes.write(to: file)
      return count
    }

    /// Every byte of every file of the store.
    func fileBytes() -> [UInt8] {
      let files = FileManager.default.enumerator(atPath: path)
      return (files?.allObjects as? [String] ?? []).flatMap { name in
        [UInt8](FileManager.default.contents(atPath: path + "/" + name) ?? Data())
      }
    }

    private static func open(
      _ kind: CacheStore, _ path: String, _ disk: FaultyDisk
    ) throws -> any OrderedStore {
      switch kind {
      case .memory: disk.open()
      case .sqlite: try SQLiteStore(path: path, durability: .relaxed)
      case .lmdb: try LMDBStore(path: path, durability: .relaxed)
      }
    }
  }
}
