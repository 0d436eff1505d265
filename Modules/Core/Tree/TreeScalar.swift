/// The value of a leaf: a boolean, a number, a string, or a value the server will fill in.
///
/// Equality is that of value order: `integer(1)` equals `double(1)`, and strings are equal when
/// their bytes are. Source: realtime reference, sections 1.1 and 2.2.
public enum TreeScalar: Sendable {
  /// `true` or `false`; never equal to a number.
  case bool(Bool)
  /// A whole number, kept without loss.
  case integer(Int64)
  /// A finite number.
  case double(Double)
  /// Text of at most ``TreeLimits/stringBytes``.
  case string(String)
  /// A value computed when the write commits.
  case serverValue(TreeServerValue)
}

/// A value that is computed where and when a write commits.
public enum TreeServerValue: Hashable, Sendable {
  /// The time of the commit in milliseconds since 1970.
  case timestamp
  /// The number already there plus this one; this one alone when no number is there.
  indirect case increment(TreeScalar)
}

extension TreeScalar: Hashable, Comparable {
  public static func == (left: TreeScalar, right: TreeScalar) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.serverValue(let a), .serverValue(let b)): a == b
    case (.integer, .double), (.double, .integer): left.compare(right) == 0
    default: false
    }
  }

  public static func < (left: TreeScalar, right: TreeScalar) -> Bool {
    left.compare(right) < 0
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value):
      if let integer = Int64(exactly: value) {
        hasher.combine(integer)
      } else {
        hasher.combine(value)
      }
    case .string(let value):
      unsafe value.withBytes { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
      }
    case .serverValue(let value): hasher.combine(value)
    }
  }

  /// Negative, zero or positive in value order: deferred, booleans, numbers, strings.
  ///
  /// Comparing an integer with a double is exact: neither side is rounded.
  package func compare(_ other: TreeScalar) -> Int {
    switch (self, other) {
    case (.string(let a), .string(let b)): a.compareUTF16(b)
    case (.integer(let a), .integer(let b)): a < b ? -1 : (a > b ? 1 : 0)
    case (.double(let a), .double(let b)): a < b ? -1 : (a > b ? 1 : 0)
    case (.integer(let a), .double(let b)): a.compareExactly(b)
    case (.double(let a), .integer(let b)): -b.compareExactly(a)
    case (.bool(let a), .bool(let b)): a == b ? 0 : (b ? -1 : 1)
    default: rank - other.rank
    }
  }

  /// The position of the type in value order.
  private var rank: Int {
    switch self {
    case .serverValue: 0
    case .bool: 1
    case .integer, .double: 2
    case .string: 3
    }
  }
}

extension TreeScalar {
  /// The number as IEEE double, `nil` when this is no number.
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .bool, .string, .serverValue: nil
    }
  }

  /// True when a node may carry this as its priority.
  public var isValidPriority: Bool {
    switch self {
    case .bool: false
    case .double(let value): value.isFinite
    case .integer, .string, .serverValue: true
    }
  }
}

extension TreeScalar: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}
