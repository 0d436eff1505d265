import CLMDB

/// LMDB called directly, as a C program would.
@safe
final class BareLMDB: StorageSubject {
  private var environment: OpaquePointer?
  private var table = MDB_dbi()

  init(path: String) throws {
    unsafe mdb_env_create(&environment)
    unsafe mdb_env_set_mapsize(environment, 16 << 30)
    unsafe try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o644))
    let transaction = unsafe try begin(0)
    unsafe try check(mdb_dbi_open(transaction, nil, 0, &table))
    unsafe try check(mdb_txn_commit(transaction))
  }

  deinit { unsafe mdb_env_close(environment) }

  func load(_ keys: [[UInt8]], _ value: [UInt8]) throws {
    try put(keys[...], value, batch: 10_000)
  }

  func get(_ keys: [[UInt8]]) throws {
    let transaction = unsafe try begin(UInt32(MDB_RDONLY))
    defer { unsafe mdb_txn_abort(transaction) }
    var sum = 0
    for key in keys {
      unsafe try key.withUnsafeBytes { bytes in
        var key = unsafe val(bytes)
        var value = unsafe MDB_val()
        unsafe try check(mdb_get(transaction, table, &key, &value))
        unsafe sum += value.mv_size + Int(value.mv_data.load(as: UInt8.self))
      }
    }
    guard sum == keys.count * 190 else { throw BenchFailure(reason: "a key is missing") }
  }

  func scan(from keys: [[UInt8]], count: Int) throws {
    let transaction = unsafe try begin(UInt32(MDB_RDONLY))
    defer { unsafe mdb_txn_abort(transaction) }
    var cursor: OpaquePointer?
    unsafe try check(mdb_cursor_open(transaction, table, &cursor))
    defer { unsafe mdb_cursor_close(cursor) }
    var sum = 0
    for key in keys {
      unsafe key.withUnsafeBytes { bytes in
        var key = unsafe val(bytes)
        var value = unsafe MDB_val()
        var code = unsafe mdb_cursor_get(
          cursor, &key, &value, bytes.isEmpty ? MDB_FIRST : MDB_SET_RANGE)
        var rows = 0
        while code == MDB_SUCCESS, rows < count {
          rows += 1
          unsafe sum += Int(key.mv_data.load(as: UInt8.self))
          unsafe sum += Int(value.mv_data.load(as: UInt8.self))
          code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
      }
    }
    use(sum)
  }

  func put(_ keys: ArraySlice<[UInt8]>, _ value: [UInt8], batch: Int) throws {
    var start = keys.startIndex
    while start < keys.endIndex {
      let end = min(start + batch, keys.endIndex)
      let transaction = unsafe try begin(0)
      for index in start..<end {
        unsafe try keys[index].withUnsafeBytes { key in
          unsafe try value.withUnsafeBytes { value in
            var key = unsafe val(key)
            var data = unsafe val(value)
            unsafe try check(mdb_put(transaction, table, &key, &data, 0))
          }
        }
      }
      unsafe try check(mdb_txn_commit(transaction))
      start = end
    }
  }

  private func begin(_ flags: UInt32) throws -> OpaquePointer? {
    var transaction: OpaquePointer?
    unsafe try check(mdb_txn_begin(environment, nil, flags, &transaction))
    return unsafe transaction
  }

  private func val(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
    unsafe MDB_val(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  private func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw BenchFailure(reason: "LMDB code \(code)") }
  }
}
