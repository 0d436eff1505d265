import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// The stores every test of a cache runs on.
enum CacheStore: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb

  /// An empty store that is opened anew by ``Opened/reopen()``.
  func open() throws -> Opened { try Opened(self) }

  /// A store and the directory it lies in, which goes with it.
  final class Opened {
    private let kind: CacheStore
    private let path: String
    private(set) var store: any OrderedStore

    fileprivate init(_ kind: CacheStore) throws {
      self.kind = kind
      path =
        FileManager.default.temporaryDirectory
        .appending(path: "tern-documents-" + UUID().uuidString).path
      store = try Opened.open(kind, path)
    }

    deinit {
      store.close()
      try? FileManager.default.removeItem(atPath: path)
    }

    /// Closes the store and opens it again; one in memory keeps what it has.
    func reopen() throws {
      guard kind != .memory else { return }
      store.close()
      store = try Opened.open(kind, path)
    }

    /// Every byte of every file of the store.
    func fileBytes() -> [UInt8] {
      let files = FileManager.default.enumerator(atPath: path)
      return (files?.allObjects as? [String] ?? []).flatMap { name in
        [UInt8](FileManager.default.contents(atPath: path + "/" + name) ?? Data())
      }
    }

    private static func open(_ kind: CacheStore, _ path: String) throws -> any OrderedStore {
      switch kind {
      case .memory: MemoryStore()
      case .sqlite: try SQLiteStore(path: path, durability: .relaxed)
      case .lmdb: try LMDBStore(path: path, durability: .relaxed)
      }
    }
  }
}
