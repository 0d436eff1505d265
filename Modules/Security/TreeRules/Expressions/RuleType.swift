/// The possible results of an expression: a set of kinds of values.
///
/// A type is an upper bound: at run time the value is of one of these kinds, and the evaluator
/// checks which. A check at load time fails only when the set has nothing in common with what is
/// needed, apart from conditions, which must be exactly ``bool``.
struct RuleType: OptionSet, Sendable {
  let rawValue: UInt8

  static let null = RuleType(rawValue: 1)
  static let bool = RuleType(rawValue: 2)
  static let number = RuleType(rawValue: 4)
  static let text = RuleType(rawValue: 8)
  /// A node with children or an object of the claims, of which rules see only that it exists.
  static let object = RuleType(rawValue: 16)
  /// Part of `auth`, whose members may be asked for by any name.
  static let claims = RuleType(rawValue: 32)
  /// A node that is not read yet. It never mixes with other kinds in one set.
  static let snapshot = RuleType(rawValue: 64)

  /// The possible results of `val()`.
  static let value: RuleType = [.null, .bool, .number, .text, .object]
  /// The possible values of `auth` and its members.
  static let anyClaims: RuleType = [.value, .claims]
  /// The possible values of a leaf or a bound of a query.
  static let scalar: RuleType = [.null, .bool, .number, .text]

  /// The name in messages.
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
