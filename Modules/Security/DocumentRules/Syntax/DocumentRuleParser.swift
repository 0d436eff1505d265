/// Reads the expressions of rules for documents.
///
/// Source: firestore reference, section 6.2.
///
/// Precedence, loosest first: `?:`, `||`, `&&`, `is`, relations with `in`, sums, products, unary
/// operators, members. ``DocumentRulesetParser`` owns a parser and shares its cursor. Methods and
/// calls are left unresolved; ``DocumentRuleResolver`` finds out which exist.
struct DocumentRuleParser {
  /// The position in the file, which the owner moves as well.
  var cursor: DocumentRuleCursor
  /// The levels of recursion, so that hostile input cannot exhaust the stack.
  private var level = 0
  /// The most levels of recursion: two for each pair of parentheses, and some to spare.
  private static let levels = 3 * DocumentRulesLimits.expressionDepth

  init(_ cursor: DocumentRuleCursor) { self.cursor = cursor }

  typealias Node = DocumentRuleExpression

  /// Reads one expression.
  ///
  /// - Throws: The first problem of form, or one for nesting beyond the limits.
  mutating func expression() throws(RulesSyntaxError) -> Node {
    level += 1
    defer { level -= 1 }
    if level > DocumentRuleParser.levels { throw tooDeep(at: cursor.token.offset) }
    let condition = try disjunction()
    guard try cursor.skip(.question) else { return condition }
    let first = try expression()
    try cursor.expect(.colon)
    let second = try expression()
    return try make(
      .conditional(condition, first, second), over: [condition, first, second],
      at: condition.offset)
  }

  /// Makes a node one level above its operands.
  ///
  /// - Parameters:
  ///   - kind: The form of the node.
  ///   - operands: The nodes directly below.
  ///   - offset: The first byte of the node; it ends where the cursor stands.
  ///   - levels: The levels that the node adds. A map adds two, as in the service.
  ///   - cost: The number of expressions that the node counts itself.
  private func make(
    _ kind: Node.Kind, over operands: [Node], at offset: Int, levels: Int = 1, cost: Int = 1
  ) throws(RulesSyntaxError) -> Node {
    let depth = levels + (operands.map(\.depth).max() ?? 0)
    if depth > DocumentRulesLimits.expressionDepth { throw tooDeep(at: offset) }
    return Node(kind, at: offset, end: cursor.end, depth: depth, cost: cost)
  }

  private func tooDeep(at offset: Int) -> RulesSyntaxError {
    RulesSyntaxError(
      "Expression nesting exceeds \(DocumentRulesLimits.expressionDepth) levels.", at: offset)
  }

  /// Reads a chain of `||` into one node, which evaluates its operands in a loop and adds one level
  /// only.
  private mutating func disjunction() throws(RulesSyntaxError) -> Node {
    var operands = [try conjunction()]
    while try cursor.skip(.or) { operands.append(try conjunction()) }
    if operands.count == 1 { return operands[0] }
    return try make(
      .or(operands), over: operands, at: operands[0].offset, cost: operands.count - 1)
  }

  private mutating func conjunction() throws(RulesSyntaxError) -> Node {
    var operands = [try typeTest()]
    while try cursor.skip(.and) { operands.append(try typeTest()) }
    if operands.count == 1 { return operands[0] }
    return try make(
      .and(operands), over: operands, at: operands[0].offset, cost: operands.count - 1)
  }

  /// Reads `value is type`, whose right side is a name of a type and no expression.
  private mutating func typeTest() throws(RulesSyntaxError) -> Node {
    var node = try relation()
    while cursor.sees("is") {
      try cursor.advance()
      let token = cursor.token
      let name = try cursor.identifier()
      guard let type = DocumentRuleTypeName(rawValue: name) else {
        throw RulesSyntaxError("Unknown type: \(name).", at: token.offset)
      }
      node = try make(.isType(node, type), over: [node], at: node.offset)
    }
    return node
  }

