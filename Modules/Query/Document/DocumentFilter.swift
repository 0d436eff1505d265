public import TernCore

/// The comparison of a field with an operand.
public enum DocumentOperator: String, Hashable, Sendable, CaseIterable {
  /// Below the operand, of the same type.
  case lessThan = "<"
  /// Not above the operand, of the same type.
  case lessThanOrEqual = "<="
  /// Equivalent to the operand.
  case equal = "=="
  /// There, not null, and not equivalent to the operand.
  case notEqual = "!="
  /// Above the operand, of the same type.
  case greaterThan = ">"
  /// Not below the operand, of the same type.
  case greaterThanOrEqual = ">="
  /// An array that holds the operand.
  case arrayContains = "array_contains"
  /// An array that holds one of the operands.
  case arrayContainsAny = "array-contains-any"
  /// Equivalent to one of the operands.
  case `in` = "in"
  /// There, not null, and equivalent to none of the operands.
  case notIn = "not-in"

  /// True when the operand is a list of alternatives.
  public var takesList: Bool { self == .in || self == .notIn || self == .arrayContainsAny }

  /// True when the operator selects more than single values, and so orders by its field.
  public var isInequality: Bool {
    switch self {
    case .lessThan, .lessThanOrEqual, .notEqual, .greaterThan, .greaterThanOrEqual, .notIn: true
    case .equal, .arrayContains, .arrayContainsAny, .in: false
    }
  }
}

/// One field compared with one operand.
public struct DocumentFieldFilter: Hashable, Sendable {
  /// The field; `DocumentFieldPath.key` is the key.
  public let path: DocumentFieldPath
  /// The operator of the comparison.
  public let comparison: DocumentOperator
  /// With what: for list operators an array, for the key references.
  public let operand: DocumentValue

  /// Describes a comparison, unchecked: the query that takes it checks it.
  public init(
    _ path: DocumentFieldPath, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) {
    self.path = path
    self.comparison = comparison
    self.operand = operand
  }

  /// The alternatives of a list operator; the operand alone otherwise.
  package var alternatives: [DocumentValue] {
    if comparison.takesList, case .array(let values) = operand { return values }
    return [operand]
  }
}

/// A condition on documents: a comparison of a field, or a combination of conditions.
public indirect enum DocumentFilter: Hashable, Sendable {
  /// Those whose field compares.
  case field(DocumentFieldFilter)
  /// Those that every member keeps.
  case and([DocumentFilter])
  /// Those that one member keeps.
  case or([DocumentFilter])

  /// Compares a field.
  public static func `where`(
    _ path: DocumentFieldPath, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) -> DocumentFilter {
    .field(DocumentFieldFilter(path, comparison, operand))
  }

  /// The comparisons in it, in the order they are written.
  package var fieldFilters: [DocumentFieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let members), .or(let members): members.flatMap(\.fieldFilters)
    }
  }

  /// True when alternatives are spelled out in it.
  package var hasOr: Bool {
    switch self {
    case .field: false
    case .and(let members): members.contains(where: \.hasOr)
    case .or(let members): members.count > 1 || members.contains(where: \.hasOr)
    }
  }

  /// The same filter without composites of one member, or of the kind around them.
  package var flattened: DocumentFilter {
    switch self {
    case .field: return self
    case .and(let members):
      let flat = members.map(\.flattened).flatMap { member -> [DocumentFilter] in
        if case .and(let inner) = member { return inner }
        return [member]
      }
      return flat.count == 1 ? flat[0] : .and(flat)
    case .or(let members):
      let flat = members.map(\.flattened).flatMap { member -> [DocumentFilter] in
        if case .or(let inner) = member { return inner }
        return [member]
      }
      return flat.count == 1 ? flat[0] : .or(flat)
    }
  }
}
