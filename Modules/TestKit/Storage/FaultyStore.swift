import Synchronization
public import TernStorage
import TernStorageMemory

/// A fault of a ``FaultyDisk``.
///
/// A fault of a put abandons one transaction, and the store goes on. A fault of a commit ends the
/// store until it is opened again.
public enum StoreFault: Hashable, Sendable {
  /// A put fails with `StorageError.backend(operation:code:)`; its transaction is abandoned.
  case writeError
  /// A put fails with `StorageError.diskFull`; its transaction is abandoned.
  case diskFull
  /// A commit fails with `StorageError.syncFailed(code:)` and the store refuses further work.
  /// Whether the transaction is there at the next opening is the fault's choice.
  case failedSync(isDurable: Bool)
  /// The machine stops at a commit: the store is dead; only what was durable is there again.
  case crash(isDurable: Bool)
}

/// A disk in memory that keeps one store over crashes, and breaks when told to.
///
/// ```swift
/// let disk = FaultyDisk()
/// disk.inject(.crash(isDurable: false), after: 2)   // the third commit is the last
/// let store = disk.open()
/// ```
///
/// The disk outlives the stores that are opened on it. It may be used from any thread.
public final class FaultyDisk: Sendable {
  /// Durable keeps every commit; relaxed keeps what ``sync(_:)`` was called for.
  private let durability: Durability
  private let state = Mutex(State())

  private struct State: Sendable {
    /// The rows that a crash leaves.
    var durable = MemoryStore()
    /// The faults to come, each with the operations of its kind that go well before it.
    var faults: [(fault: StoreFault, after: Int)] = []
    /// The keys whose rows are damaged.
    var corrupt: Set<[UInt8]> = []
    /// The bytes that are held back for removals while the disk is full; `nil` while it is not.
    var heldBack: Int?
    /// The number of the newest opening; a store of an earlier one is dead.
    var opening = 0
  }

  /// An empty disk; with relaxed durability a crash loses every commit since `sync()`.
  public init(durability: Durability = .durable) { self.durability = durability }

  /// Opens the store as the disk has it. A store opened earlier is dead from now on.
  public func open() -> FaultyStore {
    state.withLock { state in
      state.opening += 1
      return FaultyStore(self, state.durable.fork(), state.opening)
    }
  }

  /// Lets `fault` happen once, after as many puts (or commits) as said went well.
  public func inject(_ fault: StoreFault, after count: Int = 0) {
    state.withLock { $0.faults.append((fault, count)) }
  }

  /// Fills the disk, until ``free()``: puts fail with `StorageError.diskFull`, but for so many
  /// bytes in transactions that begin with a removal.
  public func fill(holdingBack bytes: Int = 0) { state.withLock { $0.heldBack = bytes } }

  /// There is room again.
  public func free() { state.withLock { $0.heldBack = nil } }

  /// Takes space of a disk that may be full.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of a row's key and value.
  ///   - hasRemoved: True in a transaction that began with a removal, for which space is held back.
  /// - Returns: False when the disk is full.
  func take(_ bytes: Int, hasRemoved: Bool) -> Bool {
    state.withLock { state in
      guard let heldBack = state.heldBack else { return true }
      guard hasRemoved, bytes <= heldBack else { return false }
      state.heldBack = heldBack - bytes
      return true
    }
  }

  /// Damages the record under `key`: reading it throws until it is written again.
  public func corrupt(_ key: [UInt8]) { _ = state.withLock { $0.corrupt.insert(key) } }

  /// Stops the machine: the open store is dead, and what was not durable is lost.
  public func crash() { state.withLock { $0.opening += 1 } }

  /// Makes what `store` has durable, as a relaxed store does now and then by itself.
  public func sync(_ store: FaultyStore) { keep(store.fork()) }

  /// Returns true for the store that was opened last, unless the machine has stopped since.
  func isCurrent(_ opening: Int) -> Bool { state.withLock { $0.opening == opening } }

  /// Returns true for a record that is damaged.
  func isCorrupt(_ key: [UInt8]) -> Bool { state.withLock { $0.corrupt.contains(key) } }

  /// Takes records off the damaged ones, because they were written again or removed.
  func repair(_ isRepaired: ([UInt8]) -> Bool) {
    state.withLock { state in state.corrupt = state.corrupt.filter { !isRepaired($0) } }
  }

  /// True when any record is corrupt.
  var hasCorruption: Bool { state.withLock { !$0.corrupt.isEmpty } }

  /// Counts one operation of a kind and returns the fault that is due, if one is.
  ///
  /// Faults of one kind wait side by side, each with a count of its own. An operation has one at
  /// most.
  func fault(at kind: StoreFault.Kind) -> StoreFault? {
    state.withLock { state in
      for index in state.faults.indices where state.faults[index].fault.kind == kind {
        guard state.faults[index].after > 0 else { return state.faults.remove(at: index).fault }
        state.faults[index].after -= 1
      }
      return nil
    }
  }

