/// Gives every part of an expression its type, refuses what can never work, and emits operations.
///
/// Source of the types: realtime reference, sections 12.4 to 12.6.
///
/// One compiler serves a whole file: ``compile(rule:in:)`` appends to the same ``RuleProgram`` rule
/// by rule. Operands are emitted before the operation that uses them, so each operation refers only
/// to smaller indices. A rule that fails leaves the operations emitted so far behind as unreachable
/// entries; this does no harm, because a file with any problem is rejected as a whole.
struct ExpressionCompiler {
  /// The context of the expression.
  struct Scope {
    let kind: RulesKind
    /// The `$names` on the way to the rule, outermost first.
    let captures: [String]
  }

  let limits: RulesLimits
  /// Accepts conditions whose type is known only at run time, in files accepted before this check.
  private let acceptsUnknownConditions: Bool
  var program = RuleProgram()
  /// The context of the rule being compiled; set by ``compile(rule:in:)``.
  private(set) var scope = Scope(kind: .read, captures: [])
  /// The expression at hand.
  private(set) var bytes: [UInt8] = []
  /// The type of each operation of the program.
  ///
  /// It has exactly as many elements as the program has operations: ``emit(_:_:for:)`` is the only
  /// place that appends to either.
  private var types: [RuleType] = []

  init(limits: RulesLimits, acceptsUnknownConditions: Bool) {
    self.limits = limits
    self.acceptsUnknownConditions = acceptsUnknownConditions
  }

  /// Compiles a whole rule and returns its entry; the rule must be a boolean.
  ///
  /// - Parameters:
  ///   - bytes: The decoded text of the rule, without the quotes of the file.
  ///   - scope: The kind of the rule and the captures that it may name.
  /// - Returns: The index of the operation whose value is the verdict.
  /// - Throws: The first mistake, with its offset in `bytes`.
  mutating func compile(rule bytes: [UInt8], in scope: Scope) throws(RulesSyntaxError) -> Int {
    self.bytes = bytes
    self.scope = scope
    let expression = try ExpressionParser.parse(bytes, depthLimit: limits.expressionDepth)
    let entry = try compile(expression)
    try requireBoolean(entry, "a rule must be true or false")
    return entry
  }

  func type(of operation: Int) -> RuleType { types[operation] }

  /// Appends an operation with the set of values that it may produce, and returns its index.
  mutating func emit(_ operation: Operation, _ type: RuleType, for source: Expression) -> Int {
    types.append(type)
    return program.append(operation, range: source.range)
  }

  /// Refuses an operand that can be none of `wanted`; each branch of `?:` has to comply.
  func require(_ operand: Int, _ wanted: RuleType, _ message: String) throws(RulesSyntaxError) {
    if case .choice(_, let then, let otherwise) = program.operations[operand] {
      try require(then, wanted, message)
      try require(otherwise, wanted, message)
    } else if type(of: operand).isDisjoint(with: wanted) {
      let found = type(of: operand).name
      throw RulesSyntaxError("\(message); this is \(found)", at: program.ranges[operand].lowerBound)
    }
  }

  /// Rejects an operand that may be anything but a boolean; each branch of `?:` has to comply.
  ///
  /// Values that are known only at run time, such as `auth.token.admin` or `data.val()`, are
  /// rejected here as the live service does. Source: realtime reference, 12.5.
  func requireBoolean(_ operand: Int, _ message: String) throws(RulesSyntaxError) {
    if case .choice(_, let then, let otherwise) = program.operations[operand] {
      try requireBoolean(then, message)
      try requireBoolean(otherwise, message)
      return
    }
    try require(operand, .bool, message)
    guard type(of: operand) != .bool, !acceptsUnknownConditions else { return }
    let range = program.ranges[operand]
    let text = range.count <= 40 ? String(decoding: bytes[range], as: UTF8.self) : "it"
    var wanted = "== true"
    if case .auth = program.operations[operand] { wanted = "!= null" }
    throw RulesSyntaxError(
      "\(message); this may be any value: write \(text) \(wanted)", at: range.lowerBound)
  }

  /// Emits the operations of `expression` and returns the last one.
  mutating func compile(_ expression: Expression) throws(RulesSyntaxError) -> Int {
    switch expression.kind {
    case .null: return constant(.null, .null, for: expression)
    case .bool(let value): return constant(.bool(value), .bool, for: expression)
    case .integer(let value): return constant(.integer(value), .number, for: expression)
    case .double(let value): return constant(.double(value), .number, for: expression)
    case .text(let value): return constant(.text(value), .text, for: expression)
    case .pattern:
      throw RulesSyntaxError("a pattern is only an argument of matches()", at: expression.anchor)
    case .list:
      throw RulesSyntaxError("a list is only an argument of hasChildren()", at: expression.anchor)
    case .variable(let name): return try variable(name, for: expression)
    case .capture(let name): return try capture(name, for: expression)
    case .not(let operand):
      let operand = try compile(operand)
      try requireBoolean(operand, "'!' needs a boolean")
      return emit(.not(operand), .bool, for: expression)
    case .negative(let operand):
      let operand = try compile(operand)
      try require(operand, .number, "'-' needs a number")
      return emit(.negative(operand), .number, for: expression)
    case .binary(let operation, let left, let right):
      return try binary(operation, try compile(left), try compile(right), for: expression)
    case .all(let operands):
      return emit(.all(try conditions(operands, of: "&&")), .bool, for: expression)
    case .any(let operands):
      return emit(.any(try conditions(operands, of: "||")), .bool, for: expression)
    case .choice(let condition, let then, let otherwise):
      return try choice(condition, then, otherwise, for: expression)
    case .member(let value, let name): return try member(name, of: value, for: expression)
    case .element(let value, let index): return try element(index, of: value, for: expression)
    case .call(let receiver, let method, let arguments):
      return try call(method, of: receiver, with: arguments, for: expression)
    }
  }

