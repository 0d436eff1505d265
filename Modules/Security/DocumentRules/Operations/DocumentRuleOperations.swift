import TernCore

/// The operators of the language of rules.
///
/// Source: firestore reference, section 6.5.
///
/// All functions are pure, so that ``ProofEvaluator`` can apply them to each combination of
/// possible values.
package enum DocumentRuleOperations {
  package typealias Value = DocumentRuleValue

  /// Applies a binary operator to its operands.
  ///
  /// `&&` and `||` are not among them, because they do not always evaluate both operands.
  package static func apply(
    _ operation: DocumentRuleOperator, _ left: Value, _ right: Value
  ) throws(DocumentRuleFault) -> Value {
    switch operation {
    case .equal: return .bool(areEqual(left, right))
    case .notEqual: return .bool(!areEqual(left, right))
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return .bool(try compare(operation, left, right))
    case .isIn: return .bool(try isMember(left, of: right))
    case .add: return try sum(left, right)
    case .subtract: return try difference(left, right)
    case .multiply, .divide, .remainder: return try product(operation, left, right)
    }
  }

  /// Returns true when `==` holds: numbers by value, everything else by type and contents.
  package static func areEqual(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.float(let a), .float(let b)): a == b
    case (.int(let a), .float(let b)), (.float(let b), .int(let a)): compare(a, b) == 0
    default: left == right
    }
  }

  /// Negative, zero or positive as an integer is below, equal to or above a float; `nil` when that
  /// is no number.
  ///
  /// Compares exactly: converting the integer to a double would make integers above 2⁵³ equal to
  /// their neighbors.
  private static func compare(_ integer: Int64, _ float: Double) -> Int? {
    if float.isNaN { return nil }
    if float >= 0x1p63 { return -1 }
    if float < -0x1p63 { return 1 }
    let whole = float.rounded(.towardZero)
    let other = Int64(whole)
    if integer != other { return integer < other ? -1 : 1 }
    return float > whole ? -1 : float < whole ? 1 : 0
  }

  /// Evaluates an order between two values of one type; integers and floats are one type here.
  /// Strings compare by their UTF-8 bytes, unlike in tree rules.
  private static func compare(
    _ operation: DocumentRuleOperator, _ left: Value, _ right: Value
  ) throws(DocumentRuleFault) -> Bool {
    // `nil`: one is no number, and every comparison is false.
    let order: Int?
    switch (left, right) {
    case (.int(let a), .int(let b)): order = a < b ? -1 : a > b ? 1 : 0
    case (.float(let a), .float(let b)):
      order = a < b ? -1 : a > b ? 1 : a == b ? 0 : nil
    case (.int(let a), .float(let b)): order = compare(a, b)
    case (.float(let a), .int(let b)): order = compare(b, a).map { -$0 }
    case (.string(let a), .string(let b)): order = a.compareUTF8(b)
    case (.bytes(let a), .bytes(let b)): order = a.span.compareBytes(b.span)
    case (.timestamp(let a), .timestamp(let b)), (.duration(let a), .duration(let b)):
      order = a < b ? -1 : a > b ? 1 : 0
    default: throw .operands(left, operation, right)
    }
    guard let order else { return false }
    switch operation {
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    default: return order >= 0
    }
  }

  /// Evaluates `in`. In a list or set the equality of containers counts, so `1 in [1.0]` is false;
  /// in a map only keys count.
  private static func isMember(
    _ value: Value, of container: Value
  ) throws(DocumentRuleFault) -> Bool {
    switch (value, container) {
    case (_, .list(let elements)): return elements.contains(value)
    case (_, .set(let set)): return set.contains(value)
    case (.string(let key), .map(let map)): return map[key] != nil
    case (_, .map): return false
    default: throw .operands(value, .isIn, container)
    }
  }

  /// Evaluates `+`. The sum of two strings is checked against ``DocumentRulesLimits/textBytes``
  /// before it is made.
  private static func sum(_ left: Value, _ right: Value) throws(DocumentRuleFault) -> Value {
    switch (left, right) {
    case (.int(let a), .int(let b)): return try whole(a.addingReportingOverflow(b))
    case (.string(let a), .string(let b)):
      if a.utf8.count + b.utf8.count > DocumentRulesLimits.textBytes { throw .tooLarge }
      return .string(a + b)
    case (.timestamp(let time), .duration(let span)), (.duration(let span), .timestamp(let time)):
      return try timestamp(time.adding(span))
    case (.duration(let a), .duration(let b)): return try duration(a.adding(b))
    default:
      guard let (a, b) = floats(left, right) else { throw .operands(left, .add, right) }
      return .float(a + b)
    }
  }

  private static func difference(
    _ left: Value, _ right: Value
  ) throws(DocumentRuleFault) -> Value {
    switch (left, right) {
    case (.int(let a), .int(let b)): return try whole(a.subtractingReportingOverflow(b))
    case (.timestamp(let a), .timestamp(let b)): return try duration(a.subtracting(b))
    case (.timestamp(let time), .duration(let span)): return try timestamp(time.subtracting(span))
    case (.duration(let a), .duration(let b)): return try duration(a.subtracting(b))
    default:
      guard let (a, b) = floats(left, right) else { throw .operands(left, .subtract, right) }
      return .float(a - b)
    }
  }

  /// Evaluates `*`, `/` and `%`. Integer division truncates toward zero, and division by zero is a
  /// fault; with a float, it gives infinity or NaN.
  private static func product(
    _ operation: DocumentRuleOperator, _ left: Value, _ right: Value
  ) throws(DocumentRuleFault) -> Value {
    if case .int(let a) = left, case .int(let b) = right {
      if operation == .multiply { return try whole(a.multipliedReportingOverflow(by: b)) }
      if b == 0 { throw .arithmetic("Division by zero.") }
      return try whole(
        operation == .divide
          ? a.dividedReportingOverflow(by: b) : a.remainderReportingOverflow(dividingBy: b))
    }
    guard let (a, b) = floats(left, right) else { throw .operands(left, operation, right) }
    switch operation {
    case .multiply: return .float(a * b)
    case .divide: return .float(a / b)
    default: return .float(a.truncatingRemainder(dividingBy: b))
    }
  }

  /// Applies the minus in front of an operand.
  package static func negated(_ value: Value) throws(DocumentRuleFault) -> Value {
    switch value {
    case .int(let number): return try whole(Int64(0).subtractingReportingOverflow(number))
    case .float(let number): return .float(-number)
    default: throw .unsupported(received: "-\(value.typeName)", expected: "-int, -float")
    }
  }

  private static func floats(_ left: Value, _ right: Value) -> (Double, Double)? {
    guard let a = float(left), let b = float(right) else { return nil }
    return (a, b)
  }

  private static func float(_ value: Value) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .float(let number): number
    default: nil
    }
  }

  /// Returns the integer result; overflow is a fault and never wraps around.
  private static func whole(
    _ result: (partialValue: Int64, overflow: Bool)
  ) throws(DocumentRuleFault) -> Value {
    if result.overflow { throw .arithmetic("Integer overflow.") }
    return .int(result.partialValue)
  }

  /// A point in time, checked to lie in the years 1 to 9999.
  static func timestamp(_ time: DocumentRuleTime?) throws(DocumentRuleFault) -> Value {
    guard let time, DocumentRuleTime.instants ~= time.seconds else {
      throw .arithmetic("The timestamp is out of range.")
    }
    return .timestamp(time)
  }

  /// A length of time, checked to lie within 10,000 years.
  static func duration(_ time: DocumentRuleTime?) throws(DocumentRuleFault) -> Value {
    guard let time, DocumentRuleTime.durations ~= time.seconds else {
      throw .arithmetic("The duration is out of range.")
    }
    return .duration(time)
  }
}

