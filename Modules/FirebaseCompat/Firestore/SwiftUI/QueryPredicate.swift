/// One condition, order or limit of a query, for `FirestoreQuery`.
public enum QueryPredicate {
  /// Keeps documents whose field is equivalent to a value.
  case isEqualTo(_ field: String, _ value: Any)
  /// Keeps documents whose field is equivalent to one of the values.
  case isIn(_ field: String, _ values: [Any])
  /// Keeps documents that have the field, equivalent to none of the values.
  case isNotIn(_ field: String, _ values: [Any])
  /// Keeps documents whose field is an array with a value.
  case arrayContains(_ field: String, _ value: Any)
  /// Keeps documents whose field is an array with one of the values.
  case arrayContainsAny(_ field: String, _ values: [Any])
  /// Keeps documents whose field is below a value.
  case isLessThan(_ field: String, _ value: Any)
  /// Keeps documents whose field is above a value.
  case isGreaterThan(_ field: String, _ value: Any)
  /// Keeps documents whose field is not above a value.
  case isLessThanOrEqualTo(_ field: String, _ value: Any)
  /// Keeps documents whose field is not below a value.
  case isGreaterThanOrEqualTo(_ field: String, _ value: Any)
  /// Sorts by a field, the largest first if the value is `true`.
  case orderBy(_ field: String, _ value: Bool)
  /// Keeps the first documents.
  case limitTo(_ value: Int)
  /// Keeps the last documents.
  case limitToLast(_ value: Int)

  /// Keeps documents whose field is equivalent to a value.
  public static func whereField(_ field: String, isEqualTo value: Any) -> QueryPredicate {
    .isEqualTo(field, value)
  }

  /// Keeps documents whose field is equivalent to one of the values.
  public static func whereField(_ field: String, isIn values: [Any]) -> QueryPredicate {
    .isIn(field, values)
  }

  /// Keeps documents that have the field, equivalent to none of the values.
  public static func whereField(_ field: String, isNotIn values: [Any]) -> QueryPredicate {
    .isNotIn(field, values)
  }

  /// Keeps documents whose field is an array with a value.
  public static func whereField(_ field: String, arrayContains value: Any) -> QueryPredicate {
    .arrayContains(field, value)
  }

  /// Keeps documents whose field is an array with one of the values.
  public static func whereField(
    _ field: String, arrayContainsAny values: [Any]
  ) -> QueryPredicate {
    .arrayContainsAny(field, values)
  }

  /// Keeps documents whose field is below a value.
  public static func whereField(_ field: String, isLessThan value: Any) -> QueryPredicate {
    .isLessThan(field, value)
  }

  /// Keeps documents whose field is above a value.
  public static func whereField(_ field: String, isGreaterThan value: Any) -> QueryPredicate {
    .isGreaterThan(field, value)
  }

  /// Keeps documents whose field is not above a value.
  public static func whereField(
    _ field: String, isLessThanOrEqualTo value: Any
  ) -> QueryPredicate {
    .isLessThanOrEqualTo(field, value)
  }

  /// Keeps documents whose field is not below a value.
  public static func whereField(
    _ field: String, isGreaterThanOrEqualTo value: Any
  ) -> QueryPredicate {
    .isGreaterThanOrEqualTo(field, value)
  }

  /// Sorts by a field, the largest first if `descending` is set.
  public static func order(by field: String, descending value: Bool = false) -> QueryPredicate {
    .orderBy(field, value)
  }

  /// Keeps the first documents.
  public static func limit(to value: Int) -> QueryPredicate { .limitTo(value) }

  /// Keeps the last documents.
  public static func limit(toLast value: Int) -> QueryPredicate { .limitToLast(value) }
}

// MARK: - Shorter names

extension QueryPredicate {
  /// Keeps documents whose field is equivalent to a value.
  public static func `where`(_ name: String, isEqualTo value: Any) -> QueryPredicate {
    .isEqualTo(name, value)
  }

  /// Keeps documents whose field is equivalent to one of the values.
  public static func `where`(_ name: String, isIn values: [Any]) -> QueryPredicate {
    .isIn(name, values)
  }

  /// Keeps documents that have the field, equivalent to none of the values.
  public static func `where`(_ name: String, isNotIn values: [Any]) -> QueryPredicate {
    .isNotIn(name, values)
  }

  /// Keeps documents whose field is an array with a value.
  public static func `where`(field name: String, arrayContains value: Any) -> QueryPredicate {
    .arrayContains(name, value)
  }

  /// Keeps documents whose field is an array with one of the values.
  public static func `where`(_ name: String, arrayContainsAny values: [Any]) -> QueryPredicate {
    .arrayContainsAny(name, values)
  }

  /// Keeps documents whose field is below a value.
  public static func `where`(_ name: String, isLessThan value: Any) -> QueryPredicate {
    .isLessThan(name, value)
  }

  /// Keeps documents whose field is above a value.
  public static func `where`(_ name: String, isGreaterThan value: Any) -> QueryPredicate {
    .isGreaterThan(name, value)
  }

  /// Keeps documents whose field is not above a value.
  public static func `where`(_ name: String, isLessThanOrEqualTo value: Any) -> QueryPredicate {
    .isLessThanOrEqualTo(name, value)
  }

  /// Keeps documents whose field is not below a value.
  public static func `where`(
    _ name: String, isGreaterThanOrEqualTo value: Any
  ) -> QueryPredicate {
    .isGreaterThanOrEqualTo(name, value)
  }
}

extension Query {
  /// The query with further conditions, orders and limits.
  func refined(by predicates: [QueryPredicate]) -> Query {
    predicates.reduce(self) { query, predicate in
      switch predicate {
      case .isEqualTo(let field, let value): query.whereField(field, isEqualTo: value)
      case .isIn(let field, let values): query.whereField(field, in: values)
      case .isNotIn(let field, let values): query.whereField(field, notIn: values)
      case .arrayContains(let field, let value): query.whereField(field, arrayContains: value)
      case .arrayContainsAny(let field, let values):
        query.whereField(field, arrayContainsAny: values)
      case .isLessThan(let field, let value): query.whereField(field, isLessThan: value)
      case .isGreaterThan(let field, let value): query.whereField(field, isGreaterThan: value)
      case .isLessThanOrEqualTo(let field, let value):
        query.whereField(field, isLessThanOrEqualTo: value)
      case .isGreaterThanOrEqualTo(let field, let value):
        query.whereField(field, isGreaterThanOrEqualTo: value)
      case .orderBy(let field, let isDescending): query.order(by: field, descending: isDescending)
      case .limitTo(let count): query.limit(to: count)
      case .limitToLast(let count): query.limit(toLast: count)
      }
    }
  }
}
