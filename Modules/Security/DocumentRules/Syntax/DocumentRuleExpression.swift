/// One expression of rules for documents, with the operands below it.
///
/// The parser makes nodes with names; `DocumentRuleResolver` replaces names by what they stand for.
///
/// A class, because evaluation passes nodes around far more often than it makes them. Nodes are
/// immutable: resolution builds a new tree. Offsets count bytes of the file, which is the place
/// that coverage and denials report.
package final class DocumentRuleExpression: Sendable {
  /// The forms of an expression.
  package enum Kind: Sendable {
    case constant(DocumentRuleValue)
    case list([DocumentRuleExpression])
    case map([MapEntry])
    case path([PathPart])
    /// A pair of parentheses, which counts as an expression of its own.
    case group(DocumentRuleExpression)
    case request
    case resource
    /// A capture of the path, counted from the outermost `match` block.
    case capture(Int)
    /// A parameter, or behind the parameters a `let` binding.
    case local(Int)
    case member(DocumentRuleExpression, String)
    case index(DocumentRuleExpression, DocumentRuleExpression)
    case slice(DocumentRuleExpression, DocumentRuleExpression, DocumentRuleExpression)
    case not(DocumentRuleExpression)
    case negate(DocumentRuleExpression)
    /// A chain of `&&` with at least two operands.
    case and([DocumentRuleExpression])
    /// A chain of `||` with at least two operands.
    case or([DocumentRuleExpression])
    case conditional(DocumentRuleExpression, DocumentRuleExpression, DocumentRuleExpression)
    case binary(DocumentRuleOperator, DocumentRuleExpression, DocumentRuleExpression)
    case isType(DocumentRuleExpression, DocumentRuleTypeName)
    /// The call of a function of the file, by its number.
    case function(Int, [DocumentRuleExpression])
    case builtin(DocumentRuleBuiltin, [DocumentRuleExpression])
    case access(DocumentRuleAccess, DocumentRuleExpression)
    /// The call of a method; the pattern is that of a literal regular expression.
    case method(
      DocumentRuleMethod, DocumentRuleExpression, [DocumentRuleExpression], DocumentPattern?)
    /// The call of a method that no type has: an error when it is evaluated.
    case unknownMethod(String, DocumentRuleExpression, [DocumentRuleExpression])
    /// A name. After resolution: a variable that does not exist, an error when it is evaluated.
    ///
    /// A fault at run time and not a problem of the file, as in the service.
    case name(String)
    /// The call of a function by name. After resolution: one that does not exist, or not with
    /// that many parameters; an error when it is evaluated.
    case call(String, [DocumentRuleExpression])
  }

  /// One entry of a map.
  package struct MapEntry: Sendable {
    /// The key; its value must be a string.
    package let key: DocumentRuleExpression
    /// The value.
    package let value: DocumentRuleExpression
  }

  /// One part of a path literal.
  package enum PathPart: Sendable {
    /// A segment as written.
    case literal(String)
    /// `$(…)`: a string, which is one segment, or a path, which is all of its segments.
    case expression(DocumentRuleExpression)
  }

  /// The form.
  package let kind: Kind
  /// The offset of the first byte in the source.
  package let offset: Int
  /// The offset behind the last byte.
  package let end: Int
  /// The levels of nesting, the expression itself included.
  ///
  /// At most ``DocumentRulesLimits/expressionDepth``, which bounds the recursion of all walks over
  /// the tree.
  package let depth: Int
  /// The number of expressions that the node counts when it is evaluated, without its operands.
  ///
  /// It counts what the service counts: a chain of *n* operands counts *n* - 1 operators, and a
  /// folded list counts its elements.
  package let cost: Int

  package init(_ kind: Kind, at offset: Int, end: Int, depth: Int, cost: Int = 1) {
    self.kind = kind
    self.offset = offset
    self.end = end
    self.depth = depth
    self.cost = cost
  }
}

extension DocumentRuleExpression {
  /// The expressions directly below, in the order of the source.
  package var operands: [DocumentRuleExpression] {
    switch kind {
    case .constant, .request, .resource, .capture, .local, .name: []
    case .list(let items), .and(let items), .or(let items), .function(_, let items),
      .builtin(_, let items), .call(_, let items):
      items
    case .map(let entries): entries.flatMap { [$0.key, $0.value] }
    case .path(let parts):
      parts.compactMap { part in
        if case .expression(let node) = part { node } else { nil }
      }
    case .group(let inner), .member(let inner, _), .not(let inner), .negate(let inner),
      .isType(let inner, _), .access(_, let inner):
      [inner]
    case .index(let left, let right), .binary(_, let left, let right): [left, right]
    case .slice(let first, let second, let third), .conditional(let first, let second, let third):
      [first, second, third]
    case .method(_, let receiver, let arguments, _), .unknownMethod(_, let receiver, let arguments):
      [receiver] + arguments
    }
  }
}

/// The binary operators that evaluate both operands.
package enum DocumentRuleOperator: String, Sendable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case isIn = "in"
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case remainder = "%"
}

/// The names behind `is`.
package enum DocumentRuleTypeName: String, Sendable {
  case bool, bytes, duration, float, int, latlng, list, map, number, path, set, string, timestamp
  /// A type that the syntax accepts and no value has.
  case constraint
  case mapDiff = "map_diff"
}

/// The functions that read documents.
package enum DocumentRuleAccess: String, Sendable {
  case get, exists, getAfter, existsAfter

  /// True when the state after the request is read.
  package var isAfter: Bool { self == .getAfter || self == .existsAfter }

  /// True when only the presence of the document is asked for.
  package var isExistence: Bool { self == .exists || self == .existsAfter }
}

/// The functions of the language, by their full names.
package enum DocumentRuleBuiltin: String, Sendable {
  case int, float, string, bool, bytes, path, debug
  case mathAbs = "math.abs"
  case mathCeil = "math.ceil"
  case mathFloor = "math.floor"
  case mathRound = "math.round"
  case mathSqrt = "math.sqrt"
  case mathPow = "math.pow"
  case mathIsNaN = "math.isNaN"
  case mathIsInfinite = "math.isInfinite"
  case timestampDate = "timestamp.date"
  case timestampValue = "timestamp.value"
  case durationValue = "duration.value"
  case durationTime = "duration.time"
  case durationAbs = "duration.abs"
  case latlngValue = "latlng.value"
  case hashingMD5 = "hashing.md5"
  case hashingSHA256 = "hashing.sha256"
  case hashingCRC32 = "hashing.crc32"
  case hashingCRC32C = "hashing.crc32c"

  /// The names before the dot.
  static let namespaces: Set<String> = [
    "math", "timestamp", "duration", "latlng", "hashing",
  ]

  /// The number of arguments.
  package var arity: Int {
    switch self {
    case .mathPow, .durationValue, .latlngValue: 2
    case .timestampDate: 3
    case .durationTime: 4
    default: 1
    }
  }
}

/// The methods of all types.
package enum DocumentRuleMethod: String, Sendable {
  case size, lower, upper, trim, split, matches, replace, toUtf8
  case toBase64, toHexString
  case concat, hasAll, hasAny, hasOnly, join, removeAll, toSet
  case difference, intersection, union
  case keys, values, get, diff
  case addedKeys, removedKeys, changedKeys, affectedKeys, unchangedKeys
  case year, month, day, hours, minutes, seconds, nanos, dayOfWeek, dayOfYear, date, time
  case toMillis
  case latitude, longitude, distance
  case bind

  /// True when the first argument is a regular expression.
  var takesPattern: Bool { self == .matches || self == .split || self == .replace }
}
