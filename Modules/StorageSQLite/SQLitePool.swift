import CSQLite
import Synchronization
import TernStorage

/// The connections of the snapshots of one store, and whether it still works.
///
/// The mutex is held for bookkeeping only. Opening a connection and beginning its snapshot happen
/// outside, so that a slow disk does not block the return of connections.
final class SQLitePool: Sendable {
  /// The longest time that a pause waits for snapshots to end, in steps of a millisecond.
  static let pauseMilliseconds = 5_000

  private let state: Mutex<State>

  /// The connections, and the state of the store.
  ///
  /// `lent` counts the snapshots, those included that are just being opened. `idle` has at most
  /// ``SQLiteStore/idleReaderLimit`` connections.
  private struct State: Sendable {
    // Let go when the store is closed; connections still lent hold it until they end.
    var directory: StoreDirectory?
    var pages: SQLitePages
    var idle: [IdleConnection] = []
    /// Counts the calls of ``SQLitePool/releaseIdle()``.
    var round = 0
    var lent = 0
    /// True when new snapshots have to wait.
    var isPaused = false
    var isClosed = false
    var hasFailed = false
    var cache = CacheCounts()

    /// A connection that no snapshot has.
    struct IdleConnection: Sendable {
      let connection: SQLiteConnection
      /// The round in which it was given back.
      let round: Int
    }

    func openDirectory() throws(StorageError) -> StoreDirectory {
      try check()
      guard let directory else { throw .closed }
      return directory
    }

    func check() throws(StorageError) {
      if isClosed { throw .closed }
      if hasFailed { throw .failed }
    }
  }

  init(_ directory: StoreDirectory, _ pages: SQLitePages) {
    state = Mutex(State(directory: directory, pages: pages))
  }

  /// Opens connections in another way from here on.
  func adopt(_ pages: SQLitePages) {
    state.withLock { state in
      state.pages = pages
      state.idle = []
    }
  }

  /// Throws unless the store may be used.
  func check() throws(StorageError) {
    try state.withLock { state throws(StorageError) in try state.check() }
  }

  /// A reader with a snapshot of this moment.
  ///
  /// Waits, polling each millisecond, while the pool is paused.
  ///
  /// - Throws: ``StorageError/tooManyReaders(limit:)``, ``StorageError/closed``,
  ///   ``StorageError/failed``; errors of opening the database.
  func take() throws(StorageError) -> SQLiteReader {
    let (directory, pages, idle) = try waiting {
      state throws(StorageError) -> (StoreDirectory, SQLitePages, SQLiteConnection?)? in
      let directory = try state.openDirectory()
      guard !state.isPaused else { return nil }
      guard state.lent < SQLiteStore.readerLimit else {
        throw .tooManyReaders(limit: SQLiteStore.readerLimit)
      }
      state.lent += 1
      return (directory, state.pages, state.idle.popLast()?.connection)
    }
    do throws(StorageError) {
      let connection = if let idle { idle } else { try SQLiteConnection(directory, pages) }
      try connection.statement(.beginRead).run()
      try connection.statement(.touch).run()
      return SQLiteReader(connection)
    } catch {
      release(nil)
      throw error
    }
  }

  /// Runs `body` while no snapshot is lent; the caller holds the write lock.
  ///
  /// - Throws: ``StorageError/inUse(path:)`` when snapshots do not end in time; what `body` throws,
  ///   and then the store refuses all further work.
  func pause(
    _ body: (StoreDirectory) throws(StorageError) -> Void
  ) throws(StorageError) {
    let directory = try state.withLock { state throws(StorageError) in
      let directory = try state.openDirectory()
      state.isPaused = true
      return directory
    }
    defer { state.withLock { $0.isPaused = false } }
    for _ in 0..<Self.pauseMilliseconds {
      let isAlone = state.withLock { state in
        if state.lent == 0 { state.idle = [] }
        return state.lent == 0
      }
      if isAlone {
        do throws(StorageError) { return try body(directory) } catch {
          fail()
          throw error
        }
      }
      sqlite3_sleep(1)
    }
    throw .inUse(path: directory.path)
  }

  /// Tries `body` until it has a result.
  private func waiting<R: Sendable>(
    _ body: (inout State) throws(StorageError) -> R?
  ) throws(StorageError) -> R {
    while true {
      let result = try state.withLock { state throws(StorageError) in try body(&state) }
      if let result { return result }
      sqlite3_sleep(1)
    }
  }

  /// Ends a snapshot, and keeps its connection for the next one.
  ///
  /// A connection whose transaction cannot be ended is closed rather than kept.
  func giveBack(_ reader: SQLiteReader) {
    do throws(StorageError) {
      try reader.connection.statement(.commit).run()
      let counts = reader.connection.takeCacheCounts()
      release(reader.connection, counts)
    } catch {
      release(nil)
    }
  }

  /// Closes the connections that were not used since the last call.
  ///
  /// Called from time to time, so that connections which a burst of snapshots has opened do not
  /// keep memory and files.
  func releaseIdle() {
    // Closed with the result, outside the lock: others take and give back connections meanwhile.
    _ = state.withLock { state in
      let unused = state.idle.filter { $0.round < state.round }
      state.idle.removeAll { $0.round < state.round }
      state.round += 1
      return unused
    }
  }

  /// The connections that no snapshot has.
  var idleCount: Int { state.withLock { $0.idle.count } }

  /// Refuses all further work.
  func fail() { state.withLock { $0.hasFailed = true } }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.idle = []
      state.directory = nil
    }
  }

  /// The lookups of pages by connections that were given back, and by the writer.
  var cacheCounts: CacheCounts { state.withLock { $0.cache } }

  /// Adds lookups of pages.
  func count(_ counts: CacheCounts) { state.withLock { $0.cache.add(counts) } }

  private func release(_ connection: SQLiteConnection?, _ counts: CacheCounts = CacheCounts()) {
    state.withLock { state in
      state.lent -= 1
      state.cache.add(counts)
      if let connection, !state.isClosed, state.idle.count < SQLiteStore.idleReaderLimit {
        state.idle.append(State.IdleConnection(connection: connection, round: state.round))
      }
    }
  }
}

extension CacheCounts {
  fileprivate mutating func add(_ other: CacheCounts) {
    hits += other.hits
    misses += other.misses
  }
}
