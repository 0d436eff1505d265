import TernCore
import TernQuery

/// A query of documents; it can be listened to and read.
///
/// A mistake in it is told by the first operation on it, before anything is asked of the server.
///
/// - Note: `@unchecked`, for the class is open to its one subclass; sound because every stored
///   property of both is immutable and `Sendable`.
public class Query: @unchecked Sendable {
  /// The database of the documents.
  public let firestore: Firestore
  let query: Result<DocumentQuery, FirestoreArgumentError>

  init(_ firestore: Firestore, _ query: Result<DocumentQuery, FirestoreArgumentError>) {
    self.firestore = firestore
    self.query = query
  }

  /// Makes a query that asks for less.
  func refined(
    _ refine: (DocumentQuery) throws(FirestoreArgumentError) -> DocumentQuery
  ) -> Query {
    Query(
      firestore,
      Result { () throws(FirestoreArgumentError) in try refine(try query.get()) })
  }

  /// Keeps the first documents.
  public func limit(to limit: Int) -> Query {
    refined { query throws(FirestoreArgumentError) in
      try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.first(limit)
      }
    }
  }

  /// Keeps the last documents, in the same order, which must be asked for.
  public func limit(toLast limit: Int) -> Query {
    refined { query throws(FirestoreArgumentError) in
      try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.last(limit)
      }
    }
  }

  /// Sorts by a field, after the fields it is sorted by already; names are joined by dots.
  public func order(by field: String) -> Query { ordered(by: field, false) }

  /// Sorts by a field, the largest first if `descending` is set.
  public func order(by field: String, descending: Bool) -> Query { ordered(by: field, descending) }

  /// Sorts by a field.
  public func order(by fieldPath: FieldPath) -> Query { ordered(by: fieldPath, false) }

  /// Sorts by a field, the largest first if `descending` is set.
  public func order(by fieldPath: FieldPath, descending: Bool) -> Query {
    ordered(by: fieldPath, descending)
  }

  private func ordered(by field: Any, _ isDescending: Bool) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let path = try DocumentFieldPath.named(field)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.ordered(by: path, isDescending: isDescending)
      }
    }
  }
}

extension Query: Hashable {
  public static func == (left: Query, right: Query) -> Bool {
    left.firestore === right.firestore && left.query == right.query
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(firestore))
    hasher.combine(query)
  }
}
