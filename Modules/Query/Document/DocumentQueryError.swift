public import TernCore

/// The reason a query cannot be made or run. All are mistakes of the caller, found before any
/// traffic.
///
/// Source: documents reference, section 2.3.
public enum DocumentQueryError: Error, Hashable, Sendable {
  /// Two operators exclude each other; the operator that is already there comes second.
  case conflictingOperators(DocumentOperator, with: DocumentOperator)
  /// `not-in` cannot stand in a query with OR.
  case notInWithOr
  /// `not-in` and `in` and `array-contains-any` take an array of at least one value.
  case operandNotArray(DocumentOperator)
  /// `not-in` takes at most ten values.
  case tooManyValues(DocumentOperator, count: Int, limit: Int)
  /// A disjunction may ask one array for one value only, in one way.
  case severalArrayFilters
  /// Filters expand to more alternatives than a query may have.
  case tooManyDisjunctions(count: Int, limit: Int)
  /// Range filters on more fields than a query may have.
  case tooManyInequalityFields(count: Int, limit: Int)
  /// Filters, orders and the parent are more than a query may have.
  case tooManyClauses(count: Int, limit: Int)
  /// A composite filter has no members.
  case emptyComposite
  /// `array-contains` and `array-contains-any` do not apply to the key.
  case arrayFilterOnKey
  /// The key is compared with something that names no document of the collection.
  case invalidKeyOperand
  /// A query with range filters on fields cannot ask for one key as well.
  case keyEqualityWithRange
  /// A range operator compares with null.
  case rangeOverNull
  /// A value in a filter or a cursor is a pending server timestamp.
  case pendingOperand
  /// The order comes before cursors.
  case orderAfterCursor
  /// A cursor has no values, or more than the query has orders.
  case cursorCount(Int, orders: Int)
  /// A document that a cursor names does not exist.
  case cursorDocumentMissing(DocumentKey)
  /// A document that a cursor names lacks a field of the order.
  case cursorFieldMissing(DocumentFieldPath)
  /// A field of the order is a server timestamp that is not known yet.
  case cursorFieldPending(DocumentFieldPath)
  /// A limit is not in 1..<2^31.
  case limitOutOfRange(Int)
  /// An offset is not in 0..<2^31.
  case offsetOutOfRange(Int)
  /// The last documents can only be asked for in an order.
  case limitToLastWithoutOrder
  /// An aggregation query has none, or more than five aggregations.
  case aggregationCount(Int, limit: Int)
  /// Two aggregations have one alias.
  case aliasRepeated(String)
  /// A count stops at a number that is not positive.
  case countLimitOutOfRange(Int)
  /// A path, an id or a value breaks a rule of the documents.
  case document(DocumentError)
}

/// The limits of a query. Source: documents reference, sections 2.3 and 9.
public enum DocumentQueryLimits {
  /// The most alternatives after all OR, `in` and `array-contains-any` are expanded.
  public static let disjunctions = 30
  /// The most values of `not-in`.
  public static let notInValues = 10
  /// The most fields with range filters.
  public static let inequalityFields = 10
  /// The most filters and orders together, after expansion.
  public static let clauses = 100
  /// The most aggregations of one request.
  public static let aggregations = 5
}
