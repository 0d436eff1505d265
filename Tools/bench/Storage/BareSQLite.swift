import CSQLite

/// SQLite called directly, as a C program would: the same table without checksums.
@safe
final class BareSQLite: StorageSubject {
  private var database: OpaquePointer?
  private var statements: [String: OpaquePointer] = unsafe [:]

  init(path: String) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    unsafe try check(sqlite3_open_v2(path, &database, flags, nil), SQLITE_OK)
    for sql in [
      "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
      "CREATE TABLE rows (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",
    ] {
      unsafe try check(sqlite3_exec(database, sql, nil, nil, nil), SQLITE_OK)
    }
  }

  deinit {
    unsafe finalise(Array(statements.values))
    unsafe sqlite3_close_v2(database)
  }

  private func finalise(_ prepared: [OpaquePointer?]) {
    for index in unsafe prepared.indices { unsafe sqlite3_finalize(prepared[index]) }
  }

  func load(_ keys: [[UInt8]], _ value: [UInt8]) throws {
    try put(keys[...], value, batch: 10_000)
  }

  func get(_ keys: [[UInt8]]) throws {
    try run("BEGIN")
    let get = unsafe try prepared("SELECT value FROM rows WHERE key = ?1")
    var sum = 0
    for key in keys {
      unsafe try key.withUnsafeBytes { key in
        unsafe sqlite3_bind_blob(get, 1, key.baseAddress, Int32(key.count), nil)
        unsafe try check(sqlite3_step(get), SQLITE_ROW)
        guard let value = unsafe sqlite3_column_blob(get, 0) else {
          throw BenchFailure(reason: "a value is empty")
        }
        unsafe sum += Int(sqlite3_column_bytes(get, 0)) + Int(value.load(as: UInt8.self))
        unsafe sqlite3_reset(get)
      }
    }
    try run("COMMIT")
    guard sum == keys.count * 190 else { throw BenchFailure(reason: "a key is missing") }
  }

  func scan(from keys: [[UInt8]], count: Int) throws {
    try run("BEGIN")
    let scan = unsafe try prepared("SELECT key, value FROM rows WHERE key >= ?1 ORDER BY key")
    var sum = 0
    let empty: [UInt8] = [0]
    for key in keys {
      unsafe (key.isEmpty ? empty : key).withUnsafeBytes { key in
        unsafe sqlite3_bind_blob(scan, 1, key.baseAddress, Int32(key.count), nil)
        var rows = 0
        while rows < count, unsafe sqlite3_step(scan) == SQLITE_ROW {
          rows += 1
          unsafe sum += Int(sqlite3_column_blob(scan, 0).load(as: UInt8.self))
          unsafe sum += Int(sqlite3_column_bytes(scan, 0))
          unsafe sum += Int(sqlite3_column_blob(scan, 1).load(as: UInt8.self))
          unsafe sum += Int(sqlite3_column_bytes(scan, 1))
        }
        unsafe sqlite3_reset(scan)
      }
    }
    use(sum)
    try run("COMMIT")
  }

  func put(_ keys: ArraySlice<[UInt8]>, _ value: [UInt8], batch: Int) throws {
    let put = unsafe try prepared("INSERT OR REPLACE INTO rows (key, value) VALUES (?1, ?2)")
    var start = keys.startIndex
    while start < keys.endIndex {
      let end = min(start + batch, keys.endIndex)
      try run("BEGIN IMMEDIATE")
      for index in start..<end {
        unsafe try keys[index].withUnsafeBytes { key in
          unsafe try value.withUnsafeBytes { value in
            unsafe sqlite3_bind_blob(put, 1, key.baseAddress, Int32(key.count), nil)
            unsafe sqlite3_bind_blob(put, 2, value.baseAddress, Int32(value.count), nil)
            unsafe try check(sqlite3_step(put), SQLITE_DONE)
            unsafe sqlite3_reset(put)
          }
        }
      }
      try run("COMMIT")
      start = end
    }
  }

  private func run(_ sql: String) throws {
    let statement = unsafe try prepared(sql)
    unsafe try check(sqlite3_step(statement), SQLITE_DONE)
    unsafe sqlite3_reset(statement)
  }

  private func prepared(_ sql: String) throws -> OpaquePointer {
    if let made = unsafe statements[sql] { return unsafe made }
    var made: OpaquePointer?
    unsafe try check(sqlite3_prepare_v2(database, sql, -1, &made, nil), SQLITE_OK)
    guard let made = unsafe made else { throw BenchFailure(reason: "no statement") }
    unsafe statements[sql] = made
    return unsafe made
  }

  private func check(_ code: Int32, _ expected: Int32) throws {
    guard code == expected else { throw BenchFailure(reason: "SQLite code \(code)") }
  }
}
