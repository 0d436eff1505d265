import Foundation
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// The storage of the clients of scenarios.
public struct SpecStorage: Sendable {
  /// The name of the backend.
  public let name: String
  /// True when unneeded documents stay until they are evicted, and a restart finds the former
  /// contents.
  public let isDurable: Bool
  /// Opens an empty store.
  let open: @Sendable () throws -> any OrderedStore

  /// The backends there are.
  public static let all = [memory, sqlite, lmdb]

  /// In memory, where only what is needed is kept.
  public static let memory = SpecStorage(name: "memory", isDurable: false) { MemoryStore() }

  /// In SQLite files.
  public static let sqlite = SpecStorage(name: "sqlite", isDurable: true) {
    try SQLiteStore(path: temporaryFolder(), durability: .relaxed)
  }

  /// In LMDB files.
  public static let lmdb = SpecStorage(name: "lmdb", isDurable: true) {
    try LMDBStore(path: temporaryFolder(), durability: .relaxed)
  }

  private static func temporaryFolder() -> String {
    let name = "tern-spec-\(ProcessInfo.processInfo.globallyUniqueString)"
    return FileManager.default.temporaryDirectory.appending(path: name).path()
  }
}
