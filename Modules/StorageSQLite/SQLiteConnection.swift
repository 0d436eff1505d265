import CSQLite
import CSQLitePages
import TernStorage

/// The way a connection reads the pages of the database.
enum SQLitePages: Sendable {
  /// Every page is checked.
  case checked
  /// None is: the database has no checksums, or corrupt pages are to be read as they are.
  case unchecked
}

/// One open connection and its prepared statements.
///
/// `@unchecked Sendable` is sound because a connection is used by one thread at a time: the pool
/// lends each reader's connection to one snapshot, and the writer's is used under the write lock.
@safe
final class SQLiteConnection: @unchecked Sendable {
  // Opened in `init`, closed once in `deinit`, after all statements.
  let handle: OpaquePointer
  private let path: String
  // Held until the last connection is closed.
  let directory: StoreDirectory
  private var statements: [SQLiteStatement?]
  private var spareGets: [SQLiteStatement] = []
  private var spareLarge: [SQLiteStatement] = []
  /// The buffer in which the writer puts checksum and value side by side.
  var record = RecordBuffer()
  /// True when large records have a table of their own; known to the writer.
  var hasLargeTable = false
  /// The space that the database will grow into; known to the writer.
  var growth: SQLiteGrowth?
  /// The witness of the log's commits, written by the hook, and the pages of the log.
  private let log: UnsafeMutablePointer<SQLiteLogNotes>

  /// Opens the database in `directory`, and makes it if there is none.
  init(_ directory: StoreDirectory, _ pages: SQLitePages) throws(StorageError) {
    let path = directory.file(SQLiteFormat.file)
    // The library would make it readable for all users; its log gets the modes of this file.
    try directory.make(SQLiteFormat.file)
    self.directory = directory
    let registered = SQLiteWitness.register()
    guard registered == SQLITE_OK else { throw .backend(operation: "register", code: registered) }
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let system = pages == .checked ? TERN_PAGES_CHECKED : TERN_PAGES_UNCHECKED
    let code = unsafe sqlite3_open_v2(path, &opened, flags, system)
    guard code == SQLITE_OK, let handle = unsafe opened else {
      let extended = unsafe opened.map { unsafe sqlite3_extended_errcode($0) } ?? code
      unsafe sqlite3_close_v2(opened)
      throw StorageError.sqlite(extended, "open", path)
    }
    unsafe self.handle = handle
    self.path = path
    self.statements = Array(repeating: nil, count: SQLiteText.allCases.count)
    unsafe log = .allocate(capacity: 1)
    unsafe log.initialize(to: SQLiteLogNotes())
    unsafe sqlite3_extended_result_codes(handle, 1)
    waitForOthers(true)
  }

  /// Lets statements wait for other connections of this store, or not. Only those hold locks, for a
  /// moment: the folder is this store's alone.
  func waitForOthers(_ waits: Bool) {
    unsafe sqlite3_busy_timeout(handle, waits ? Self.busyMilliseconds : 0)
  }

  /// The longest time that a statement waits for another connection.
  private static let busyMilliseconds: Int32 = 1_000

  deinit {
    statements.removeAll()
    spareGets.removeAll()
    spareLarge.removeAll()
    unsafe sqlite3_close_v2(handle)
    unsafe log.deinitialize(count: 1)
    unsafe log.deallocate()
  }

  /// The pages in the write-ahead log, once ``watchLog(_:)`` was called.
  var pagesInLog: Int { unsafe Int(log.pointee.pages) }

  /// Counts the log's pages from here on, and notes each commit beside it; it also turns off
  /// checkpoints of SQLite's own.
  func watchLog(_ witness: SQLiteWitness?) {
    unsafe log.pointee.witness = witness
    // Safe: `log` lives as long as the connection, and the hook runs inside its commits.
    unsafe sqlite3_wal_hook(
      handle,
      { context, handle, _, pages in
        guard let context = unsafe context else { return SQLITE_OK }
        let log = unsafe context.assumingMemoryBound(to: SQLiteLogNotes.self)
        unsafe log.pointee.pages = pages
        unsafe log.pointee.witness?.note(handle, pages)
        return SQLITE_OK
      }, log)
  }

  /// Takes the space that the database needs for the pages of the open transaction.
  ///
  /// - Throws: ``StorageError/diskFull``.
  func takeGrowth() throws(StorageError) {
    guard let growth else { return }
    let count = try statement(.pageCount)
    defer { count.reset() }
    if try count.step(), !growth.take(pages: count.integer(0)) { throw .diskFull }
  }

  /// Keeps room for a checksum at the end of each page: of a new database, or after the next
  /// compaction.
  func reserveChecksums() {
    var bytes = TERN_PAGES_RESERVED
    // Safe: the library writes the old number through the pointer and keeps none.
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
  }

  /// Runs `sql`, ignoring any rows.
  func execute(_ sql: String) throws(StorageError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw error(unsafe sqlite3_extended_errcode(handle), sql)
    }
  }

  /// The first column of the first row of `sql`, as an integer.
  func integer(_ sql: String) throws(StorageError) -> Int {
    let statement = try SQLiteStatement(self, sql)
    guard try statement.step() else { return 0 }
    return statement.integer(0)
  }

  /// The first column of all rows of `sql`, as text.
  func texts(_ sql: String) throws(StorageError) -> [String] {
    let statement = try SQLiteStatement(self, sql)
    var texts: [String] = []
    while try statement.step() {
      unsafe texts.append(String(decoding: statement.bytes(0), as: UTF8.self))
    }
    return texts
  }

  /// The prepared statement for `text`; made at its first use.
  func statement(_ text: SQLiteText) throws(StorageError) -> SQLiteStatement {
    if let made = statements[text.rawValue] { return made }
    let made = try SQLiteStatement(self, text.sql)
    statements[text.rawValue] = made
    return made
  }

  /// Lends a statement that gets one value. The bodies of gets may nest, so there can be several.
  func takeGet() throws(StorageError) -> SQLiteStatement {
    if let spare = spareGets.popLast() { return spare }
    return try SQLiteStatement(self, SQLiteText.getSQL)
  }

  func giveBack(_ get: SQLiteStatement) {
    get.reset()
    spareGets.append(get)
  }

  /// Lends a statement that gets one large record.
  func takeLarge() throws(StorageError) -> SQLiteStatement {
    if let spare = spareLarge.popLast() { return spare }
    return try SQLiteStatement(self, SQLiteText.largeSQL)
  }

  func giveBack(large: SQLiteStatement) {
    large.reset()
    spareLarge.append(large)
  }

  func error(_ code: Int32, _ operation: String) -> StorageError {
    .sqlite(code, operation, path)
  }
}

/// The state that the hook of commits reads and writes.
struct SQLiteLogNotes {
  var pages: Int32 = 0
  var witness: SQLiteWitness?
}