  /// Reads relations from left to right. `a < b < c` is allowed by the syntax and fails at run
  /// time.
  private mutating func relation() throws(RulesSyntaxError) -> Node {
    var node = try sum()
    while let operation = relationOperator() {
      try cursor.advance()
      let right = try sum()
      node = try make(.binary(operation, node, right), over: [node, right], at: node.offset)
    }
    return node
  }

  private func relationOperator() -> DocumentRuleOperator? {
    switch cursor.token.kind {
    case .symbol(.equal): .equal
    case .symbol(.notEqual): .notEqual
    case .symbol(.less): .less
    case .symbol(.lessOrEqual): .lessOrEqual
    case .symbol(.greater): .greater
    case .symbol(.greaterOrEqual): .greaterOrEqual
    case .name("in"): .isIn
    default: nil
    }
  }

  private mutating func sum() throws(RulesSyntaxError) -> Node {
    var node = try product()
    while cursor.sees(.plus) || cursor.sees(.minus) {
      let operation: DocumentRuleOperator = cursor.sees(.plus) ? .add : .subtract
      try cursor.advance()
      let right = try product()
      node = try make(.binary(operation, node, right), over: [node, right], at: node.offset)
    }
    return node
  }

  private mutating func product() throws(RulesSyntaxError) -> Node {
    var node = try unary()
    while true {
      let operation: DocumentRuleOperator
      switch cursor.token.kind {
      case .symbol(.star): operation = .multiply
      case .symbol(.slash): operation = .divide
      case .symbol(.percent): operation = .remainder
      default: return node
      }
      try cursor.advance()
      let right = try unary()
      node = try make(.binary(operation, node, right), over: [node, right], at: node.offset)
    }
  }

  private mutating func unary() throws(RulesSyntaxError) -> Node {
    let offset = cursor.token.offset
    level += 1
    defer { level -= 1 }
    if level > DocumentRuleParser.levels { throw tooDeep(at: offset) }
    if try cursor.skip(.not) {
      let operand = try unary()
      return try make(.not(operand), over: [operand], at: offset)
    }
    guard try cursor.skip(.minus) else { return try postfix() }
    // `-9223372036854775808` is a constant: negating its magnitude would overflow.
    if cursor.token.kind == .smallestMagnitude {
      try cursor.advance()
      return try make(.constant(.int(.min)), over: [], at: offset, cost: 2)
    }
    let operand = try unary()
    return try make(.negate(operand), over: [operand], at: offset)
  }
}

extension DocumentRuleParser {
  private mutating func postfix() throws(RulesSyntaxError) -> Node {
    var node = try primary()
    while true {
      if try cursor.skip(.dot) {
        node = try memberOrMethod(of: node)
      } else if cursor.sees(.openBracket) {
        node = try indexOrSlice(of: node)
      } else {
        return node
      }
    }
  }

  /// Reads what follows a dot. Every method is unknown until resolution.
  private mutating func memberOrMethod(of receiver: Node) throws(RulesSyntaxError) -> Node {
    let name = try cursor.identifier()
    guard cursor.sees(.openParenthesis) else {
      return try make(.member(receiver, name), over: [receiver], at: receiver.offset)
    }
    let arguments = try arguments()
    return try make(
      .unknownMethod(name, receiver, arguments), over: [receiver] + arguments,
      at: receiver.offset)
  }

  private mutating func arguments() throws(RulesSyntaxError) -> [Node] {
    try cursor.expect(.openParenthesis)
    return try elements(until: .closeParenthesis)
  }

  /// Reads expressions up to a closing symbol, and passes it. A comma before the symbol is an
  /// error.
  private mutating func elements(
    until end: DocumentRuleToken.Symbol
  ) throws(RulesSyntaxError) -> [Node] {
    var list: [Node] = []
    if try cursor.skip(end) { return list }
    while true {
      list.append(try expression())
      if try cursor.skip(end) { return list }
      try cursor.expect(.comma)
    }
  }

  private mutating func indexOrSlice(of receiver: Node) throws(RulesSyntaxError) -> Node {
    try cursor.expect(.openBracket)
    let first = try expression()
    if try cursor.skip(.colon) {
      let second = try expression()
      try cursor.expect(.closeBracket)
      return try make(
        .slice(receiver, first, second), over: [receiver, first, second], at: receiver.offset)
    }
    try cursor.expect(.closeBracket)
    return try make(.index(receiver, first), over: [receiver, first], at: receiver.offset)
  }

