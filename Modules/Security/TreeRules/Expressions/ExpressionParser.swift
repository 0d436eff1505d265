/// Reads one expression by precedence climbing.
///
/// Source of the grammar: realtime reference, section 12.5.
///
/// The parser holds one token of lookahead. Its output is a tree of ``Expression`` values with byte
/// ranges into the rule's text; ``ExpressionCompiler`` checks the types. Two bounds keep the stack
/// small for hostile files: `depth` counts the recursion of the parser itself, and
/// ``make(_:range:anchor:)`` limits the height of trees that loops build without recursion, such as
/// `a.b.c.d` or `1 + 1 + 1`.
struct ExpressionParser {
  private var lexer: Lexer
  /// The next token, read but not consumed.
  private var token: Token
  /// The number of `choice` and `unary` calls on the stack.
  private var depth = 0
  private let depthLimit: Int

  /// The whole of `bytes` as one expression.
  ///
  /// - Parameters:
  ///   - bytes: The decoded text of one rule.
  ///   - depthLimit: The most levels of nesting, and of the tree that is returned.
  /// - Throws: A message at the first offending token; text after a complete expression is an
  ///   error.
  static func parse(_ bytes: [UInt8], depthLimit: Int) throws(RulesSyntaxError) -> Expression {
    var parser = try ExpressionParser(bytes: bytes, depthLimit: depthLimit)
    let expression = try parser.choice()
    guard parser.token.kind == .end else { throw parser.unexpected("an operator") }
    return expression
  }

  private init(bytes: [UInt8], depthLimit: Int) throws(RulesSyntaxError) {
    lexer = Lexer(bytes: bytes)
    token = try lexer.next()
    self.depthLimit = depthLimit
  }

  private func unexpected(_ expected: String) -> RulesSyntaxError {
    RulesSyntaxError("expected \(expected), found \(token.name)", at: token.range.lowerBound)
  }

  private mutating func advance() throws(RulesSyntaxError) {
    token = try lexer.next()
  }

  /// Consumes `symbol` if it is the next token.
  ///
  /// - Returns: True when the symbol was consumed.
  private mutating func skip(_ symbol: Token.Symbol) throws(RulesSyntaxError) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    try advance()
    return true
  }

  /// Consumes `symbol` and returns where it ended.
  private mutating func expect(_ symbol: Token.Symbol) throws(RulesSyntaxError) -> Int {
    guard token.kind == .symbol(symbol) else { throw unexpected("'\(symbol.rawValue)'") }
    let end = token.range.upperBound
    try advance()
    return end
  }

  /// A node over finished operands, if the tree does not become too high to walk.
  private func make(
    _ kind: Expression.Kind, range: Range<Int>, anchor: Int? = nil
  ) throws(RulesSyntaxError) -> Expression {
    let expression = Expression(kind, range: range, anchor: anchor)
    if expression.height > depthLimit {
      throw RulesSyntaxError("more than \(depthLimit) levels", at: range.lowerBound)
    }
    return expression
  }

  /// Counts one level of recursion. The caller decreases `depth` again when it returns.
  private mutating func enter() throws(RulesSyntaxError) {
    depth += 1
    if depth > depthLimit {
      throw RulesSyntaxError("more than \(depthLimit) levels", at: token.range.lowerBound)
    }
  }
}

// From the loosest operator to the tightest.
extension ExpressionParser {
  /// Parses `condition ? then : otherwise`, which associates to the right, or anything tighter.
  private mutating func choice() throws(RulesSyntaxError) -> Expression {
    try enter()
    defer { depth -= 1 }
    let condition = try disjunction()
    let anchor = token.range.lowerBound
    guard try skip(.question) else { return condition }
    let then = try choice()
    _ = try expect(.colon)
    let otherwise = try choice()
    return try make(
      .choice(condition: condition, then: then, otherwise: otherwise),
      range: condition.range.lowerBound..<otherwise.range.upperBound, anchor: anchor)
  }

  /// Parses a chain of `||` into one node, so that a long chain costs a single level of height.
  private mutating func disjunction() throws(RulesSyntaxError) -> Expression {
    let first = try conjunction()
    guard token.kind == .symbol(.or) else { return first }
    let anchor = token.range.lowerBound
    var operands = [first]
    while try skip(.or) { operands.append(try conjunction()) }
    let range = first.range.lowerBound..<operands[operands.count - 1].range.upperBound
    return try make(.any(operands), range: range, anchor: anchor)
  }

  /// Parses a chain of `&&` into one node. Its operands begin at precedence 3, that of `==`, the
  /// loosest operator of ``BinaryOperator``.
  private mutating func conjunction() throws(RulesSyntaxError) -> Expression {
    let first = try binary(minimum: 3)
    guard token.kind == .symbol(.and) else { return first }
    let anchor = token.range.lowerBound
    var operands = [first]
    while try skip(.and) { operands.append(try binary(minimum: 3)) }
    let range = first.range.lowerBound..<operands[operands.count - 1].range.upperBound
    return try make(.all(operands), range: range, anchor: anchor)
  }

