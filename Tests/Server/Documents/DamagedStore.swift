import Foundation
import Synchronization
import TernStorage
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite
import Testing

/// The stores a server's truth may lie in.
enum ServerStore: String, CaseIterable, Sendable {
  case memory, sqlite, lmdb

  /// A folder for one store, which goes with it.
  final class Folder {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "tern-server-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  func open(
    in folder: Folder, _ integrity: StoreIntegrity = .pages
  ) throws -> any OrderedStore {
    switch self {
    case .memory: MemoryStore()
    case .sqlite:
      try SQLiteStore(
        path: folder.path, durability: .relaxed, integrity: integrity)
    case .lmdb: try LMDBStore(path: folder.path, durability: .relaxed)
    }
  }
}

/// A store of which some records cannot be read, whatever backend it is.
final class DamagedStore: OrderedStore {
  private let inner: any OrderedStore
  private let damaged = Mutex<Set<[UInt8]>>([])

  init(_ inner: any OrderedStore) { self.inner = inner }

  /// Damages every record whose key is one of those meant, and says how many there were.
  @discardableResult
  func damage(where isMeant: ([UInt8]) -> Bool) throws -> Int {
    let keys = try inner.read { snapshot throws(StorageError) in
      try snapshot.scan().map(\.key).filter(isMeant)
    }
    damaged.withLock { $0.formUnion(keys) }
    return keys.count
  }

  func mend() { damaged.withLock { $0 = [] } }

  func isDamaged(_ key: [UInt8]) -> Bool { damaged.withLock { $0.contains(key) } }

  func forget(_ isMended: ([UInt8]) -> Bool) {
    damaged.withLock { keys in keys = keys.filter { !isMended($0) } }
  }

  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try inner.read { snapshot throws(StorageError) in
      let reader = DamagedReader(snapshot.reader, self)
      return try body(Snapshot(reader))
    }
  }

  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try inner.write { transaction throws(StorageError) in
      let writer = DamagedWriter(transaction.writer, self)
      var wrapped = WriteTransaction(writer)
      return try body(&wrapped)
    }
  }

  func wipe() throws(StorageError) { try inner.wipe() }

  func close() { inner.close() }
}

private class DamagedReader: StoreReader {
  private let inner: any StoreReader
  fileprivate let store: DamagedStore

  init(_ inner: any StoreReader, _ store: DamagedStore) {
    self.inner = inner
    self.store = store
  }

  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let copy = [UInt8](copying: key)
    if store.isDamaged(copy) { throw .corruptRecord(key: copy) }
    return try inner.withValue(for: key, body)
  }

  final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let before = page.count
    try inner.fill(&page, from: scan)
    for row in before..<page.count {
      let key = [UInt8](copying: page.key(at: row))
      if store.isDamaged(key) { throw .corruptRecord(key: key) }
    }
  }
}

private final class DamagedWriter: DamagedReader, StoreWriter {
  private let writer: any StoreWriter

  init(_ writer: any StoreWriter, _ store: DamagedStore) {
    self.writer = writer
    super.init(writer, store)
  }

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    try writer.put(value, for: key)
    let written = [UInt8](copying: key)
    store.forget { $0 == written }
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    try writer.remove(range)
    store.forget { range.contains($0.span) }
  }
}
