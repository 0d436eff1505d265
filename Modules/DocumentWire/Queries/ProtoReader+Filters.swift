import TernCore
import TernQuery

/// `Filter` and what lies in it. Source: documents reference, sections 2.2 and 6.2.
extension ProtoReader {
  mutating func filter() throws(DocumentWireError) -> DocumentFilter {
    var filter: DocumentFilter?
    while let field = try next() {
      switch field {
      case 1: filter = try composite()
      case 2: filter = try fieldFilter()
      case 3: filter = try unary()
      default: try skip()
      }
    }
    guard let filter else { throw .member("a filter says not what it keeps") }
    return filter
  }

  private mutating func composite() throws(DocumentWireError) -> DocumentFilter {
    var kind: UInt64 = 0
    var members: [DocumentFilter] = []
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: kind = try message.varint()
      case 2:
        var member = try message.message()
        members.append(try member.filter())
      default: try message.skip()
      }
    }
    switch kind {
    case 1: return .and(members)
    case 2: return .or(members)
    default: throw .member("a composite filter joins by AND or by OR")
    }
  }

  private mutating func fieldFilter() throws(DocumentWireError) -> DocumentFilter {
    var path: DocumentFieldPath?
    var comparison: DocumentOperator?
    var operand: DocumentValue?
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: path = try message.reference()
      case 2: comparison = DocumentOperator.onWire(try message.varint())
      case 3:
        var value = try message.message()
        operand = try value.value()
      default: try message.skip()
      }
    }
    guard let path, let comparison, let operand else {
      throw .member("a field filter has a field, an operator and a value")
    }
    return .where(path, comparison, operand)
  }

  private mutating func unary() throws(DocumentWireError) -> DocumentFilter {
    var kind: UInt64 = 0
    var path: DocumentFieldPath?
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: kind = try message.varint()
      case 2: path = try message.reference()
      default: try message.skip()
      }
    }
    guard let path else { throw .member("a unary filter has a field") }
    switch kind {
    case 2: return .where(path, .equal, .double(.nan))
    case 3: return .where(path, .equal, .null)
    case 4: return .where(path, .notEqual, .double(.nan))
    case 5: return .where(path, .notEqual, .null)
    default: throw .member("a unary filter asks for null or for what is not a number")
    }
  }
}

extension DocumentOperator {
  /// The operators in the order of their numbers, from 1.
  private static let numbered: [DocumentOperator] = [
    .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual,
    .arrayContains, .in, .arrayContainsAny, .notIn,
  ]

  fileprivate static func onWire(_ number: UInt64) -> DocumentOperator? {
    1...UInt64(numbered.count) ~= number ? numbered[Int(number) - 1] : nil
  }

  /// The number of the operator in a field filter.
  var wireNumber: Int { (DocumentOperator.numbered.firstIndex(of: self) ?? -1) + 1 }
}
