/// A number of either kind: the operand of transforms, the result of sums.
public enum DocumentNumber: Hashable, Sendable {
  /// A whole number.
  case integer(Int64)
  /// Any IEEE number.
  case double(Double)

  /// Takes the number out of a value; `nil` when it is none.
  public init?(_ value: DocumentValue?) {
    switch value {
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    default: return nil
    }
  }

  /// The number as a value.
  public var value: DocumentValue {
    switch self {
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    }
  }

  /// The nearest IEEE number.
  public var double: Double {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    }
  }

  /// True for NaN.
  public var isNaN: Bool { double.isNaN }

  /// The sum; of two whole numbers a whole one, held at the ends of its range.
  func adding(_ other: DocumentNumber) -> DocumentNumber {
    guard case .integer(let a) = self, case .integer(let b) = other else {
      return .double(double + other.double)
    }
    let (sum, overflow) = a.addingReportingOverflow(b)
    if overflow { return .integer(b < 0 ? .min : .max) }
    return .integer(sum)
  }
}
