/// An expression as written, before its types are known.
///
/// An expression is the parser's output and lives only until ``ExpressionCompiler`` has emitted its
/// operations. All offsets count bytes of the rule's decoded text; ``RulesText`` maps them to the
/// file.
struct Expression {
  indirect enum Kind {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    /// A pattern, not yet parsed: the bytes between the slashes and the characters behind them.
    case pattern(body: Range<Int>, flags: String)
    /// A list in brackets; valid only as the argument of `hasChildren()`.
    case list([Expression])
    /// A bare name: one of `auth`, `now`, `root`, `data`, `newData`, `query`, or an error.
    case variable(String)
    /// A `$name` of the path to the rule, with its `$`.
    case capture(String)
    case not(Expression)
    case negative(Expression)
    case binary(BinaryOperator, Expression, Expression)
    /// A chain of `&&`.
    case all([Expression])
    /// A chain of `||`.
    case any([Expression])
    /// The conditional operator `condition ? then : otherwise`.
    case choice(condition: Expression, then: Expression, otherwise: Expression)
    /// `value.name`, or `value["name"]` with a literal name.
    case member(Expression, String)
    /// `value[index]` with any other index.
    case element(Expression, Expression)
    case call(receiver: Expression, method: String, arguments: [Expression])
  }

  let kind: Kind
  /// The bytes it takes up, parentheses included.
  let range: Range<Int>
  /// The position of messages about the operator, member or method.
  let anchor: Int
  /// The number of levels, itself included.
  ///
  /// The parser keeps it at or below ``RulesLimits/expressionDepth``, which bounds the recursion of
  /// the compiler, of the evaluator and of explanations.
  let height: Int

  init(_ kind: Kind, range: Range<Int>, anchor: Int? = nil) {
    self.kind = kind
    self.range = range
    self.anchor = anchor ?? range.lowerBound
    height = 1 + kind.operandHeight
  }
}

extension Expression.Kind {
  /// The levels of the highest operand.
  fileprivate var operandHeight: Int {
    switch self {
    case .null, .bool, .integer, .double, .text, .pattern, .variable, .capture: 0
    case .not(let operand), .negative(let operand), .member(let operand, _): operand.height
    case .binary(_, let left, let right), .element(let left, let right):
      max(left.height, right.height)
    case .choice(let condition, let then, let otherwise):
      max(condition.height, then.height, otherwise.height)
    case .all(let operands), .any(let operands), .list(let operands):
      operands.lazy.map(\.height).max() ?? 0
    case .call(let receiver, _, let arguments):
      max(receiver.height, arguments.lazy.map(\.height).max() ?? 0)
    }
  }
}

/// The operators between two values, apart from the logical ones.
enum BinaryOperator: Sendable {
  case add, subtract, multiply, divide, remainder
  case less, lessOrEqual, greater, greaterOrEqual
  case equal, notEqual

  init?(_ symbol: Token.Symbol) {
    switch symbol {
    case .plus: self = .add
    case .minus: self = .subtract
    case .times: self = .multiply
    case .divide: self = .divide
    case .remainder: self = .remainder
    case .less: self = .less
    case .lessOrEqual: self = .lessOrEqual
    case .greater: self = .greater
    case .greaterOrEqual: self = .greaterOrEqual
    case .equal, .identical: self = .equal
    case .notEqual, .notIdentical: self = .notEqual
    default: return nil
    }
  }

  /// The precedence; larger binds tighter.
  var precedence: Int {
    switch self {
    case .equal, .notEqual: 3
    case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
    case .add, .subtract: 5
    case .multiply, .divide, .remainder: 6
    }
  }
}
