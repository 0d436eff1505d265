import CPostgres

/// The functions of libpq, as one connection uses them.
///
/// libpq may be called from any thread, for one connection from one thread at a time.
@safe
struct PostgresLibrary {
  @safe let table: tern_pq

  /// The library, which the system loads at the first use and keeps loaded; it takes some
  /// microseconds to find its functions again.
  ///
  /// - Throws: ``PostgresFailure/unreachable(_:)`` where it is not installed.
  init() throws(PostgresFailure) {
    var table = tern_pq()
    if let problem = unsafe tern_pq_load(&table) {
      throw .unreachable(unsafe String(cString: problem))
    }
    self.table = table
  }
}