extension DocumentRuleOperations {
  /// Returns the member of a value, `value.name`.
  ///
  /// A missing member is a fault and not null, which makes `resource.data.field == null` fail for a
  /// document without the field.
  package static func member(
    _ name: String, of value: Value
  ) throws(DocumentRuleFault) -> Value {
    switch value {
    case .null: throw .nullValue
    case .map(let map):
      guard let member = map[name] else { throw .undefinedProperty(name) }
      return member
    default: throw .undefinedProperty(name)
    }
  }

  /// Returns the element of a value, `value[key]`.
  ///
  /// Strings are indexed by Unicode scalars, and negative indices do not exist.
  package static func element(
    of value: Value, at key: Value
  ) throws(DocumentRuleFault) -> Value {
    switch (value, key) {
    case (.list(let elements), .int(let index)):
      return elements[try position(index, in: elements.count)]
    case (.path(let path), .int(let index)):
      return .string(path.segments[try position(index, in: path.segments.count)])
    case (.string(let text), .int(let index)):
      let scalars = Array(text.unicodeScalars)
      return .string(String(scalars[try position(index, in: scalars.count)]))
    case (.map(let map), .string(let name)):
      guard let member = map[name] else { throw .undefinedProperty(name) }
      return member
    case (.null, _): throw .nullValue
    default:
      throw .unsupported(
        received: "\(value.typeName)[\(key.typeName)]",
        expected: "list[int], string[int], path[int], map[string]")
    }
  }

  private static func position(
    _ index: Int64, in count: Int
  ) throws(DocumentRuleFault) -> Int {
    guard 0..<Int64(count) ~= index else { throw .outOfRange }
    return Int(index)
  }

  /// Returns a part of a value, `value[low:high]`.
  package static func slice(
    of value: Value, from low: Value, to high: Value
  ) throws(DocumentRuleFault) -> Value {
    guard case .int(let low) = low, case .int(let high) = high else {
      throw .unsupported(
        received: "\(value.typeName)[\(low.typeName):\(high.typeName)]",
        expected: "list[int:int], string[int:int]")
    }
    switch value {
    case .list(let elements):
      return .list(Array(elements[try range(low, high, in: elements.count)]))
    case .string(let text):
      let scalars = Array(text.unicodeScalars)
      var part = String.UnicodeScalarView()
      part.append(contentsOf: scalars[try range(low, high, in: scalars.count)])
      return .string(String(part))
    case .null: throw .nullValue
    default:
      throw .unsupported(
        received: "\(value.typeName)[int:int]", expected: "list[int:int], string[int:int]")
    }
  }

  /// The positions of a slice: it begins at an element that exists, and ends behind the first.
  private static func range(
    _ low: Int64, _ high: Int64, in count: Int
  ) throws(DocumentRuleFault) -> Range<Int> {
    guard 0..<Int64(count) ~= low, 1..<Int64(count) + 1 ~= high, low <= high else {
      throw .outOfRange
    }
    return Int(low)..<Int(high)
  }

  /// Appends what `$(…)` stands for to the segments of a path.
  ///
  /// A path may add several segments, a string exactly one, even if it contains slashes.
  package static func append(
    _ value: Value, to segments: inout [String]
  ) throws(DocumentRuleFault) {
    switch value {
    case .string(let text): segments.append(text)
    case .path(let path): segments += path.segments
    case .null: throw .nullValue
    default:
      throw .unsupported(received: "$(\(value.typeName))", expected: "$(string), $(path)")
    }
  }
}
