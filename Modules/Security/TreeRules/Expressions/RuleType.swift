/// What an expression may turn out to be: a set of kinds of values.
struct RuleType: OptionSet, Sendable {
  let rawValue: UInt8

  static let null = RuleType(rawValue: 1)
  static let bool = RuleType(rawValue: 2)
  static let number = RuleType(rawValue: 4)
  static let text = RuleType(rawValue: 8)
  static let object = RuleType(rawValue: 16)
  /// Part of `auth`, whose members may be asked for by any name.
  static let claims = RuleType(rawValue: 32)
  static let snapshot = RuleType(rawValue: 64)

  /// What `val()` may be.
  static let value: RuleType = [.null, .bool, .number, .text, .object]
  /// What `auth` and its members may be.
  static let anyClaims: RuleType = [.value, .claims]
  /// What a leaf or a bound of a query may be.
  static let scalar: RuleType = [.null, .bool, .number, .text]

  /// How to name it in a message.
  var name: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .text: "a string"
    case .snapshot: "a snapshot"
    case [.number, .text]: "a number or a string"
    default: "a value"
    }
  }
}
