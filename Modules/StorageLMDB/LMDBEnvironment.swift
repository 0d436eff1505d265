import CLMDB
import Dispatch
import Synchronization
import TernStorage

/// An open store: its file, the transactions of its snapshots, and whether it still works.
///
/// It is the one place that knows which snapshots are lent. LMDB must not change its map, and the
/// file must not be replaced, while a transaction is open; ``resizeMap(_:)`` and
/// ``replaceFile(_:with:)`` therefore hold new snapshots back, wait for those that are lent, and
/// let the others continue afterwards.
///
/// All state is behind one mutex that is never held during I/O on rows. Waiting happens on
/// semaphores outside the mutex.
final class LMDBEnvironment: Sendable {
  /// With this much of the map free, changes are not kept for a retry in a larger map.
  static let ampleBytes = 4 << 30
  /// The longest time that growing the map waits for snapshots to end. It bounds the wait for a
  /// lock, so it is real time, which no simulation plays.
  static let growthWaitMilliseconds = 5_000

  /// The fixed size of the map of a limited store; `nil` when the map grows on demand.
  private let limitBytes: Int?
  private let state: Mutex<State>

  /// The transactions and the waits of one store.
  ///
  /// Invariants: `lent` counts the transactions that snapshots hold; `idle` holds reset
  /// transactions, each with a slot of the table of readers; `blockedReaders` is empty unless
  /// `isGrowing`.
  private struct State: Sendable {
    // Let go when the store is closed and the last snapshot has ended.
    var handle: LMDBHandle?
    /// Reset read transactions for reuse. They are dropped before the map or the file changes,
    /// because a reset transaction belongs to its map.
    var idle: [LMDBTransaction] = []
    var lent = 0
    /// True while no snapshot may begin: the file waits for those that are lent, or changes.
    var isGrowing = false
    /// Readers that wait for the end of that.
    var blockedReaders: [DispatchSemaphore] = []
    /// The writer that waits for the last snapshot.
    ///
    /// Signalled by the last snapshot that ends, and by ``LMDBEnvironment/close()``.
    var blockedWriter: DispatchSemaphore?
    var isClosed = false
    var hasFailed = false

    /// Returns the file while the store may be used.
    ///
    /// A closed store reports ``StorageError/closed`` even after a failure. The last case is a file
    /// that is being replaced.
    func open() throws(StorageError) -> LMDBHandle {
      if isClosed { throw .closed }
      if hasFailed { throw .failed }
      guard let handle else { throw .closed }
      return handle
    }

    /// Wakes all readers that were held back. Each of them tries again from the start, so it sees a
    /// failure or a close that happened meanwhile.
    mutating func endGrowing() {
      isGrowing = false
      blockedWriter = nil
      for reader in blockedReaders { reader.signal() }
      blockedReaders = []
    }

    /// Closes the file once the store is closed and the last snapshot has ended. Dropping the
    /// handle closes LMDB's environment and releases the directory.
    mutating func letGo() {
      guard isClosed, lent == 0 else { return }
      idle = []
      handle = nil
    }
  }

  init(_ handle: LMDBHandle, limitBytes: Int?) {
    self.limitBytes = limitBytes
    state = Mutex(State(handle: handle))
  }

  /// The file, while the store may be used.
  func open() throws(StorageError) -> LMDBHandle {
    try state.withLock { state throws(StorageError) in try state.open() }
  }

  /// A reader with a snapshot of this moment.
  ///
  /// Blocks while the map or the file changes, for at most the wait for snapshots plus the change
  /// itself.
  ///
  /// - Throws: ``StorageError/closed``, ``StorageError/failed``, and
  ///   ``StorageError/tooManyReaders(limit:)`` when ``LMDBStore/readerLimit`` snapshots are lent.
  func take() throws(StorageError) -> LMDBReader {
    while true {
      var gate: DispatchSemaphore?
      let taken = try state.withLock { state throws(StorageError) -> LMDBReader? in
        guard !state.isGrowing else {
          let semaphore = DispatchSemaphore(value: 0)
          state.blockedReaders.append(semaphore)
          gate = semaphore
          return nil
        }
        let handle = try state.open()
        guard state.lent < LMDBStore.readerLimit else {
          throw .tooManyReaders(limit: LMDBStore.readerLimit)
        }
        let transaction = try Self.begin(&state.idle, handle)
        state.lent += 1
        return LMDBReader(transaction)
      }
      if let taken { return taken }
      gate?.wait()
    }
  }

