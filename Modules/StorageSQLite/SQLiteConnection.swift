import CSQLite
import TernStorage

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
  private let directory: StoreDirectory
  private var statements: [SQLiteStatement?]
  private var spareGets: [SQLiteStatement] = []
  /// Where the writer puts checksum and value side by side.
  var record = RecordBuffer()
  /// The pages of the write-ahead log after the last commit; written by the hook.
  private let logPages: UnsafeMutablePointer<Int32>

  /// Opens the database in `directory`, and makes it if there is none.
  init(_ directory: StoreDirectory) throws(StorageError) {
    let path = directory.file("rows.sqlite")
    // The library would let everybody read it; its log gets the modes of this file.
    try directory.make("rows.sqlite")
    self.directory = directory
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe opened else {
      let extended = unsafe opened.map { unsafe sqlite3_extended_errcode($0) } ?? code
      unsafe sqlite3_close_v2(opened)
      throw StorageError.sqlite(extended, "open", path)
    }
    unsafe self.handle = handle
    self.path = path
    self.statements = Array(repeating: nil, count: SQLiteText.allCases.count)
    unsafe logPages = .allocate(capacity: 1)
    unsafe logPages.initialize(to: 0)
    unsafe sqlite3_extended_result_codes(handle, 1)
  }

  deinit {
    statements.removeAll()
    spareGets.removeAll()
    unsafe sqlite3_close_v2(handle)
    unsafe logPages.deallocate()
  }

  /// The pages in the write-ahead log, once ``countLogPages()`` was called.
  var pagesInLog: Int { unsafe Int(logPages.pointee) }

  /// Counts the log's pages from here on; it also turns off checkpoints of SQLite's own.
  func countLogPages() {
    // Safe: `logPages` lives as long as the connection, and the hook runs inside its commits.
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        unsafe context!.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, logPages)
  }

  /// Runs `sql`, ignoring any rows.
  func execute(_ sql: String) throws(StorageError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, sql) }
  }

  /// The first column of the first row of `sql`, as an integer.
  func integer(_ sql: String) throws(StorageError) -> Int {
    let statement = try SQLiteStatement(self, sql)
    guard try statement.step() else { return 0 }
    return statement.integer(0)
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

  func error(_ code: Int32, _ operation: String) -> StorageError {
    .sqlite(code, operation, path)
  }
}
