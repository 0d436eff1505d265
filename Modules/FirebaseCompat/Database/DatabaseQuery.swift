import TernClient
import TernCore
import TernQuery

/// A location with an order, a range and a limit; it can be observed and read.
///
/// - Note: `@unchecked`, for the class is open to its one subclass; sound because every stored
///   property of both is immutable and `Sendable`.
public class DatabaseQuery: @unchecked Sendable {
  /// The database of the location.
  public let database: Database
  let path: TreePath
  let query: TreeQuery
  /// The broken rule, if this is no location or no query; every use reports it.
  let problem: DatabaseError?

  init(database: Database, path: TreePath, query: TreeQuery, problem: DatabaseError? = nil) {
    self.database = database
    self.path = path
    self.query = query
    self.problem = problem
  }

  /// The location itself.
  public var ref: DatabaseReference {
    DatabaseReference(database: database, path: path, problem: problem)
  }

  /// Makes a query that asks for less; one that breaks a rule of queries tells so when it is used.
  func refined(
    _ change: (TreeQuery) throws(TreeQueryError) -> TreeQuery
  ) -> DatabaseQuery {
    if problem != nil { return self }
    do throws(TreeQueryError) {
      return DatabaseQuery(database: database, path: path, query: try change(query))
    } catch {
      return refused("This query is not possible: \(error)")
    }
  }

  /// The same, which every use refuses.
  func refused(_ reason: String) -> DatabaseQuery {
    DatabaseQuery(database: database, path: path, query: query, problem: .invalid(reason))
  }

  /// Takes a call into the session's order, or tells why this is nothing to call about.
  func perform(
    _ call: @escaping CallBuffer<TreeSession>.Call,
    failed: @escaping @Sendable (any Error) -> Void
  ) {
    if let problem { return failed(problem) }
    database.calls.submit(call, failed: failed)
  }

  /// Takes a call into the session's order, however many wait, unless this is nothing to call
  /// about.
  func perform(_ call: @escaping CallBuffer<TreeSession>.Call) {
    if problem == nil { database.calls.submit(call) }
  }
}