  private mutating func constant(
    _ value: RuleValue, _ type: RuleType, for source: Expression
  ) -> Int {
    emit(.constant(program.add(constant: value)), type, for: source)
  }

  /// Emits a variable. `newData` exists only where something is written, and `query` has no value
  /// of its own: only its members do.
  private mutating func variable(
    _ name: String, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    switch name {
    case "auth": return emit(.auth, .anyClaims, for: source)
    case "now": return emit(.now, .number, for: source)
    case "root": return emit(.root, .snapshot, for: source)
    case "data": return emit(.data, .snapshot, for: source)
    case "newData":
      guard scope.kind != .read else {
        throw RulesSyntaxError("a .read rule has no 'newData'", at: source.anchor)
      }
      return emit(.newData, .snapshot, for: source)
    case "query": throw RulesSyntaxError("'query' is only used with a member", at: source.anchor)
    default: throw RulesSyntaxError("unknown variable '\(name)'", at: source.anchor)
    }
  }

  /// Emits a reference to a capture by its position on the way from the root.
  ///
  /// The evaluator fills its captures in the same order, so the position found here is valid for
  /// every path that reaches the rule.
  private mutating func capture(_ name: String, for source: Expression) throws(RulesSyntaxError)
    -> Int
  {
    guard let slot = scope.captures.firstIndex(of: name) else {
      throw RulesSyntaxError("no key on the way here is named \(name)", at: source.anchor)
    }
    return emit(.capture(slot), .text, for: source)
  }

  /// Compiles the operands of `&&` or `||`; each must be known to be a boolean.
  ///
  /// - Returns: The range of ``RuleProgram/lists`` that holds the operations of the operands.
  private mutating func conditions(
    _ operands: [Expression], of symbol: String
  ) throws(RulesSyntaxError) -> Range<Int> {
    var list: [Int] = []
    for operand in operands {
      let operand = try compile(operand)
      try requireBoolean(operand, "'\(symbol)' needs booleans")
      list.append(operand)
    }
    return program.add(list: list)
  }

  /// Emits `?:`. Both branches or neither are snapshots, because snapshots and values have
  /// different methods. The result counts as claims only if both branches do.
  private mutating func choice(
    _ condition: Expression, _ then: Expression, _ otherwise: Expression, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    let condition = try compile(condition)
    try requireBoolean(condition, "the condition of '?:' needs a boolean")
    let then = try compile(then)
    let otherwise = try compile(otherwise)
    let (first, second) = (type(of: then), type(of: otherwise))
    guard first.contains(.snapshot) == second.contains(.snapshot) else {
      throw RulesSyntaxError(
        "one branch of '?:' is a snapshot, the other is not", at: source.anchor)
    }
    var type = first.union(second)
    if !(first.contains(.claims) && second.contains(.claims)) { type.remove(.claims) }
    return emit(.choice(condition, then, otherwise), type, for: source)
  }

  /// Emits an operator between two compiled operands.
  ///
  /// Types are sets, so a check rejects only what can never work: an operand that may be a number
  /// is accepted where a number is needed, and the evaluator decides the rest at run time.
  private mutating func binary(
    _ operation: BinaryOperator, _ left: Int, _ right: Int, for source: Expression
  ) throws(RulesSyntaxError) -> Int {
    let (first, second) = (type(of: left), type(of: right))
    switch operation {
    case .equal, .notEqual:
      guard !first.union(second).contains(.snapshot) else {
        throw RulesSyntaxError(
          "a snapshot cannot be compared; use val() or exists()", at: source.anchor)
      }
      return emit(.equality(left, right, isNegated: operation == .notEqual), .bool, for: source)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      try require(left, [.number, .text], "an order needs numbers or strings")
      try require(right, [.number, .text], "an order needs numbers or strings")
      // Both operands passed alone; a number on one side and a string on the other still have no
      // order.
      guard !first.intersection(second).isDisjoint(with: [.number, .text]) else {
        throw RulesSyntaxError("\(first.name) has no order with \(second.name)", at: source.anchor)
      }
      return emit(.comparison(operation, left, right), .bool, for: source)
    case .add:
      try require(left, [.number, .text], "'+' needs numbers or strings")
      try require(right, [.number, .text], "'+' needs numbers or strings")
      let both = first.union(second)
      // One operand that is certainly a string makes the sum a string. Otherwise, the sum is a
      // string only if either operand turns out to be one at run time.
      let type: RuleType =
        first == .text || second == .text
        ? .text : (both.contains(.text) ? [.number, .text] : .number)
      return emit(.arithmetic(.add, left, right), type, for: source)
    case .subtract, .multiply, .divide, .remainder:
      try require(left, .number, "arithmetic needs numbers")
      try require(right, .number, "arithmetic needs numbers")
      return emit(.arithmetic(operation, left, right), .number, for: source)
    }
  }
}
