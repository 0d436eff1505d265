import TernCore
import TernQuery

// A `String` names a field by its names joined by dots.

extension Query {
  /// Keeps those that a filter keeps.
  public func whereFilter(_ filter: Filter) -> Query {
    refined { query throws(FirestoreArgumentError) in
      let filter = try filter.resolved(for: query, in: firestore.database)
      return try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
        try query.filtered(filter)
      }
    }
  }

  /// Keeps those whose field is equivalent to a value.
  public func whereField(_ field: String, isEqualTo value: Any) -> Query {
    whereFilter(.whereField(field, isEqualTo: value))
  }

  /// Keeps those whose field is equivalent to a value.
  public func whereField(_ path: FieldPath, isEqualTo value: Any) -> Query {
    whereFilter(.whereField(path, isEqualTo: value))
  }

  /// Keeps those that have the field, not null and not equivalent to a value.
  public func whereField(_ field: String, isNotEqualTo value: Any) -> Query {
    whereFilter(.whereField(field, isNotEqualTo: value))
  }

  /// Keeps those that have the field, not null and not equivalent to a value.
  public func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Query {
    whereFilter(.whereField(path, isNotEqualTo: value))
  }

  /// Keeps those whose field is below a value, of the same type.
  public func whereField(_ field: String, isLessThan value: Any) -> Query {
    whereFilter(.whereField(field, isLessThan: value))
  }

  /// Keeps those whose field is below a value, of the same type.
  public func whereField(_ path: FieldPath, isLessThan value: Any) -> Query {
    whereFilter(.whereField(path, isLessThan: value))
  }

  /// Keeps those whose field is not above a value, of the same type.
  public func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Query {
    whereFilter(.whereField(field, isLessThanOrEqualTo: value))
  }

  /// Keeps those whose field is not above a value, of the same type.
  public func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Query {
    whereFilter(.whereField(path, isLessThanOrEqualTo: value))
  }

  /// Keeps those whose field is above a value, of the same type.
  public func whereField(_ field: String, isGreaterThan value: Any) -> Query {
    whereFilter(.whereField(field, isGreaterThan: value))
  }

  /// Keeps those whose field is above a value, of the same type.
  public func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Query {
    whereFilter(.whereField(path, isGreaterThan: value))
  }

  /// Keeps those whose field is not below a value, of the same type.
  public func whereField(_ field: String, isGreaterThanOrEqualTo value: Any) -> Query {
    whereFilter(.whereField(field, isGreaterOrEqualTo: value))
  }

  /// Keeps those whose field is not below a value, of the same type.
  public func whereField(_ path: FieldPath, isGreaterThanOrEqualTo value: Any) -> Query {
    whereFilter(.whereField(path, isGreaterOrEqualTo: value))
  }

  /// Keeps those whose field is an array that holds a value.
  public func whereField(_ field: String, arrayContains value: Any) -> Query {
    whereFilter(.whereField(field, arrayContains: value))
  }

  /// Keeps those whose field is an array that holds a value.
  public func whereField(_ path: FieldPath, arrayContains value: Any) -> Query {
    whereFilter(.whereField(path, arrayContains: value))
  }

  /// Keeps those whose field is an array that holds one of the values.
  public func whereField(_ field: String, arrayContainsAny value: [Any]) -> Query {
    whereFilter(.whereField(field, arrayContainsAny: value))
  }

  /// Keeps those whose field is an array that holds one of the values.
  public func whereField(_ path: FieldPath, arrayContainsAny value: [Any]) -> Query {
    whereFilter(.whereField(path, arrayContainsAny: value))
  }

  /// Keeps those whose field is equivalent to one of the values.
  public func whereField(_ field: String, in value: [Any]) -> Query {
    whereFilter(.whereField(field, in: value))
  }

  /// Keeps those whose field is equivalent to one of the values.
  public func whereField(_ path: FieldPath, in value: [Any]) -> Query {
    whereFilter(.whereField(path, in: value))
  }

  /// Keeps those that have the field, not null and equivalent to none of the values.
  public func whereField(_ field: String, notIn value: [Any]) -> Query {
    whereFilter(.whereField(field, notIn: value))
  }

  /// Keeps those that have the field, not null and equivalent to none of the values.
  public func whereField(_ path: FieldPath, notIn value: [Any]) -> Query {
    whereFilter(.whereField(path, notIn: value))
  }
}
