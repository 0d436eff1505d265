import TernCore

/// The value of a part of an expression.
///
/// A snapshot is a reference, which is read only when a method asks for its shape. Values of the
/// tree and of the claims share the scalar cases, so rules compare them directly.
enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case text(String)
  /// The value of a node with children: it exists, and that is all rules can see of it.
  case object
  /// An object or a list of the claims.
  case claims(JSONValue)
  case snapshot(SnapshotReference)

  /// Creates the value of a leaf. A server value that was never resolved is opaque to rules.
  init(_ scalar: TreeScalar) {
    switch scalar {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .text(value)
    case .serverValue: self = .object
    }
  }

  /// Creates the value of a part of the claims.
  init(_ claims: JSONValue) {
    switch claims {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .text(value)
    case .array, .object: self = .claims(claims)
    }
  }

  /// The member called `name`, by its bytes; `null` when there is none. The elements of a list are
  /// called "0", "1", ….
  ///
  /// Of members that share a name the last counts, as in JavaScript. Values other than objects and
  /// lists have no members.
  func member(_ name: String) -> RuleValue {
    switch self {
    case .claims(.object(let members)):
      return members.last { $0.name.hasSameBytes(as: name) }.map { RuleValue($0.value) } ?? .null
    case .claims(.array(let elements)):
      guard let index = Int(name), elements.indices.contains(index), "\(index)" == name else {
        return .null
      }
      return RuleValue(elements[index])
    default: return .null
    }
  }
}

/// A node of the tree before or after the request, not read yet.
///
/// `child()` extends the path without a check, and `parent()` shortens it; ``possibleCount``
/// remembers where it left the paths that nodes can have.
struct SnapshotReference: Sendable {
  /// True for the tree after the request (`newData`), false for the tree before (`data`, `root`).
  var isProposed: Bool
  var path: TreePath
  /// The number of keys before the first that no node can have; `Int.max` when all are possible.
  var possibleCount = Int.max
  /// True for the node of the rule itself, whose shape is kept.
  var isHere = false

  var isPossible: Bool { path.count <= possibleCount }
}

/// The reason a rule could not be evaluated; the rule is false.
///
/// The error ends the whole rule; no operator of the language catches it, so `!` around a mistake
/// grants nothing.
enum RuleEvaluationError: Error {
  /// The operation at an index met a value it has no meaning for.
  case mistake(RuleError, operation: Int)
  /// The steps were used up.
  case exhausted(RulesBudget, operation: Int)
  /// The store could not be read; the whole request fails.
  case data(RulesDataError)
}

/// An error inside a rule. The rule is false; others may still grant.
public enum RuleError: String, Hashable, Sendable {
  /// An operand of another type, for an operator of booleans.
  case notBoolean = "a boolean was needed"
  /// An operand of another type, for an operator of numbers.
  case notNumber = "a number was needed"
  /// An operand of another type, for an operator of strings.
  case notString = "a string was needed"
  /// Operands that `+` cannot join.
  case notAddable = "'+' takes numbers, or a string with a string or number"
  /// Operands without an order between them.
  case notOrdered = "an order exists between two numbers or two strings"
  /// Two objects compared with each other.
  case notComparable = "objects cannot be compared with each other"
  /// A length of something other than a string.
  case noLength = "only strings have a length"
  /// The parent of the root.
  case noParent = "the root has no parent"
}

/// A bound on the work of judging.
public enum RulesBudget: String, Hashable, Sendable {
  /// One rule took more than ``RulesLimits/stepsPerRule``.
  case rule = "the rule takes too many steps"
  /// All rules together took more than ``RulesLimits/stepsPerRequest``.
  case request = "the rules take too many steps for one request"
  /// A string would be longer than ``RulesLimits/stringBytes``.
  case string = "a string becomes too long"
}
