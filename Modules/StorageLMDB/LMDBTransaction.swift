import CLMDB
import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// One transaction of LMDB and its cursor.
///
/// `@unchecked Sendable` is sound because a transaction is used by one thread at a time: the
/// environment lends it to one snapshot, or uses it under the write lock.
@safe
final class LMDBTransaction: @unchecked Sendable {
  // Begun in `init`; ended once, by `commit`, `abort` or `deinit`.
  private var handle: OpaquePointer?
  // Keeps the file open for as long as the transaction is.
  private let file: LMDBHandle
  /// The unnamed table of the file, which holds all spaces; the same handle is valid in all
  /// transactions.
  private let table: MDB_dbi
  /// The cursor, once one was needed.
  ///
  /// One cursor serves all walks of the transaction. A read transaction keeps it while it rests and
  /// renews it afterwards; a write transaction closes it before it ends, because LMDB would free it
  /// then.
  private var cursor: OpaquePointer?
  /// False after ``rest()``, until the cursor was renewed for the new snapshot.
  private var cursorIsCurrent = false
  private let isReadOnly: Bool
  /// The buffer of all lookups. A key made in it is valid until the next one is made.
  let keys = LMDBKeyBuffer()
  /// True when the transaction failed because the map was full.
  private(set) var isMapFull = false

  /// Begins a transaction. A read transaction takes a slot of LMDB's table of readers. A write
  /// transaction blocks while another one is open, which the store's write lock excludes.
  ///
  /// - Throws: ``StorageError/tooManyReaders(limit:)`` when all slots are taken.
  init(_ file: LMDBHandle, isReadOnly: Bool) throws(StorageError) {
    self.file = file
    let flags = isReadOnly ? UInt32(MDB_RDONLY) : 0
    let code = unsafe mdb_txn_begin(file.environment, nil, flags, &handle)
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "begin") }
    table = file.table
    self.isReadOnly = isReadOnly
  }

  deinit { abort() }

  /// The value stored under an LMDB key; valid until the transaction's next change or end.
  @inline(__always)
  func get(_ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    var key = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    let code = unsafe mdb_get(handle, table, &key, &value)
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "get") }
    return unsafe value.bytes
  }

  /// Makes room for `count` bytes under an LMDB key, for the caller to fill at once.
  ///
  /// The bytes are uninitialized, and LMDB copies nothing. The caller fills them before its next
  /// call, which may move the page.
  ///
  /// - Throws: ``StorageError/diskFull``; ``isMapFull`` then says if a larger map would help.
  func reserve(
    _ key: UnsafeRawBufferPointer, count: Int
  ) throws(StorageError) -> UnsafeMutableRawPointer {
    var key = unsafe MDB_val(key)
    var value = unsafe MDB_val(mv_size: count, mv_data: nil)
    let code = unsafe mdb_put(handle, table, &key, &value, UInt32(MDB_RESERVE))
    guard code == MDB_SUCCESS, let target = unsafe value.mv_data else {
      throw failure(code, "put")
    }
    return unsafe target
  }

  /// Removes the row under an LMDB key; `false` when there was none.
  func remove(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
    var key = unsafe MDB_val(key)
    let code = unsafe mdb_del(handle, table, &key, nil)
    if code == MDB_NOTFOUND { return false }
    guard code == MDB_SUCCESS else { throw failure(code, "remove") }
    return true
  }

  /// Moves the cursor; `nil` past the last or before the first LMDB key.
  ///
  /// - Parameter target: The key to seek; required by `MDB_SET` and `MDB_SET_RANGE`, ignored by the
  ///   relative moves.
  @inline(__always)
  func move(
    _ operation: MDB_cursor_op, _ target: UnsafeRawBufferPointer? = nil
  ) throws(StorageError) -> LMDBEntry? {
    var key = if let target = unsafe target { unsafe MDB_val(target) } else { unsafe MDB_val() }
    var value = unsafe MDB_val()
    let code = unsafe mdb_cursor_get(try openCursor(), &key, &value, operation)
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "scan") }
    return unsafe LMDBEntry(key: key.bytes, value: value.bytes)
  }

  /// Removes the row the cursor is on; the next move goes to the row after it.
  func removeAtCursor() throws(StorageError) {
    let code = unsafe mdb_cursor_del(try openCursor(), 0)
    guard code == MDB_SUCCESS else { throw failure(code, "remove") }
  }

  /// Ends a write transaction by making it durable.
  ///
  /// The handle is gone afterwards, also when it throws: LMDB frees a transaction whose commit
  /// fails. A second call does nothing.
  func commit() throws(StorageError) {
    closeCursor()
    guard let ending = unsafe handle else { return }
    unsafe handle = nil
    let code = unsafe mdb_txn_commit(ending)
    guard code != MDB_SUCCESS else { return }
    let error = failure(code, "commit")
    // LMDB reports a page written in part as an I/O error. Like a failed sync of the pages it comes
    // before the new root is written, so the old state stands; LMDB itself stops after a failure
    // of the root.
    let isFull = code == EIO && file.directory.hasLess(than: LMDBStore.fullDiskBytes)
    throw error == .diskFull || isFull ? .diskFull : .syncFailed(code: code)
  }

  /// Ends the transaction and forgets its changes.
  func abort() {
    closeCursor()
    if let ending = unsafe handle { unsafe mdb_txn_abort(ending) }
    unsafe handle = nil
  }

  /// Lets go of a snapshot but keeps its slot.
  ///
  /// A transaction at rest holds no snapshot, so LMDB may reuse pages that it was reading. Renewing
  /// it is cheaper than beginning one: the slot in the table of readers stays taken.
  func rest() {
    unsafe mdb_txn_reset(handle)
    cursorIsCurrent = false
  }

  /// Takes a new snapshot in the slot of one at rest.
  func renew() throws(StorageError) {
    let code = unsafe mdb_txn_renew(handle)
    guard code == MDB_SUCCESS else { throw StorageError.lmdb(code, "begin") }
  }

  /// Translates a code, and remembers a full map, which the error alone does not tell from a full
  /// disk.
  private func failure(_ code: Int32, _ operation: String) -> StorageError {
    if code == MDB_MAP_FULL { isMapFull = true }
    return .lmdb(code, operation)
  }

  /// Returns the cursor, opened or renewed when it is not current. A failed call leaves nothing to
  /// undo.
  @inline(__always)
  private func openCursor() throws(StorageError) -> OpaquePointer {
    if cursorIsCurrent, let cursor = unsafe cursor { return unsafe cursor }
    return unsafe try makeCursor()
  }

  private func makeCursor() throws(StorageError) -> OpaquePointer {
    let code =
      if let old = unsafe cursor {
        unsafe mdb_cursor_renew(handle, old)
      } else {
        unsafe mdb_cursor_open(handle, table, &cursor)
      }
    guard code == MDB_SUCCESS, let made = unsafe cursor else {
      throw StorageError.lmdb(code, "scan")
    }
    cursorIsCurrent = true
    return unsafe made
  }

  private func closeCursor() {
    if let open = unsafe cursor { unsafe mdb_cursor_close(open) }
    unsafe cursor = nil
    cursorIsCurrent = false
  }
}

/// The entry that a cursor of LMDB is on; valid until the transaction's next change or end.
@unsafe
struct LMDBEntry {
  var key: UnsafeRawBufferPointer
  var value: UnsafeRawBufferPointer
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }
}
