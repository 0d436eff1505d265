import TernCore
import TernQuery

/// A condition on documents. A `String` names a field by its names joined by dots.
public final class Filter: Sendable {
  private indirect enum Shape: Sendable {
    case field(Result<Comparison, FirestoreArgumentError>)
    case and([Filter])
    case or([Filter])
  }

  private struct Comparison: Sendable {
    let path: DocumentFieldPath
    let comparison: DocumentOperator
    let operand: DocumentValue
  }

  private let shape: Shape

  private init(_ shape: Shape) { self.shape = shape }

  /// Those that every one of the filters keeps.
  public static func andFilter(_ filters: [Filter]) -> Filter { Filter(.and(filters)) }

  /// Those that one of the filters keeps.
  public static func orFilter(_ filters: [Filter]) -> Filter { Filter(.or(filters)) }

  private static func comparing(
    _ field: Any, _ comparison: DocumentOperator, _ value: Any
  ) -> Filter {
    Filter(
      .field(
        Result { () throws(FirestoreArgumentError) in
          Comparison(
            path: try DocumentFieldPath.named(field), comparison: comparison,
            operand: try DocumentValue(foundation: value, in: nil))
        }))
  }
}

extension Filter {
  /// The filter as it is meant in a query: an id, where the key is compared, is a reference.
  func resolved(
    for query: DocumentQuery, in database: DocumentDatabase
  ) throws(FirestoreArgumentError) -> DocumentFilter {
    switch shape {
    case .and(let members): return .and(try members.resolved(for: query, in: database))
    case .or(let members): return .or(try members.resolved(for: query, in: database))
    case .field(let field):
      let field = try field.get()
      var operand = field.operand
      if field.path.isKey { operand = try operand.asKey(for: query, in: database) }
      try operand.checkReferences(in: database)
      return .where(field.path, field.comparison, operand)
    }
  }
}

extension [Filter] {
  fileprivate func resolved(
    for query: DocumentQuery, in database: DocumentDatabase
  ) throws(FirestoreArgumentError) -> [DocumentFilter] {
    var filters: [DocumentFilter] = []
    for member in self { filters.append(try member.resolved(for: query, in: database)) }
    return filters
  }
}

extension DocumentValue {
  /// Returns the operand for a comparison with the key: texts are ids, or paths for a collection
  /// group.
  func asKey(
    for query: DocumentQuery, in database: DocumentDatabase
  ) throws(FirestoreArgumentError) -> DocumentValue {
    try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
      try query.keyOperand(self, in: database)
    }
  }
}

extension Filter {
  /// Keeps those whose field is equivalent to a value.
  public static func whereField(_ field: String, isEqualTo value: Any) -> Filter {
    comparing(field, .equal, value)
  }

  /// Keeps those whose field is equivalent to a value.
  public static func whereField(_ path: FieldPath, isEqualTo value: Any) -> Filter {
    comparing(path, .equal, value)
  }

  /// Keeps those that have the field, not null and not equivalent to a value.
  public static func whereField(_ field: String, isNotEqualTo value: Any) -> Filter {
    comparing(field, .notEqual, value)
  }

  /// Keeps those that have the field, not null and not equivalent to a value.
  public static func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Filter {
    comparing(path, .notEqual, value)
  }

  /// Keeps those whose field is below a value, of the same type.
  public static func whereField(_ field: String, isLessThan value: Any) -> Filter {
    comparing(field, .lessThan, value)
  }

  /// Keeps those whose field is below a value, of the same type.
  public static func whereField(_ path: FieldPath, isLessThan value: Any) -> Filter {
    comparing(path, .lessThan, value)
  }

  /// Keeps those whose field is not above a value, of the same type.
  public static func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Filter {
    comparing(field, .lessThanOrEqual, value)
  }

  /// Keeps those whose field is not above a value, of the same type.
  public static func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Filter {
    comparing(path, .lessThanOrEqual, value)
  }

  /// Keeps those whose field is above a value, of the same type.
  public static func whereField(_ field: String, isGreaterThan value: Any) -> Filter {
    comparing(field, .greaterThan, value)
  }

  /// Keeps those whose field is above a value, of the same type.
  public static func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Filter {
    comparing(path, .greaterThan, value)
  }

  /// Keeps those whose field is not below a value, of the same type.
  public static func whereField(_ field: String, isGreaterOrEqualTo value: Any) -> Filter {
    comparing(field, .greaterThanOrEqual, value)
  }

  /// Keeps those whose field is not below a value, of the same type.
  public static func whereField(_ path: FieldPath, isGreaterOrEqualTo value: Any) -> Filter {
    comparing(path, .greaterThanOrEqual, value)
  }

  /// Keeps those whose field is an array that holds a value.
  public static func whereField(_ field: String, arrayContains value: Any) -> Filter {
    comparing(field, .arrayContains, value)
  }

  /// Keeps those whose field is an array that holds a value.
  public static func whereField(_ path: FieldPath, arrayContains value: Any) -> Filter {
    comparing(path, .arrayContains, value)
  }

  /// Keeps those whose field is an array that holds one of the values.
  public static func whereField(_ field: String, arrayContainsAny value: [Any]) -> Filter {
    comparing(field, .arrayContainsAny, value)
  }

  /// Keeps those whose field is an array that holds one of the values.
  public static func whereField(_ path: FieldPath, arrayContainsAny value: [Any]) -> Filter {
    comparing(path, .arrayContainsAny, value)
  }

  /// Keeps those whose field is equivalent to one of the values.
  public static func whereField(_ field: String, in value: [Any]) -> Filter {
    comparing(field, .in, value)
  }

  /// Keeps those whose field is equivalent to one of the values.
  public static func whereField(_ path: FieldPath, in value: [Any]) -> Filter {
    comparing(path, .in, value)
  }

  /// Keeps those that have the field, not null and equivalent to none of the values.
  public static func whereField(_ field: String, notIn value: [Any]) -> Filter {
    comparing(field, .notIn, value)
  }

  /// Keeps those that have the field, not null and equivalent to none of the values.
  public static func whereField(_ path: FieldPath, notIn value: [Any]) -> Filter {
    comparing(path, .notIn, value)
  }
}
