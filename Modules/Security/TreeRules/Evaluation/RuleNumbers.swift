import TernCore

/// Numbers as rules know them: whole ones exact while they fit 64 bits, doubles otherwise.
extension RuleValue {
  /// The double nearest to a number, `nil` for everything else.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .text, .object, .claims, .snapshot: nil
    }
  }

  /// The number as a scalar that knows its order, `nil` for everything else.
  private var scalar: TreeScalar? {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .null, .bool, .text, .object, .claims, .snapshot: nil
    }
  }

  /// The result of `-`, `*`, `/` or `%`, or of `+` between numbers; `nil` if one is no number.
  ///
  /// Dividing by zero gives NaN, whatever is divided.
  ///
  /// Two integers give an integer when the exact result is one that fits 64 bits; otherwise both
  /// become doubles. Sums of large counters therefore stay exact where JavaScript rounds.
  static func arithmetic(
    _ operation: BinaryOperator, _ left: RuleValue, _ right: RuleValue
  ) -> RuleValue? {
    if case .integer(let a) = left, case .integer(let b) = right,
      let exact = exact(operation, a, b)
    {
      return .integer(exact)
    }
    guard let a = left.number, let b = right.number else { return nil }
    switch operation {
    case .add: return .double(a + b)
    case .subtract: return .double(a - b)
    case .multiply: return .double(a * b)
    case .divide: return .double(b == 0 ? .nan : a / b)
    case .remainder: return .double(b == 0 ? .nan : a.truncatingRemainder(dividingBy: b))
    default: return nil
    }
  }

  /// Returns the exact integer result; `nil` when the result is a fraction, overflows, or divides
  /// by zero. A quotient by -1 goes to the doubles, because the least integer has no negative.
  private static func exact(_ operation: BinaryOperator, _ a: Int64, _ b: Int64) -> Int64? {
    let (value, overflow): (Int64, Bool)
    switch operation {
    case .add: (value, overflow) = a.addingReportingOverflow(b)
    case .subtract: (value, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (value, overflow) = a.multipliedReportingOverflow(by: b)
    case .remainder: (value, overflow) = a.remainderReportingOverflow(dividingBy: b)
    case .divide where b != 0 && b != -1 && a % b == 0: (value, overflow) = (a / b, false)
    default: return nil
    }
    return overflow ? nil : value
  }

  /// The verdict of `<`, `<=`, `>` or `>=`; `nil` unless both are numbers or both strings.
  ///
  /// Strings compare by UTF-16 units, as JavaScript does. A comparison with NaN is false for all
  /// four operators.
  static func comparison(
    _ operation: BinaryOperator, _ left: RuleValue, _ right: RuleValue
  ) -> Bool? {
    let order: Int
    if case .integer(let a) = left, case .integer(let b) = right {
      order = a < b ? -1 : a == b ? 0 : 1
    } else if case .text(let a) = left, case .text(let b) = right {
      order = a.compareUTF16(b)
    } else {
      guard let a = left.scalar, let b = right.scalar else { return nil }
      if left.number?.isNaN == true || right.number?.isNaN == true { return false }
      order = a.compare(b)
    }
    switch operation {
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    case .greaterOrEqual: return order >= 0
    default: return nil
    }
  }

  /// Returns true when two values are the same; `nil` when both are objects.
  ///
  /// Values of different kinds are unequal and never converted. NaN equals nothing, itself
  /// included.
  static func equality(_ left: RuleValue, _ right: RuleValue) -> Bool? {
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.integer(let a), .integer(let b)): return a == b
    case (.text(let a), .text(let b)): return a.hasSameBytes(as: b)
    case (.object, .object), (.object, .claims), (.claims, .object), (.claims, .claims): return nil
    default:
      guard let a = left.scalar, let b = right.scalar else { return false }
      if left.number?.isNaN == true || right.number?.isNaN == true { return false }
      return a.compare(b) == 0
    }
  }
}

extension Double {
  /// The shortest decimal text, as JavaScript writes numbers.
  ///
  /// Numbers of 10²¹ and above, and those below 10⁻⁶, use an exponent. Source: ECMA-262,
  /// Number::toString.
  var ruleText: String {
    if isNaN { return "NaN" }
    if isInfinite { return self < 0 ? "-Infinity" : "Infinity" }
    if self == 0 { return "0" }
    if self < 0 { return "-" + (-self).ruleText }
    let (digits, point) = shortestDigits
    let count = digits.utf8.count
    switch point {
    case count...21 where count <= point:
      return digits + String(repeating: "0", count: point - count)
    case 1...21: return digits.prefix(point) + "." + digits.dropFirst(point)
    case -5...0: return "0." + String(repeating: "0", count: -point) + digits
    default:
      let exponent = point - 1
      let mantissa = count == 1 ? digits : digits.prefix(1) + "." + digits.dropFirst()
      return mantissa + (exponent < 0 ? "e-" : "e+") + "\(abs(exponent))"
    }
  }

  /// The digits without zeros at either end, and where the point stands after the first of them.
  ///
  /// `point` counts the digits in front of the decimal point; it is negative or zero for small
  /// fractions, and exceeds the number of digits when zeros follow.
  private var shortestDigits: (digits: String, point: Int) {
    let parts = description.split(separator: "e")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let halves = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = halves[0]
    let all = whole + (halves.count > 1 ? halves[1] : "")
    let leading = all.prefix { $0 == "0" }.count
    var digits = all.dropFirst(leading)
    while digits.last == "0" { digits.removeLast() }
    return (String(digits), whole.count - leading + exponent)
  }
}
