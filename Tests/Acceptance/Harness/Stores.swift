import Foundation
import Synchronization
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite

/// The stores of one test, by name; opening a name again gives what was there before.
final class Stores: Sendable {
  private let folder: URL
  private let open = Mutex<[String: any OrderedStore]>([:])

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("tern-acceptance-\(ProcessInfo.processInfo.globallyUniqueString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Opens a store, as a program does that starts again.
  ///
  /// - Parameter kind: `forgetful` is memory that is empty at every start, as a program's own is;
  ///   `memory` stands for a disk.
  func store(_ name: String, kind: String, relaxed: Bool = false) throws -> any OrderedStore {
    let existing = open.withLock { $0[name] }
    if kind == "memory", let existing { return existing }
    existing?.close()
    let path = folder.appendingPathComponent(name).path
    let durability: Durability = relaxed ? .relaxed : .durable
    let store: any OrderedStore =
      switch kind {
      case "sqlite": try SQLiteStore(path: path, durability: durability)
      case "lmdb": try LMDBStore(path: path, durability: durability)
      default: MemoryStore()
      }
    if kind == "forgetful" { return store }
    open.withLock { $0[name] = store }
    return store
  }

  /// The files that hold a text, of the stores whose names begin so.
  func files(containing text: String, of prefix: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return paths.filter { path in
      // A folder has no contents.
      guard path.hasPrefix(prefix),
        let contents = try? Data(contentsOf: folder.appendingPathComponent(path))
      else { return false }
      return contents.range(of: Data(text.utf8)) != nil
    }
  }

  func close() {
    for store in open.withLock({ $0.values }) { store.close() }
    try? FileManager.default.removeItem(at: folder)
  }
}
