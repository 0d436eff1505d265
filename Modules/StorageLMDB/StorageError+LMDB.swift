import CLMDB
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension StorageError {
  /// The error for a return code of LMDB: its own are negative, the others are `errno`.
  static func lmdb(_ code: Int32, _ operation: String) -> StorageError {
    switch code {
    case MDB_MAP_FULL, ENOSPC, EDQUOT, EFBIG: .diskFull
    case MDB_READERS_FULL: .tooManyReaders(limit: LMDBStore.readerLimit)
    case MDB_PANIC: .failed
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID:
      .corruptStore(reason: "LMDB says the file is damaged, code \(code)")
    case MDB_VERSION_MISMATCH:
      .corruptStore(reason: "the file has another version of LMDB's format")
    default: .backend(operation: operation, code: code)
    }
  }
}