  /// Keeps a commit, on a durable disk.
  func commit(_ store: MemoryStore) {
    if durability == .durable { keep(store) }
  }

  /// Makes a state the one that a crash leaves.
  func keep(_ store: MemoryStore) { state.withLock { $0.durable = store } }
}

extension StoreFault {
  /// The operation at which a fault happens.
  enum Kind { case put, commit }

  var kind: Kind {
    switch self {
    case .writeError, .diskFull: .put
    case .failedSync, .crash: .commit
    }
  }
}

/// The store on a ``FaultyDisk``.
///
/// It passes everything to a store in memory. A wipe and a compaction commit as a write does, and
/// fail as one does.
public final class FaultyStore: OrderedStore {
  private let disk: FaultyDisk
  /// The rows of this opening, those included that are not durable.
  private let inner: MemoryStore
  private let opening: Int
  /// True after a failed sync, until the disk is opened again.
  private let hasFailed = Mutex(false)

  init(_ disk: FaultyDisk, _ inner: MemoryStore, _ opening: Int) {
    self.disk = disk
    self.inner = inner
    self.opening = opening
  }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try check()
    return try inner.readThrough({ FaultyReader($0, disk) }, body)
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try check()
    let result = try inner.writeThrough({ FaultyWriter($0, disk) }, body)
    try commit()
    return result
  }

  public func wipe() throws(StorageError) {
    try check()
    try inner.wipe()
    try commit()
  }

  /// Fails as a commit does when a fault is due.
  public func compact() throws(StorageError) {
    try check()
    try inner.compact()
    try commit()
  }

  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    try check()
    try inner.inspectFiles(&inspection, bytes: bytes)
  }

  public var isOldFormat: Bool { inner.isOldFormat }

  public func close() { inner.close() }

  /// Copies the rows as they are now.
  func fork() -> MemoryStore { inner.fork() }

  /// - Throws: `StorageError.closed` for a store that is dead, `StorageError.failed` after a failed
  ///   sync.
  private func check() throws(StorageError) {
    guard disk.isCurrent(opening) else { throw .closed }
    if hasFailed.withLock({ $0 }) { throw .failed }
  }

  /// Ends a transaction, which is visible in ``inner`` already.
  private func commit() throws(StorageError) {
    switch disk.fault(at: .commit) {
    case .failedSync(let isDurable):
      if isDurable { disk.keep(inner.fork()) }
      hasFailed.withLock { $0 = true }
      throw .syncFailed(code: 5)
    case .crash(let isDurable):
      if isDurable { disk.keep(inner.fork()) }
      disk.crash()
      throw .closed
    case .writeError, .diskFull, nil:
      disk.commit(inner.fork())
    }
  }
}

/// Damage is found on reading, as real stores find it by their checksums.
private class FaultyReader: StoreReader {
  private let inner: any StoreReader
  fileprivate let disk: FaultyDisk

  init(_ inner: any StoreReader, _ disk: FaultyDisk) {
    self.inner = inner
    self.disk = disk
  }

  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let disk = disk
    let copy = [UInt8](copying: key)
    return try inner.withValue(for: key) { value throws(StorageError) in
      if disk.isCorrupt(copy) { throw .corruptRecord(key: copy) }
      return try body(value)
    }
  }

  final func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    try inner.damagedValue(for: key)
  }

  /// Fills a page. A scan throws for a damaged row anywhere in the page, also for one that its
  /// caller would not reach.
  final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let before = page.count
    try inner.fill(&page, from: scan)
    guard disk.hasCorruption else { return }
    for row in before..<page.count {
      let key = [UInt8](copying: page.key(at: row))
      if disk.isCorrupt(key) { throw .corruptRecord(key: key) }
    }
  }
}

/// It fails puts, and counts the space that they take. Removals always succeed.
private final class FaultyWriter: FaultyReader, StoreWriter {
  private let writer: any StoreWriter
  /// True when the transaction began with a removal.
  private var hasRemoved = false
  private var isFresh = true

  init(_ writer: any StoreWriter, _ disk: FaultyDisk) {
    self.writer = writer
    super.init(writer, disk)
  }

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    switch disk.fault(at: .put) {
    case .writeError: throw .backend(operation: "put", code: 5)
    case .diskFull: throw .diskFull
    case .failedSync, .crash, nil: break
    }
    isFresh = false
    guard disk.take(key.count + value.count, hasRemoved: hasRemoved) else { throw .diskFull }
    try writer.put(value, for: key)
    guard disk.hasCorruption else { return }
    let written = [UInt8](copying: key)
    disk.repair { $0 == written }
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    if isFresh { hasRemoved = true }
    isFresh = false
    try writer.remove(range)
    disk.repair { range.contains($0.span) }
  }
}
