import CSQLite
import TernStorage

/// One prepared statement of a connection, with spans in and out.
///
/// It refers to its connection without owning it: connections own their statements and drop them
/// before they close.
@safe
final class SQLiteStatement {
  // Prepared in `init`, finalised once in `deinit`.
  private let handle: OpaquePointer
  private unowned let connection: SQLiteConnection

  init(_ connection: SQLiteConnection, _ sql: String) throws(StorageError) {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = unsafe sqlite3_prepare_v3(connection.handle, sql, -1, flags, &prepared, nil)
    guard code == SQLITE_OK, let handle = unsafe prepared else {
      throw connection.error(code, sql)
    }
    unsafe self.handle = handle
    self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Moves to the next row; `false` after the last one.
  ///
  /// After an error the statement is reset and can be used again.
  @inline(__always)
  func step() throws(StorageError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    unsafe sqlite3_reset(handle)
    throw unsafe connection.error(code, String(cString: sqlite3_sql(handle)))
  }

  /// Runs a statement without rows, and makes it ready for the next time.
  func run() throws(StorageError) {
    _ = try step()
    reset()
  }

  @inline(__always)
  func reset() { unsafe sqlite3_reset(handle) }

  /// Binds `bytes` without copying them: the statement must be reset before they change.
  @inline(__always)
  func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    // Safe: callers reset the statement before `bytes` end; a null pointer would bind NULL.
    if let base = bytes.baseAddress, bytes.count > 0 {
      unsafe sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil)
    } else {
      unsafe sqlite3_bind_zeroblob(handle, index, 0)
    }
  }

  /// Binds an integer.
  @inline(__always)
  func bind(_ integer: Int, at index: Int32) {
    unsafe sqlite3_bind_int64(handle, index, Int64(integer))
  }

  /// Returns true when a column holds an integer.
  @inline(__always)
  func isInteger(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER
  }

  /// The bytes of a column; valid until the next step or reset.
  ///
  /// SQLite returns no pointer for an empty blob; the result is then an empty buffer.
  @inline(__always)
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count)
  }

  func integer(_ column: Int32) -> Int { unsafe Int(sqlite3_column_int64(handle, column)) }
}
