import Synchronization
import TernStorage

/// A store that counts what is read of another one.
final class CountingStore: OrderedStore {
  /// The reads of a store.
  struct Count {
    /// Rows that were looked up, or met by a cursor.
    var rows = 0
    /// The bytes of their keys and values.
    var bytes = 0
    /// The rows, and their bytes, that a cursor held at once, at most.
    var largestPage = (rows: 0, bytes: 0)
  }

  private let inner: any OrderedStore
  private let counted = Mutex(Count())

  init(_ inner: any OrderedStore) { self.inner = inner }

  /// The reads since ``forget()``.
  var count: Count { counted.withLock { $0 } }

  func forget() { counted.withLock { $0 = Count() } }

  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try inner.read { inner throws(StorageError) in
      let reader: any StoreReader = CountingReader(inner.reader, self)
      return try body(Snapshot(reader))
    }
  }

  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try inner.write(body)
  }

  func wipe() throws(StorageError) { try inner.wipe() }

  func close() { inner.close() }

  fileprivate func note(rows: Int, bytes: Int) {
    counted.withLock {
      $0.rows += rows
      $0.bytes += bytes
    }
  }

  fileprivate func notePage(rows: Int, bytes: Int) {
    note(rows: rows, bytes: bytes)
    counted.withLock {
      $0.largestPage = (max($0.largestPage.rows, rows), max($0.largestPage.bytes, bytes))
    }
  }
}

private final class CountingReader: StoreReader {
  private let inner: any StoreReader
  private let store: CountingStore

  init(_ inner: any StoreReader, _ store: CountingStore) {
    self.inner = inner
    self.store = store
  }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let keyBytes = key.count
    return try inner.withValue(for: key) { value throws(StorageError) in
      store.note(rows: 1, bytes: keyBytes + value.count)
      return try body(value)
    }
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    try inner.fill(&page, from: scan)
    let bytes = (0..<page.count).reduce(0) { sum, row in
      sum + page.key(at: row).count + page.value(at: row).count
    }
    store.notePage(rows: page.count, bytes: bytes)
  }
}