  /// Parses binary operators that bind at least as tightly as `minimum`, left-associative.
  ///
  /// - Parameter minimum: A value of ``BinaryOperator/precedence``, 3...6; the right operand is
  ///   parsed one level tighter, which makes `a - b - c` mean `(a - b) - c`.
  private mutating func binary(minimum: Int) throws(RulesSyntaxError) -> Expression {
    var left = try unary()
    while case .symbol(let symbol) = token.kind, let operation = BinaryOperator(symbol),
      operation.precedence >= minimum
    {
      let anchor = token.range.lowerBound
      try advance()
      let right = try binary(minimum: operation.precedence + 1)
      left = try make(
        .binary(operation, left, right),
        range: left.range.lowerBound..<right.range.upperBound, anchor: anchor)
    }
    return left
  }

  private mutating func unary() throws(RulesSyntaxError) -> Expression {
    let start = token.range.lowerBound
    let isNot = token.kind == .symbol(.not)
    guard isNot || token.kind == .symbol(.minus) else { return try postfix() }
    try enter()
    defer { depth -= 1 }
    try advance()
    let operand = try unary()
    return try make(
      isNot ? .not(operand) : .negative(operand), range: start..<operand.range.upperBound)
  }

  /// Parses a primary with any number of member accesses, index accesses and calls after it.
  private mutating func postfix() throws(RulesSyntaxError) -> Expression {
    var value = try primary()
    while true {
      switch token.kind {
      case .symbol(.dot): value = try member(of: value)
      case .symbol(.openBracket): value = try element(of: value)
      case .symbol(.openParenthesis): value = try call(value)
      default: return value
      }
    }
  }

  private mutating func member(of value: Expression) throws(RulesSyntaxError) -> Expression {
    try advance()
    guard case .name(let name) = token.kind else { throw unexpected("a member's name") }
    let range = token.range
    try advance()
    return try make(
      .member(value, name), range: value.range.lowerBound..<range.upperBound,
      anchor: range.lowerBound)
  }

  /// Parses `[index]`. A literal string becomes a member access, so that `auth["uid"]` and
  /// `auth.uid` compile to the same operation and obey the same checks.
  private mutating func element(of value: Expression) throws(RulesSyntaxError) -> Expression {
    try advance()
    let index = try choice()
    let range = value.range.lowerBound..<(try expect(.closeBracket))
    let anchor = index.range.lowerBound
    if case .text(let name) = index.kind {
      return try make(.member(value, name), range: range, anchor: anchor)
    }
    return try make(.element(value, index), range: range, anchor: anchor)
  }

  /// Parses an argument list. Only a member can be called: the language has methods, but neither
  /// functions nor values that are functions.
  private mutating func call(_ callee: Expression) throws(RulesSyntaxError) -> Expression {
    guard case .member(let receiver, let method) = callee.kind else {
      throw RulesSyntaxError("only a method of a value can be called", at: token.range.lowerBound)
    }
    try advance()
    let (arguments, end) = try expressions(until: .closeParenthesis)
    return try make(
      .call(receiver: receiver, method: method, arguments: arguments),
      range: callee.range.lowerBound..<end, anchor: callee.anchor)
  }

  /// Parses expressions separated by commas up to `closing`, and consumes it.
  ///
  /// - Returns: The expressions, and the offset behind the closing symbol.
  private mutating func expressions(
    until closing: Token.Symbol
  ) throws(RulesSyntaxError) -> (list: [Expression], end: Int) {
    var list: [Expression] = []
    if token.kind != .symbol(closing) {
      repeat { list.append(try choice()) } while try skip(.comma)
    }
    return (list, try expect(closing))
  }

  private mutating func primary() throws(RulesSyntaxError) -> Expression {
    let range = token.range
    switch token.kind {
    case .integer(let value): return try literal(.integer(value))
    case .double(let value): return try literal(.double(value))
    case .text(let text): return try literal(.text(text))
    case .name("null"): return try literal(.null)
    case .name("true"): return try literal(.bool(true))
    case .name("false"): return try literal(.bool(false))
    case .name(let name): return try literal(.variable(name))
    case .capture(let name): return try literal(.capture(name))
    case .symbol(.divide):
      // A slash where a value is expected begins a pattern. The lexer has read no further than the
      // slash, so it can go back to it.
      token = try lexer.pattern(at: range.lowerBound)
      guard case .pattern(let body, let flags) = token.kind else { throw unexpected("a pattern") }
      return try literal(.pattern(body: body, flags: flags))
    case .symbol(.openBracket):
      try advance()
      let (list, end) = try expressions(until: .closeBracket)
      return try make(.list(list), range: range.lowerBound..<end)
    case .symbol(.openParenthesis):
      try advance()
      let inner = try choice()
      let end = try expect(.closeParenthesis)
      // Parentheses leave no node of their own: they only widen the range, which explanations
      // print.
      return Expression(inner.kind, range: range.lowerBound..<end, anchor: inner.anchor)
    default: throw unexpected("a value")
    }
  }

  private mutating func literal(_ kind: Expression.Kind) throws(RulesSyntaxError) -> Expression {
    let range = token.range
    try advance()
    return Expression(kind, range: range)
  }
}
