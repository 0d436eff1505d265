import CPostgres

/// A loop over libpq that inserts rows and compares nothing.
@safe
final class BarePostgres {
  struct Failure: Error { let message: String }

  private let library: tern_pq
  private let connection: OpaquePointer
  private var appended = 0

  init(_ connection: String) throws {
    var library = tern_pq()
    if let problem = unsafe tern_pq_load(&library) {
      throw Failure(message: unsafe String(cString: problem))
    }
    self.library = library
    // Safe: the strings live through the call.
    let made = unsafe "dbname".withCString { keyword in
      unsafe connection.withCString { value in
        unsafe library.connectStartParams([keyword, nil], [value, nil], 1)
      }
    }
    guard let made = unsafe made else { throw Failure(message: "no memory") }
    unsafe self.connection = made
    unsafe tern_pq_ignore_notices(library, made)
    // Polls as fast as it can: it is done once.
    while unsafe library.status(made) != TERN_PQ_CONNECTION_OK {
      if unsafe library.connectPoll(made) == 0 { throw Failure(message: error) }
    }
    try run("drop table if exists bench_row")
    try run(
      "create table bench_row (position bigint, number bigint, value bytea not null,"
        + " primary key (position, number))")
    try run("drop table if exists bench_shard")
    try run("create table bench_shard (shard bigint primary key, position bigint not null)")
    try run("insert into bench_shard values (0, 0)")
  }

  private var error: String {
    unsafe library.errorMessage(connection).map { unsafe String(cString: $0) } ?? ""
  }

  /// Appends rows by one statement, which is a transaction.
  func append(rows: Int, bytes: Int) throws {
    appended += 1
    let value = String(repeating: "07", count: bytes)
    let values = (0..<rows).map { "(\(appended), \($0), '\\x\(value)')" }
    try run("insert into bench_row values " + values.joined(separator: ", "))
  }

  /// Appends a row behind the others, as a log does: the two statements that raise the position
  /// and insert the row, in one message, which is a transaction.
  func appendInOrder(bytes: Int) throws {
    let value = String(repeating: "07", count: bytes)
    try run(
      "with moved as (update bench_shard set position = position + 1 where shard = 0"
        + " returning position) insert into bench_row select position, -1, '\\x\(value)'"
        + " from moved")
  }

  /// Removes the tables and ends the connection.
  func finish() throws {
    try run("drop table bench_row")
    try run("drop table bench_shard")
    unsafe library.finish(connection)
  }

  private func run(_ text: String) throws {
    guard unsafe library.sendQueryParams(connection, text, 0, nil, nil, nil, nil, 0) == 1 else {
      throw Failure(message: error)
    }
    while let result = unsafe library.getResult(connection) {
      let status = unsafe library.resultStatus(result)
      unsafe library.clear(result)
      guard status == TERN_PQ_COMMAND_OK || status == TERN_PQ_TUPLES_OK else {
        throw Failure(message: error)
      }
    }
  }
}
