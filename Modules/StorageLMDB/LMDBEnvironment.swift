import CLMDB
import Synchronization
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open store: its file, the transactions of its snapshots, and whether it still works.
final class LMDBEnvironment: Sendable {
  /// With this much of the map free, changes are not kept for a retry in a larger map.
  static let ampleBytes = 4 << 30
  /// The longest time that growing the map waits for snapshots to end, in steps of a millisecond.
  static let growthWaitMilliseconds = 5_000

  private let limitBytes: Int?
  private let state: Mutex<State>

  private struct State: Sendable {
    // Let go when the store is closed and the last snapshot has ended.
    var handle: LMDBHandle?
    var idle: [LMDBTransaction] = []
    var lent = 0
    var isGrowing = false
    var isClosed = false
    var hasFailed = false

    func open() throws(StorageError) -> LMDBHandle {
      if isClosed { throw .closed }
      if hasFailed { throw .failed }
      guard let handle else { throw .closed }
      return handle
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
      let taken = try state.withLock { state throws(StorageError) -> LMDBReader? in
        guard !state.isGrowing else { return nil }
        let handle = try state.open()
        guard state.lent < LMDBStore.readerLimit else {
          throw .tooManyReaders(limit: LMDBStore.readerLimit)
        }
        let transaction = try Self.begin(&state.idle, handle)
        state.lent += 1
        return LMDBReader(transaction)
      }
      if let taken { return taken }
      usleep(1_000)
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
    defer { state.withLock { $0.isGrowing = false } }
    for _ in 0..<Self.growthWaitMilliseconds {
      let hasGrown = try state.withLock { state throws(StorageError) in
        let handle = try state.open()
        state.isGrowing = true
        guard state.lent == 0 else { return false }
        state.idle = []
        try handle.setMap(bytes: size(handle.mapBytes))
        return true
      }
      if hasGrown { return }
      usleep(1_000)
    }
    throw .backend(operation: "grow", code: MDB_MAP_FULL)
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
    defer { state.withLock { $0.isGrowing = false } }
    let directory = try open().directory
    for _ in 0..<Self.growthWaitMilliseconds {
      let isAlone = try state.withLock { state throws(StorageError) in
        _ = try state.open()
        state.isGrowing = true
        if state.lent == 0 { state.idle = [] }
        return state.lent == 0
      }
      if isAlone {
        do throws(StorageError) {
          try prepare(directory)
          state.withLock { $0.handle = nil }
          let handle = try make(directory)
          return state.withLock { $0.handle = handle }
        } catch {
          fail()
          throw error
        }
      }
      usleep(1_000)
    }
    throw .inUse(path: directory.path)
  }

  /// Refuses all further work.
  func fail() { state.withLock { $0.hasFailed = true } }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.letGo()
    }
  }
}