  private static func begin(
    _ idle: inout [LMDBTransaction], _ handle: LMDBHandle
  ) throws(StorageError) -> LMDBTransaction {
    if let transaction = idle.popLast() {
      try transaction.renew()
      return transaction
    }
    return try LMDBTransaction(handle, isReadOnly: true)
  }

  /// Ends a snapshot. Its transaction rests for the next one, or ends for good when the store is
  /// closed.
  func giveBack(_ reader: LMDBReader) {
    let transaction = reader.transaction
    state.withLock { state in
      state.lent -= 1
      if state.lent == 0 { state.blockedWriter?.signal() }
      if state.isClosed {
        transaction.abort()
      } else {
        transaction.rest()
        state.idle.append(transaction)
      }
      state.letGo()
    }
  }

  /// Begins the write transaction. The caller holds the write lock.
  func beginWrite() throws(StorageError) -> LMDBTransaction {
    let handle = try open()
    return try LMDBTransaction(handle, isReadOnly: false)
  }

  /// True when no transaction can fill the free part of the map.
  var isMapAmple: Bool {
    guard limitBytes == nil else { return true }
    let handle = state.withLock { $0.handle }
    return (handle?.freeMapBytes ?? 0) >= Self.ampleBytes
  }

  /// Lets a transaction that begins with a removal pass the limit by `bytes`.
  func raiseLimit(by bytes: Int) throws(StorageError) {
    guard let limitBytes else { return }
    try resizeMap { _ in limitBytes + bytes }
  }

  /// Changes the size of the map once all snapshots have ended. The caller holds the write lock,
  /// and its transaction has ended.
  ///
  /// - Parameter size: Returns the new size in bytes for the present one. LMDB rounds it up to
  ///   whole pages.
  /// - Throws: ``StorageError/backend(operation:code:)`` with `MDB_MAP_FULL` when snapshots do not
  ///   end within ``growthWaitMilliseconds``. The map is unchanged then, and the write that needed
  ///   it fails.
  func resizeMap(_ size: (Int) -> Int) throws(StorageError) {
    defer { state.withLock { $0.endGrowing() } }
    guard try holdSnapshots() else { throw .backend(operation: "grow", code: MDB_MAP_FULL) }
    try state.withLock { state throws(StorageError) in
      let handle = try state.open()
      state.idle = []
      try handle.setMap(bytes: size(handle.mapBytes))
    }
  }

  /// Lets no snapshot begin, and waits for those that are lent.
  ///
  /// The caller ends the hold with `endGrowing`, also when this returns `false` or throws. A close
  /// wakes the wait early; the caller finds out when it asks for the file.
  ///
  /// - Returns: Whether all have ended in time.
  private func holdSnapshots() throws(StorageError) -> Bool {
    let last = DispatchSemaphore(value: 0)
    let isAlone = try state.withLock { state throws(StorageError) in
      _ = try state.open()
      state.isGrowing = true
      if state.lent > 0 { state.blockedWriter = last }
      return state.lent == 0
    }
    return isAlone
      || last.wait(timeout: .now() + .milliseconds(Self.growthWaitMilliseconds)) == .success
  }

  /// Closes the file once all snapshots have ended, and takes another one in its place. The caller
  /// holds the write lock.
  ///
  /// - Parameters:
  ///   - prepare: Runs while the old file is still open. It is the place for anything that has to
  ///     be durable before the file goes.
  ///   - make: Runs after the old file was closed, and opens its successor in the same directory.
  /// - Throws: ``StorageError/inUse(path:)`` when snapshots do not end in time; what `body` throws,
  ///   and then the store refuses all further work.
  func replaceFile(
    _ prepare: (StoreDirectory) throws(StorageError) -> Void,
    with make: (StoreDirectory) throws(StorageError) -> LMDBHandle
  ) throws(StorageError) {
    defer { state.withLock { $0.endGrowing() } }
    let directory = try open().directory
    guard try holdSnapshots() else { throw .inUse(path: directory.path) }
    try state.withLock { state throws(StorageError) in
      _ = try state.open()
      state.idle = []
    }
    do throws(StorageError) {
      try prepare(directory)
      state.withLock { $0.handle = nil }
      let handle = try make(directory)
      state.withLock { $0.handle = handle }
    } catch {
      fail()
      throw error
    }
  }

  /// Refuses all further work.
  func fail() { state.withLock { $0.hasFailed = true } }

  /// Closes the store.
  ///
  /// Snapshots that are lent stay valid; the file closes with the last of them. A writer that waits
  /// for snapshots is woken and finds the store closed.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.blockedWriter?.signal()
      state.letGo()
    }
  }
}
