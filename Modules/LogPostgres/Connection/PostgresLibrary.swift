import CPostgres

/// The functions of libpq.
///
/// `@unchecked Sendable` is sound because the table is written once, before the value is made, and
/// libpq may be called from any thread, for one connection from one thread at a time.
struct PostgresLibrary: @unchecked Sendable {
  @safe let table: tern_pq

  /// The library of this process, loaded at the first use.
  static let shared = Result<PostgresLibrary, PostgresFailure> {
    () throws(PostgresFailure) in
    var table = tern_pq()
    if let problem = unsafe tern_pq_load(&table) {
      throw .unreachable(unsafe String(cString: problem))
    }
    return PostgresLibrary(table: table)
  }
}
