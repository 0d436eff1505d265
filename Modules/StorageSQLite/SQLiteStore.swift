import CSQLite
import Synchronization
public import TernStorage

/// A store in one SQLite database with a write-ahead log. Format: Docs/Formats/storage-sqlite.md.
///
/// Snapshots have a connection each, from a pool that keeps some of them open; the writer has its
/// own. The directory is held for this one opening.
public final class SQLiteStore: OrderedStore {
  /// The most snapshots at one time.
  public static let readerLimit = 64
  /// The most idle connections kept: each has a cache of 2 MB and two files.
  static let idleReaderLimit = 3
  /// The pages of the log after which a commit moves them into the database.
  static let checkpointPages = 1_000
  /// The space held back for removals on a full disk: the log of a commit that settles the most
  /// rows that a ledger gathers.
  static let ballastBytes = 8 * 1024 * 1024

  let pool: SQLitePool
  private let durability: Durability
  private let limitBytes: Int?
  private let integrity: StoreIntegrity
  private let writer: Mutex<Writer>

  private struct Writer: Sendable {
    // Let go when the store is closed.
    var connection: SQLiteConnection?
    let ballast: ReservedSpace
    var isDiskFull = false
  }

  /// Opens the store in the directory `path`, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - path: A directory for this store alone.
  ///   - durability: When a write returns.
  ///   - limitBytes: The size past which the store does not grow: `StorageError.diskFull`.
  ///   - integrity: The bytes that are checked when they are read. Stores of version 1 check
  ///     records alone until ``compact()``.
  /// - Throws: `StorageError.inUse(path:)`, `StorageError.readOnly(path:)`,
  ///   `StorageError.newerFormat(found:supported:)`, `StorageError.corruptStore(reason:)`.
  public init(
    path: String, durability: Durability = .durable, limitBytes: Int? = nil,
    integrity: StoreIntegrity = .pages
  ) throws(StorageError) {
    let directory = try StoreDirectory(path: path)
    if directory.isBeingWiped { try directory.finishWipe(of: Self.files) }
    try SQLiteFormat.refuseCutFile(in: directory)
    do throws(StorageError) { try SQLiteWitness.examineLog(in: directory, durability) } catch {
      guard integrity == .recovery, error.isCorruption else { throw error }
      try SQLiteWitness.quarantineLog(in: directory)
    }
    let pages = try SQLiteFormat.pages(in: directory, integrity)
    let connection = try Self.connectFromReserve(directory, pages, durability, limitBytes)
    self.durability = durability
    self.limitBytes = limitBytes
    self.integrity = integrity
    pool = SQLitePool(directory, pages)
    let ballast = ReservedSpace(path: directory.file(Self.ballast), bytes: Self.ballastBytes)
    writer = Mutex(Writer(connection: connection, ballast: ballast))
  }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let lent = try pool.take()
    defer { pool.giveBack(lent) }
    let reader: any StoreReader = lent
    return try body(Snapshot(reader))
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try writer.withLock { state throws(StorageError) in
      try pool.check()
      do throws(StorageError) {
        result = try Self.transact(&state, body)
      } catch {
        if error == .diskFull { giveBackSpace(&state) }
        if case .syncFailed = error { pool.fail() }
        throw error
      }
      if let counts = state.connection?.takeCacheCounts() { pool.count(counts) }
      try afterCommit(&state)
    }
    guard let result else { throw .abandoned }
    return result
  }

  public func close() {
    writer.withLock { state in
      pool.close()
      state.connection = nil
    }
  }

  /// Removes everything: the database is closed, its files are overwritten and removed, and a new
  /// one is made.
  public func wipe() throws(StorageError) {
    try writer.withLock { state throws(StorageError) in
      try pool.pause { directory throws(StorageError) in
        try directory.beginWipe()
        state.connection = nil
        try directory.finishWipe(of: Self.files)
        let pages = try SQLiteFormat.pages(in: directory, integrity)
        state.connection = try Self.connect(directory, pages, durability, limitBytes)
        pool.adopt(pages)
        state.ballast.release()
        state.ballast.hold()
      }
    }
  }

  /// Every file that may hold rows, or what is left of them; and the ballast, beside which there is
  /// a database with bytes in it.
  private static let files = [
    SQLiteWitness.file, "rows.sqlite", "rows.sqlite-wal", "rows.sqlite-shm",
    "rows.sqlite-journal", SQLiteWitness.quarantine, ballast,
  ]
  private static let ballast = "ballast"

  /// The writer's connection, also on a disk without a free byte: the index of the log takes some.
  private static func connectFromReserve(
    _ directory: StoreDirectory, _ pages: SQLitePages, _ durability: Durability,
    _ limitBytes: Int?
  ) throws(StorageError) -> SQLiteConnection {
    do throws(StorageError) {
      return try connect(directory, pages, durability, limitBytes)
    } catch {
      guard error == .diskFull, directory.bytes(of: ballast) ?? 0 > 0 else { throw error }
      ReservedSpace.release(directory.file(ballast))
      return try connect(directory, pages, durability, limitBytes)
    }
  }

  /// The writer's connection.
  private static func connect(
    _ directory: StoreDirectory, _ pages: SQLitePages, _ durability: Durability,
    _ limitBytes: Int?
  ) throws(StorageError) -> SQLiteConnection {
    let connection = try SQLiteConnection(directory, pages)
    try SQLiteFormat.prepare(connection, durability, limitBytes: limitBytes)
    let pageBytes = try connection.integer("PRAGMA page_size")
    let witness = SQLiteWitness(directory, durability, pageBytes: pageBytes)
    try directory.sync()
    connection.watchLog(witness)
    connection.growth = SQLiteGrowth(directory, pageBytes: pageBytes)
    return connection
  }

  private static func transact<R>(
    _ state: inout Writer, _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    if state.isDiskFull { state.ballast.hold() }
    guard let connection = state.connection else { throw .closed }
    let ballast = state.ballast
    try connection.statement(.beginWrite).run()
    let sqlite = SQLiteWriter(connection)
    if state.isDiskFull {
      sqlite.mustRemoveFirst = !ballast.isHeld
      sqlite.makeRoom = { ballast.release() }
    }
    let writer: any StoreWriter = sqlite
    do throws(StorageError) {
      var transaction = WriteTransaction(writer)
      let result = try body(&transaction)
      try commit(connection)
      return result
    } catch {
      // A commit that failed may have rolled back by itself; rolling back twice does no harm.
      if unsafe sqlite3_get_autocommit(connection.handle) == 0 {
        try? connection.statement(.rollback).run()
      }
      throw error
    }
  }

  private static func commit(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.takeGrowth()
    do throws(StorageError) {
      try connection.statement(.commit).run()
    } catch {
      if case .backend(_, let code) = error { throw .syncFailed(code: code) }
      throw error
    }
  }

  /// Moves the log into the database when it is long. The commit itself is durable already, so a
  /// failure here is not the caller's: the store stops at its next use.
  private func afterCommit(_ state: inout Writer) throws(StorageError) {
    guard let connection = state.connection else { return }
    guard state.isDiskFull || connection.pagesInLog >= Self.checkpointPages else { return }
    let isLong = connection.pagesInLog * 4_096 > SQLiteFormat.logBytes
    moveLog(connection, state.ballast, isCut: state.isDiskFull || isLong)
    guard state.isDiskFull else { return }
    // A commit that needed the ballast says nothing about the next one.
    let hadRoom = state.ballast.isHeld
    state.ballast.hold()
    state.isDiskFull = !hadRoom
  }

  /// Cuts off the pages of a transaction that met a full disk, and holds space back again.
  private func giveBackSpace(_ state: inout Writer) {
    state.isDiskFull = true
    if let connection = state.connection { moveLog(connection, state.ballast, isCut: true) }
    state.ballast.hold()
  }

  /// Moves the log into the database, and cuts it off where no snapshot needs it any more.
  private func moveLog(
    _ connection: SQLiteConnection, _ ballast: ReservedSpace, isCut: Bool
  ) {
    var (pages, moved) = (Int32(-1), Int32(-1))
    var code = unsafe sqlite3_wal_checkpoint_v2(
      connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    if code & 0xFF == SQLITE_FULL {
      // Only where the space for it could not be taken with the commit.
      ballast.release()
      code = unsafe sqlite3_wal_checkpoint_v2(
        connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    }
    connection.growth?.forget()
    // The database is synced now. No commit comes between: the caller is the writer.
    if isCut, code == SQLITE_OK, pages == moved, SQLiteWitness.noteMoved(in: connection.directory) {
      // It would wait for every snapshot; the next one that is due cuts the log.
      connection.waitForOthers(false)
      code = unsafe sqlite3_wal_checkpoint_v2(
        connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      connection.waitForOthers(true)
    }
    if code & 0xFF == SQLITE_IOERR { pool.fail() }
  }

  /// Rewrites the database without what was deleted, and gives the space back to the disk. Needs as
  /// much space as the rows have, twice. A store of version 1 has checksums afterwards.
  ///
  /// - Throws: `StorageError.diskFull` when there is not enough space; the store is unchanged and
  ///   works on.
  public func compact() throws(StorageError) {
    try writer.withLock { state throws(StorageError) in
      try pool.check()
      guard let connection = state.connection else { throw .closed }
      if state.isDiskFull { throw .diskFull }
      let isUpgrade = !connection.hasLargeTable
      defer { moveLog(state.connection ?? connection, state.ballast, isCut: true) }
      if isUpgrade { connection.reserveChecksums() }
      try connection.execute("VACUUM")
      guard isUpgrade else { return }
      try SQLiteFormat.upgrade(connection)
      moveLog(connection, state.ballast, isCut: true)
      guard integrity == .pages else {
        connection.hasLargeTable = true
        return
      }
      state.connection = try Self.connect(connection.directory, .checked, durability, limitBytes)
      pool.adopt(.checked)
    }
  }

  /// Closes connections for snapshots that were not used since the last call.
  public func releaseIdle() { pool.releaseIdle() }

  /// True for a store of version 1, whose pages have no checksums.
  public var isOldFormat: Bool {
    writer.withLock { state in state.connection.map { !$0.hasLargeTable } ?? false }
  }

  /// Examines pages in the file; commits wait meanwhile. Pages with one wrong bit are set right.
  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    guard case .files(let next) = inspection.stage else { return }
    try writer.withLock { state throws(StorageError) in
      try pool.check()
      guard let connection = state.connection else { throw .closed }
      let pages = try SQLiteInspection(connection)
      if try pages.examine(from: max(1, next), bytes: bytes, &inspection) { return }
      if inspection.isThorough { try pages.examineStructure(&inspection) }
      inspection.stage = .rows(after: nil)
    }
  }
}
