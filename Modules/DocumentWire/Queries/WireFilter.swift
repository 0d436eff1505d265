import TernCore
import TernQuery

/// `Filter` and what lies in it. Source: documents reference, sections 2.2 and 6.2; firestore
/// server reference, section 2.7.
///
/// The fields of `Filter`, of which one is set: 1 composite, 2 field, 3 unary. Filters nest; the
/// depth of messages bounds that.
enum WireFilter {
  /// - Throws: ``DocumentWireError/member(_:)`` in the words of the service.
  static func read(_ reader: inout ProtoReader) throws(DocumentWireError) -> DocumentFilter {
    var filter: DocumentFilter?
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        filter = try composite(&message)
      case 2:
        var message = try reader.message()
        filter = try fieldFilter(&message)
      case 3:
        var message = try reader.message()
        filter = try unary(&message)
      default: try reader.skip()
      }
    }
    guard let filter else { throw .member("Unknown Filter type.") }
    return filter
  }

  /// Reads a `CompositeFilter`.
  ///
  /// Fields: 1 operator (AND 1, OR 2), 2 members.
  private static func composite(
    _ message: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentFilter {
    var kind: UInt64 = 0
    var members: [DocumentFilter] = []
    while let field = try message.next() {
      switch field {
      case 1: kind = try message.varint()
      case 2:
        var member = try message.message()
        members.append(try read(&member))
      default: try message.skip()
      }
    }
    switch kind {
    case 1: return .and(members)
    // Without members it keeps everything, as one that joins by AND does.
    case 2: return members.isEmpty ? .and([]) : .or(members)
    default: throw .member("Unsupported CompositeFilter operator.")
    }
  }

  /// Reads a `FieldFilter`.
  ///
  /// Fields: 1 field, 2 operator, 3 operand. The operator is numbered as ``DocumentOperator`` says
  /// below.
  private static func fieldFilter(
    _ message: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentFilter {
    var path: DocumentFieldPath?
    var number: UInt64 = 0
    var operand: DocumentValue?
    while let field = try message.next() {
      switch field {
      case 1: path = try message.reference()
      case 2: number = try message.varint()
      case 3:
        var value = try message.message()
        operand = try value.value()
      default: try message.skip()
      }
    }
    guard let comparison = DocumentOperator.onWire(number) else {
      throw .member("Unknown FieldFilter operator.")
    }
    guard let path else { throw .member("FieldFilter.field is required.") }
    guard let operand else { throw .member("Cannot convert firestore.v1.Value with type unset.") }
    try path.checkQueried(isCompared: true)
    let filter = DocumentFieldFilter(path, comparison, operand)
    try filter.checkOperand()
    return filter.raw
  }

  /// Reads a `UnaryFilter`: a comparison with null or with what is not a number.
  ///
  /// Fields: 1 operator (IS_NAN 2, IS_NULL 3, IS_NOT_NAN 4, IS_NOT_NULL 5; there is no 1), 2 field.
  private static func unary(
    _ message: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentFilter {
    var kind: UInt64 = 0
    var path: DocumentFieldPath?
    while let field = try message.next() {
      switch field {
      case 1: kind = try message.varint()
      case 2: path = try message.reference()
      default: try message.skip()
      }
    }
    guard let path else { throw .member("UnaryFilter.field is required.") }
    try path.checkQueried(isCompared: true)
    switch kind {
    case 2: return .where(path, .equal, .double(.nan))
    case 3: return .where(path, .equal, .null)
    case 4: return .where(path, .notEqual, .double(.nan))
    case 5: return .where(path, .notEqual, .null)
    default: throw .member("Unknown UnaryFilter operator.")
    }
  }
}

extension DocumentFilter {
  /// The filter that keeps nothing.
  ///
  /// A disjunction without members. It differs from an empty composite of the wire, which keeps
  /// all.
  static let nothing = DocumentFilter.or([])
}

extension DocumentFieldFilter {
  /// The filter that a field filter of the wire stands for.
  ///
  /// Null and NaN are equal to nothing there: only unary filters ask for them, and those are what
  /// ``DocumentOperator/equal`` with such an operand means here. Nothing is not equal to null,
  /// and everything to NaN.
  ///
  /// Clients with an SDK send unary filters, so this concerns raw requests. Lists lose the operands
  /// that match nothing; a list that loses all of them keeps nothing.
  fileprivate var raw: DocumentFilter {
    // Keys are references, never null or NaN.
    if path.isKey { return .field(self) }
    let isNull = operand == .null
    let isNumber = operand != .double(.nan)
    switch comparison {
    // NaN, which sorts before it, is in no range.
    case .lessThan where operand == .double(-.infinity): return .nothing
    case .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return isNull || !isNumber ? .nothing : .field(self)
    case .notEqual:
      if isNull { return .nothing }
      return isNumber ? .field(self) : .where(path, .notEqual, .null)
    case .arrayContains: return isNull || !isNumber ? .nothing : .field(self)
    case .in, .arrayContainsAny:
      let values = alternatives.filter { $0 != .null && $0 != .double(.nan) }
      return values.isEmpty ? .nothing : .where(path, comparison, .array(values))
    case .notIn:
      if alternatives.contains(.null) { return .nothing }
      let values = alternatives.filter { $0 != .double(.nan) }
      return values.isEmpty
        ? .where(path, .notEqual, .null) : .where(path, .notIn, .array(values))
    }
  }

  /// Checks the operand by itself.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a list operator without a list or with one of
  ///   the wrong length, for a key compared with something else than references, and for a value
  ///   that is too large to look documents up by.
  fileprivate func checkOperand() throws(DocumentWireError) {
    try checkList()
    if path.isKey {
      if comparison == .arrayContains || comparison == .arrayContainsAny {
        throw .member("the name __key__ is reserved")
      }
      for value in alternatives {
        guard case .reference = value else { throw .member("__key__ filter value must be a Key") }
      }
    }
    switch comparison {
    case .equal, .in, .arrayContains, .arrayContainsAny: try checkSize()
    case .notEqual, .notIn, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: break
    }
  }

  /// Checks the operand of an operator that takes a list: 1 to 10 values for `not-in`, 1 to 30 for
  /// the others.
  private func checkList() throws(DocumentWireError) {
    guard comparison.takesList else { return }
    let name = comparison.serviceName
    guard case .array(let values) = operand else {
      throw .member("'\(name)' requires an ArrayValue.")
    }
    if values.isEmpty { throw .member("'\(name)' requires an non-empty ArrayValue.") }
    let limit =
      comparison == .notIn ? DocumentQueryLimits.notInValues : DocumentQueryLimits.disjunctions
    if values.count > limit {
      throw .member("'\(name)' supports up to \(limit) comparison values.")
    }
  }

  /// The most bytes of a value that documents are looked up by.
  ///
  /// The indexes of the service hold no more bytes of a value.
  private static let operandBytes = 1_500

  /// Checks the size of the operand. Ranges and negations may have longer operands: they need no
  /// exact entry in an index.
  private func checkSize() throws(DocumentWireError) {
    for value in alternatives where !path.isKey && value.byteCount > Self.operandBytes {
      let isElement = comparison == .arrayContains || comparison == .arrayContainsAny
      let name = path.text + (isElement ? "[*]" : "")
      throw .member("value for \(name) is too large to be used in a query")
    }
  }
}

extension DocumentOperator {
  /// The operators in the order of their numbers, from 1.
  private static let numbered: [DocumentOperator] = [
    .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual,
    .arrayContains, .in, .arrayContainsAny, .notIn,
  ]

  /// - Returns: `nil` for 0, which is unspecified, and for a number above the last.
  fileprivate static func onWire(_ number: UInt64) -> DocumentOperator? {
    1...UInt64(numbered.count) ~= number ? numbered[Int(number) - 1] : nil
  }

  /// The number of the operator in a field filter.
  var wireNumber: Int { (DocumentOperator.numbered.firstIndex(of: self) ?? -1) + 1 }

  /// The operator's name in texts of the service.
  var serviceName: String {
    switch self {
    case .lessThan: "LESS_THAN"
    case .lessThanOrEqual: "LESS_THAN_OR_EQUAL"
    case .equal: "EQUAL"
    case .notEqual: "NOT_EQUAL"
    case .greaterThan: "GREATER_THAN"
    case .greaterThanOrEqual: "GREATER_THAN_OR_EQUAL"
    case .arrayContains: "ARRAY_CONTAINS"
    case .arrayContainsAny: "ARRAY_CONTAINS_ANY"
    case .in: "IN"
    case .notIn: "NOT_IN"
    }
  }
}
