import TernCore

/// A filter whose operands are packed.
///
/// Its parts are objects, so that asking copies nothing.
///
/// ``DocumentMatcher`` builds it once for a query and asks it for each document, with the bytes of
/// the key and of the packed fields. Composites stop at the first member that decides.
enum Condition: Sendable {
  case all([Condition])
  case any([Condition])
  case field(FieldCondition)
  case key(KeyCondition)

  init(_ filter: DocumentFilter) {
    self =
      switch filter {
      case .and(let members): .all(members.map(Condition.init))
      case .or(let members): .any(members.map(Condition.init))
      case .field(let filter) where filter.path.isKey: .key(KeyCondition(filter))
      case .field(let filter): .field(FieldCondition(filter))
      }
  }

  func holds(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    switch self {
    case .field(let condition): return condition.holds(fields)
    case .key(let condition): return condition.holds(key)
    case .all(let members):
      for member in members where !member.holds(key: key, fields: fields) { return false }
      return true
    case .any(let members):
      for member in members where member.holds(key: key, fields: fields) { return true }
      return false
    }
  }
}

/// One comparison of a field. Source: documents reference, section 2.2.
///
/// A document that lacks the field meets no condition on it, negated ones included.
final class FieldCondition: Sendable {
  private let field: FieldBytes
  private let comparison: DocumentOperator
  /// The alternatives. Null and NaN are no alternatives of `in`, and no elements that arrays are
  /// searched for. Source: firestore server reference, section 2.7.
  private let operands: [PackedValue]
  /// True when an operand is null: `not-in` with null selects nothing.
  private let hasNull: Bool

  init(_ filter: DocumentFieldFilter) {
    field = FieldBytes(filter.path)
    let comparison = filter.comparison
    self.comparison = comparison
    let alternatives = filter.alternatives
    hasNull = alternatives.contains(.null)
    operands =
      alternatives.filter { value in
        switch comparison {
        case .in, .arrayContains, .arrayContainsAny: value != .null && value != .double(.nan)
        case .equal, .notEqual, .notIn, .lessThan, .lessThanOrEqual, .greaterThan,
          .greaterThanOrEqual:
          true
        }
      }.map { PackedValue($0) }
  }

  /// Returns true when a document with these packed fields meets the condition.
  ///
  /// Range operators compare only values of the operand's type; equality and lists compare by
  /// equivalence.
  func holds(_ fields: Span<UInt8>) -> Bool {
    guard let offset = field.offset(in: fields) else { return false }
    switch comparison {
    case .equal, .in: return isAny(fields, offset)
    case .notEqual: return !isNull(fields, offset) && !isAny(fields, offset)
    case .notIn: return !hasNull && !isNull(fields, offset) && !isAny(fields, offset)
    case .arrayContains, .arrayContainsAny: return holdsElement(fields, offset)
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      guard let operand = operands.first, operand.rank == Packed.rank(fields, at: offset) else {
        return false
      }
      return comparison.accepts(-operand.compare(fields, at: offset))
    }
  }

  private func isNull(_ fields: Span<UInt8>, _ offset: Int) -> Bool {
    Packed.rank(fields, at: offset) == 0
  }

  /// Returns true when the value at an offset is equivalent to one of the operands.
  private func isAny(_ fields: Span<UInt8>, _ offset: Int) -> Bool {
    for index in operands.indices where operands[index].compare(fields, at: offset) == 0 {
      return true
    }
    return false
  }

  /// Returns true when the array at an offset has an element that is equivalent to an operand;
  /// false for other values.
  private func holdsElement(_ fields: Span<UInt8>, _ offset: Int) -> Bool {
    guard var next = Packed.elements(of: fields, at: offset) else { return false }
    while next.lowerBound < next.upperBound {
      if isAny(fields, next.lowerBound) { return true }
      var start = next.lowerBound
      Packed.skip(fields, &start)
      next = start..<next.upperBound
    }
    return false
  }
}

/// One comparison of the key.
///
/// Operands are references; only their keys count. An operand of another type, which the checks of
/// a query exclude, matches nothing.
final class KeyCondition: Sendable {
  private let comparison: DocumentOperator
  private let operands: [[UInt8]]

  init(_ filter: DocumentFieldFilter) {
    comparison = filter.comparison
    operands = filter.alternatives.map { value in
      if case .reference(let name) = value { return Array(name.key.text.utf8) }
      return []
    }
  }

  func holds(_ key: Span<UInt8>) -> Bool {
    switch comparison {
    case .in: return isAny(key)
    case .notIn: return !isAny(key)
    case .arrayContains, .arrayContainsAny: return false
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      guard let operand = operands.first else { return false }
      return comparison.accepts(PathOrder.compare(key, operand.span))
    }
  }

  private func isAny(_ key: Span<UInt8>) -> Bool {
    for operand in operands where key.compareBytes(operand.span) == 0 { return true }
    return false
  }
}

extension DocumentOperator {
  /// Returns true when a value that compares like this with the operand satisfies the operator.
  fileprivate func accepts(_ order: Int) -> Bool {
    switch self {
    case .lessThan: order < 0
    case .lessThanOrEqual: order <= 0
    case .equal: order == 0
    case .notEqual: order != 0
    case .greaterThanOrEqual: order >= 0
    case .greaterThan: order > 0
    case .arrayContains, .arrayContainsAny, .in, .notIn: false
    }
  }
}
