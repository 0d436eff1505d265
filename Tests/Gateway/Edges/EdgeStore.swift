import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// A store of each kind, which can be opened again.
final class EdgeStore {
  enum Kind: String, CaseIterable, Sendable {
    case memory, sqlite, lmdb
  }

  let kind: Kind
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "tern-edges-\(UUID().uuidString)").path
  private(set) var store: any OrderedStore

  init(_ kind: Kind) throws {
    self.kind = kind
    store = try Self.open(kind, folder)
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Closes the store and opens it again; what is in memory alone stays open.
  func reopen() throws {
    if kind == .memory { return }
    store.close()
    store = try Self.open(kind, folder)
  }

  private static func open(_ kind: Kind, _ folder: String) throws -> any OrderedStore {
    switch kind {
    case .memory: MemoryStore()
    case .sqlite: try SQLiteStore(path: folder, durability: .relaxed)
    case .lmdb: try LMDBStore(path: folder, durability: .relaxed)
    }
  }
}
