import CLMDB
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open LMDB file and its one table.
///
/// `@unchecked Sendable` is sound because LMDB's environment may be used by all threads, and
/// ``LMDBEnvironment`` changes its map only when no transaction is open.
///
/// Closing follows from ownership: each transaction holds the handle, so the environment closes
/// after the last one. The handle holds the directory, whose lock excludes other programs.
@safe
final class LMDBHandle: @unchecked Sendable {
  /// The address space first asked for: few files meet its end, and thousands of stores in one
  /// process find room. A file that does meet it gets a larger map.
  ///
  /// A map costs address space only; pages get memory and disk when they are written.
  static let reservedBytes = 16 << 30
  /// The least address space worth going on with.
  static let leastBytes = 64 << 20
  /// More than LMDB's table of readers takes: 64 bytes a reader, and 192.
  static let lockBytes = 64 * (LMDBStore.readerLimit + 8)

  // Opened in `init`, closed once in `deinit`, after all transactions.
  let environment: OpaquePointer
  let table: MDB_dbi
  // Held until the file is closed.
  let directory: StoreDirectory
  /// The newest commit when the file was opened; `nil` for a new file.
  let examined: LMDBCommit?

  /// Opens the file `name` in `directory` once it was examined, and makes it if there is none.
  ///
  /// The order matters: the file is examined before LMDB maps it, since LMDB trusts what it maps.
  /// The lock file gets its disk space before LMDB writes to it through a map.
  ///
  /// - Parameter witness: The newest commit that was known to be durable.
  /// - Throws: ``StorageError/corruptStore(reason:)`` from the examination,
  ///   ``StorageError/diskFull``, ``StorageError/readOnly(path:)``,
  ///   ``StorageError/cannotOpen(path:code:)``.
  init(
    _ directory: StoreDirectory, _ name: String, _ durability: Durability, mapBytes: Int?,
    witness: LMDBCommit? = nil
  ) throws(StorageError) {
    self.directory = directory
    examined = try LMDBExamination.run(directory.file(name), witness)
    // LMDB maps this file without taking its space: on a full disk the program would be stopped.
    guard ReservedSpace.allocate(directory.file(name + "-lock"), bytes: Self.lockBytes) else {
      throw .diskFull
    }
    var flags = UInt32(MDB_NOSUBDIR) | UInt32(MDB_NOTLS)
    if durability == .relaxed { flags |= UInt32(MDB_NOMETASYNC) }
    unsafe environment = try Self.open(directory.file(name), flags, mapBytes)
    do throws(StorageError) {
      table = unsafe try Self.openTable(environment)
    } catch {
      unsafe mdb_env_close(environment)
      throw error
    }
    // The directory is ours alone: slots still taken belong to programs that have crashed.
    var stale: Int32 = 0
    unsafe mdb_reader_check(environment, &stale)
  }

  deinit { unsafe mdb_env_close(environment) }

  /// The newest commit in the file. The caller holds the write lock.
  ///
  /// Reads the meta page by `pread`, not through the map, so that the digest is of what the file
  /// holds. `nil` when the read fails.
  var newestCommit: LMDBCommit? {
    var descriptor: Int32 = -1
    unsafe mdb_env_get_fd(environment, &descriptor)
    let transaction = unsafe info.me_last_txnid
    return LMDBCommit(transaction, in: descriptor, pageBytes: pageBytes)
  }

  /// Syncs the file.
  func sync() throws(StorageError) {
    let code = unsafe mdb_env_sync(environment, 1)
    guard code == MDB_SUCCESS else { throw .syncFailed(code: code) }
  }

  /// The size of the map, in bytes.
  var mapBytes: Int { unsafe info.me_mapsize }

  /// The part of the map past the last page in use, in bytes.
  ///
  /// Free pages inside the file do not count, so a transaction may fit even when this is 0.
  var freeMapBytes: Int { unsafe info.me_mapsize - (info.me_last_pgno + 1) * pageBytes }

  /// Sets the size of the map. No transaction may be open.
  func setMap(bytes: Int) throws(StorageError) {
    let code = unsafe mdb_env_set_mapsize(environment, bytes)
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "grow") }
  }

  private var info: MDB_envinfo {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(environment, &info)
    return unsafe info
  }

  private var pageBytes: Int {
    var stat = MDB_stat()
    unsafe mdb_env_stat(environment, &stat)
    return Int(stat.ms_psize)
  }

  /// Opens the environment with the largest map the address space allows.
  ///
  /// Systems with little address space, or a limit on it, refuse the first attempt with `ENOMEM`;
  /// each further attempt asks for half, down to ``leastBytes``. A size that was asked for
  /// explicitly is tried once.
  ///
  /// `MDB_NOTLS` ties slots to transactions rather than threads, since snapshots move between
  /// threads. `MDB_NOMETASYNC` leaves out the sync of the root: a crash of the system may lose the
  /// last commit, never corrupt the file.
  private static func open(
    _ path: String, _ flags: UInt32, _ mapBytes: Int?
  ) throws(StorageError) -> OpaquePointer {
    var bytes = mapBytes ?? reservedBytes
    while true {
      var made: OpaquePointer?
      let code = unsafe mdb_env_create(&made)
      guard code == MDB_SUCCESS, let environment = unsafe made else {
        throw StorageError.lmdb(code, "open")
      }
      unsafe mdb_env_set_mapsize(environment, bytes)
      unsafe mdb_env_set_maxreaders(environment, UInt32(LMDBStore.readerLimit))
      let opened = unsafe mdb_env_open(
        environment, path, flags, mdb_mode_t(StoreDirectory.fileMode))
      if opened == MDB_SUCCESS { return unsafe environment }
      unsafe mdb_env_close(environment)
      guard opened == ENOMEM, mapBytes == nil, bytes > leastBytes else {
        throw openError(opened, path)
      }
      bytes /= 2
    }
  }

  private static func openError(_ code: Int32, _ path: String) -> StorageError {
    switch code {
    case EACCES, EPERM, EROFS: .readOnly(path: path)
    case ENOENT, ENOTDIR, EISDIR: .cannotOpen(path: path, code: code)
    default: .lmdb(code, "open")
    }
  }

  /// Opens the unnamed table in a transaction of its own. The handle stays valid after the abort
  /// because that table always exists.
  private static func openTable(_ environment: OpaquePointer) throws(StorageError) -> MDB_dbi {
    var transaction: OpaquePointer?
    var table = MDB_dbi()
    var code = unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "open") }
    code = unsafe mdb_dbi_open(transaction, nil, 0, &table)
    unsafe mdb_txn_abort(transaction)
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "open") }
    return table
  }
}
