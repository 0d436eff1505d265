import CSQLite
import CSQLitePages
import TernStorage

extension StorageError {
  /// The error for an extended result code of SQLite.
  static func sqlite(_ code: Int32, _ operation: String, _ path: String) -> StorageError {
    switch code & 0xFF {
    case SQLITE_FULL: .diskFull
    case SQLITE_BUSY, SQLITE_LOCKED: .inUse(path: path)
    case SQLITE_READONLY, SQLITE_PERM: .readOnly(path: path)
    case SQLITE_CANTOPEN: .cannotOpen(path: path, code: code)
    case SQLITE_CORRUPT where code == TERN_PAGES_MISMATCH:
      .corruptStore(reason: "a page of rows.sqlite does not match its checksum")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      .corruptStore(reason: "SQLite says the database is damaged, code \(code)")
    // Reading, too, needs a few pages for the log's index.
    case SQLITE_IOERR where code >> 8 == 19: .diskFull
    case SQLITE_IOERR where code >> 8 == 4 || code >> 8 == 5: .syncFailed(code: code)
    default: .backend(operation: operation, code: code)
    }
  }
}
