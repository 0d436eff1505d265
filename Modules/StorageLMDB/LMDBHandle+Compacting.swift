import CLMDB
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension LMDBHandle {
  /// Writes a compact copy to the file `name`, and syncs it. Snapshots may be lent meanwhile.
  ///
  /// It copies the state of one read transaction, page by page and without free pages. The cost is
  /// linear in the data.
  ///
  /// The caller holds the write lock, so that no commit is made after the copy began and lost with
  /// the old file.
  ///
  /// - Throws: ``StorageError/diskFull``, ``StorageError/syncFailed(code:)``.
  func copy(to name: String) throws(StorageError) {
    let file = makeEmptyFile(directory.file(name))
    guard file >= 0 else { throw StorageError.lmdb(errno, "compact") }
    defer { close(file) }
    let code = unsafe mdb_env_copyfd2(environment, file, UInt32(MDB_CP_COMPACT))
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "compact") }
    guard fsync(file) == 0 else { throw .syncFailed(code: errno) }
  }
}

private func makeEmptyFile(_ path: String) -> Int32 {
  unsafe open(
    path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(StoreDirectory.fileMode))
}
