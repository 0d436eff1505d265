import CSQLite
import CSQLitePages
import Dispatch
import Synchronization
import TernStorage

/// Moves most of a long log into the database beside the commits, on a thread and a connection of
/// its own.
///
/// It is an advance only. The writer moves the rest, with no commit in between, so that the log can
/// begin anew: it finds a few pages and a database that is synced, and waits for neither. Until
/// then SQLite keeps the whole log.
final class SQLiteLogMover: Sendable {
  /// The most passes over the log: each moves what was committed during the one before.
  private static let mostPasses = 4
  /// The pages that are few enough to be left to the writer.
  private static let fewPages: Int32 = 64

  private let pool: SQLitePool
  private let queue = DispatchQueue(label: "tern.sqlite.log", qos: .utility)
  private let running = Atomic(0)
  /// Locked while the log is moved. Opened at the first move.
  private let connection = Mutex<SQLiteConnection?>(nil)

  init(_ pool: SQLitePool) { self.pool = pool }

  /// True when every move that was begun has ended.
  var isIdle: Bool { running.load(ordering: .acquiring) == 0 }

  /// Begins a move.
  func begin() {
    running.add(1, ordering: .relaxed)
    queue.async {
      self.connection.withLock { self.move(over: &$0) }
      self.running.subtract(1, ordering: .releasing)
    }
  }

  /// Waits until every move that was begun has ended.
  func finish() { queue.sync {} }

  /// Runs `body` while no log is moved here; it may close the connection.
  func exclude<R: Sendable, E: Error>(
    _ body: (inout SQLiteConnection?) throws(E) -> R
  ) throws(E) -> R {
    try connection.withLock { connection throws(E) in try body(&connection) }
  }

  /// A failure to sync ends the store's work, as the writer's would. All others are the writer's to
  /// meet: it moves the log in any case.
  private func move(over connection: inout SQLiteConnection?) {
    guard let opened = try? connection ?? open() else { return }
    connection = opened
    var known: Int32 = 0
    for _ in 0..<Self.mostPasses {
      var (pages, moved) = (Int32(-1), Int32(-1))
      // Safe: the library writes both numbers during the call only.
      let code = unsafe sqlite3_wal_checkpoint_v2(
        opened.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
      if code & 0xFF == SQLITE_IOERR { return pool.fail() }
      guard code == SQLITE_OK, moved > known else { return }
      // SQLite leaves this to the pass that finds no commit behind it.
      if unsafe tern_pages_sync(opened.handle) != SQLITE_OK { return pool.fail() }
      if moved - known <= Self.fewPages { return }
      known = moved
    }
  }

  private func open() throws(StorageError) -> SQLiteConnection {
    let (directory, pages) = try pool.place()
    let connection = try SQLiteConnection(directory, pages)
    // The library knows of the log once something was read.
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    return connection
  }
}
