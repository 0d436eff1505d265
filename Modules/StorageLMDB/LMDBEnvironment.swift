import CLMDB
import Dispatch
import Synchronization
import TernStorage

/// An open store: its file, the transactions of its snapshots, and whether it still works.
final class LMDBEnvironment: Sendable {
  /// With this much of the map free, changes are not kept for a retry in a larger map.
  static let ampleBytes = 4 << 30
  /// The longest time that growing the map waits for snapshots to end. It bounds the wait for a
  /// lock, so it is real time, which no simulation plays.
  static let growthWaitMilliseconds = 5_000

  private let limitBytes: Int?
  private let state: Mutex<State>

  private struct State: Sendable {
    // Let go when the store is closed and the last snapshot has ended.
    var handle: LMDBHandle?
    var idle: [LMDBTransaction] = []
    var lent = 0
    /// True while no snapshot may begin: the file waits for those that are lent, or changes.
    var isGrowing = false
    /// Readers that wait for the end of that.
    var blockedReaders: [DispatchSemaphore] = []
    /// The writer that waits for the last snapshot.
    var blockedWriter: DispatchSemaphore?
    var isClosed = false
    var hasFailed = false

    func open() throws(StorageError) -> LMDBHandle {
      if isClosed { throw .closed }
      if hasFailed { throw .failed }
      guard let handle else { throw .closed }
      return handle
    }

    mutating func endGrowing() {
      isGrowing = false
      blockedWriter = nil
      for reader in blockedReaders { reader.signal() }
      blockedReaders = []
    }

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

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.blockedWriter?.signal()
      state.letGo()
    }
  }
}
