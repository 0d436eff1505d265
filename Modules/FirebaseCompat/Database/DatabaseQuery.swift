import TernCore
import TernQuery

/// A location with an order, a range and a limit; it can be observed and read.
///
/// - Note: `@unchecked` because the class is open to its one subclass; every stored property of
///   both is immutable and `Sendable`.
public class DatabaseQuery: @unchecked Sendable {
  /// The database of the location.
  public let database: Database
  let path: TreePath
  let query: TreeQuery

  init(database: Database, path: TreePath, query: TreeQuery) {
    self.database = database
    self.path = path
    self.query = query
  }

  /// The location itself.
  public var ref: DatabaseReference { DatabaseReference(database: database, path: path) }

  /// Makes a query that asks for less.
  ///
  /// - Precondition: `change` keeps the rules of queries; the message names the one it broke.
  func refined(
    _ change: (TreeQuery) throws(TreeQueryError) -> TreeQuery
  ) -> DatabaseQuery {
    do throws(TreeQueryError) {
      return DatabaseQuery(database: database, path: path, query: try change(query))
    } catch {
      preconditionFailure("This query is not possible: \(error)")
    }
  }
}
