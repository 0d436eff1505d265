import Synchronization
public import TernStorage

/// A store that writes down what is done with another one.
///
/// The changes of one transaction lie side by side, as a store has one writer. A test asserts what
/// was made durable together, and how often.
public final class RecordingStore: OrderedStore {
  /// One thing that was done.
  public enum Event: Hashable, Sendable {
    /// A snapshot was lent.
    case read
    /// A row was put, by a transaction that may still be abandoned.
    case put(key: [UInt8], value: [UInt8])
    /// A range was removed, by a transaction that may still be abandoned.
    case remove(KeyRange)
    /// The transaction is durable.
    case committed
    /// The transaction left nothing behind.
    case abandoned(StorageError)
    /// Everything was removed.
    case wiped
    /// The store was closed.
    case closed
  }

  private let inner: any OrderedStore
  /// The events so far; memory grows until ``forget()``.
  private let recorded = Mutex<[Event]>([])

  /// Records what is done with `inner`.
  public init(_ inner: any OrderedStore) { self.inner = inner }

  /// The operations so far, in order.
  public var events: [Event] { recorded.withLock { $0 } }

  /// Forgets what was done so far.
  public func forget() { recorded.withLock { $0 = [] } }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    record(.read)
    return try inner.read(body)
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    do throws(StorageError) {
      let result = try inner.writeThrough({ RecordingWriter($0, self) }, body)
      record(.committed)
      return result
    } catch {
      record(.abandoned(error))
      throw error
    }
  }

  public func wipe() throws(StorageError) {
    try inner.wipe()
    record(.wiped)
  }

  public func compact() throws(StorageError) { try inner.compact() }

  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    try inner.inspectFiles(&inspection, bytes: bytes)
  }

  public var isOldFormat: Bool { inner.isOldFormat }

  public func close() {
    record(.closed)
    inner.close()
  }

  /// Appends an event, from any thread.
  fileprivate func record(_ event: Event) { recorded.withLock { $0.append(event) } }
}

/// It records a change before it is made, so a change that fails is recorded, too.
private final class RecordingWriter: StoreWriter {
  private let inner: any StoreWriter
  private let store: RecordingStore

  init(_ inner: any StoreWriter, _ store: RecordingStore) {
    self.inner = inner
    self.store = store
  }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    try inner.withValue(for: key, body)
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    try inner.fill(&page, from: scan)
  }

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    store.record(.put(key: [UInt8](copying: key), value: [UInt8](copying: value)))
    try inner.put(value, for: key)
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    store.record(.remove(range))
    try inner.remove(range)
  }
}