  private mutating func primary() throws(RulesSyntaxError) -> Node {
    let token = cursor.token
    switch token.kind {
    case .integer(let value): return try constant(.int(value))
    case .float(let value): return try constant(.float(value))
    case .string(let value): return try constant(.string(value))
    case .name(let name): return try named(name)
    case .symbol(.openParenthesis):
      try cursor.advance()
      let inner = try expression()
      try cursor.expect(.closeParenthesis)
      return try make(.group(inner), over: [inner], at: token.offset)
    case .symbol(.openBracket):
      try cursor.advance()
      let list = try elements(until: .closeBracket)
      return try make(.list(list), over: list, at: token.offset)
    case .symbol(.openBrace): return try map()
    case .symbol(.slash): return try path()
    case .smallestMagnitude:
      throw RulesSyntaxError("The integer is out of range.", at: token.offset)
    case .symbol, .end: throw cursor.unexpected("an expression")
    }
  }

  private mutating func constant(_ value: DocumentRuleValue) throws(RulesSyntaxError) -> Node {
    let offset = try cursor.advance().offset
    return try make(.constant(value), over: [], at: offset)
  }

  /// Reads a word: a constant, a variable, or a call.
  private mutating func named(_ name: String) throws(RulesSyntaxError) -> Node {
    switch name {
    case "true": return try constant(.bool(true))
    case "false": return try constant(.bool(false))
    case "null": return try constant(.null)
    case let word where DocumentRuleParser.reserved.contains(word):
      throw cursor.unexpected("an expression")
    default: break
    }
    let offset = try cursor.advance().offset
    guard cursor.sees(.openParenthesis) else {
      return try make(.name(name), over: [], at: offset)
    }
    let arguments = try arguments()
    return try make(.call(name, arguments), over: arguments, at: offset)
  }

  /// The words that name nothing in an expression.
  private static let reserved: Set<String> = [
    "service", "match", "allow", "if", "function", "let", "return", "in", "is",
  ]

  /// Reads a map literal. Keys are expressions, so `{a: 1}` uses the value of the variable `a`.
  private mutating func map() throws(RulesSyntaxError) -> Node {
    let offset = cursor.token.offset
    try cursor.expect(.openBrace)
    var entries: [Node.MapEntry] = []
    if !(try cursor.skip(.closeBrace)) {
      while true {
        let key = try expression()
        try cursor.expect(.colon)
        entries.append(Node.MapEntry(key: key, value: try expression()))
        if try cursor.skip(.closeBrace) { break }
        try cursor.expect(.comma)
      }
    }
    return try make(
      .map(entries), over: entries.flatMap { [$0.key, $0.value] }, at: offset, levels: 2)
  }

  /// Reads a path literal; the cursor stands at its first slash.
  ///
  /// A slash that is not followed by a segment or by `$(` is an error. The cursor jumps over
  /// literal segments, because they are not made of tokens.
  private mutating func path() throws(RulesSyntaxError) -> Node {
    let start = cursor.token.offset
    var offset = start
    var parts: [Node.PathPart] = []
    var operands: [Node] = []
    while cursor.byte(at: offset) == UInt8(ascii: "/") {
      if cursor.byte(at: offset + 1) == UInt8(ascii: "$") {
        try cursor.move(to: offset + 2)
        try cursor.expect(.openParenthesis)
        let operand = try expression()
        guard cursor.sees(.closeParenthesis) else { throw cursor.unexpected("')'") }
        parts.append(.expression(operand))
        operands.append(operand)
        offset = cursor.token.end
      } else {
        let begin = offset + 1
        guard let (text, end) = cursor.segment(from: begin) else {
          throw RulesSyntaxError("A segment of the path is empty.", at: begin)
        }
        parts.append(.literal(text))
        offset = end
      }
    }
    try cursor.move(to: offset)
    return try make(.path(parts), over: operands, at: start)
  }
}
