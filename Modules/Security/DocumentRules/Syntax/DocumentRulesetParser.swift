/// Reads the structure of rules for documents: services, `match` blocks, functions, `allow`
/// statements.
///
/// Source: firestore reference, section 6.2.
///
/// It stops at the first problem. Statements that nest are bounded: blocks by
/// ``DocumentRulesLimits/matchDepth``, expressions by the parser of expressions.
struct DocumentRulesetParser {
  private var parser: DocumentRuleParser
  private var syntax = DocumentRulesetSyntax()

  /// Reads a whole file.
  ///
  /// - Throws: The first problem of its form.
  static func parse(_ bytes: [UInt8]) throws(RulesSyntaxError) -> DocumentRulesetSyntax {
    var parser = DocumentRulesetParser(
      parser: DocumentRuleParser(try DocumentRuleCursor(bytes)))
    try parser.file()
    return parser.syntax
  }

  private init(parser: DocumentRuleParser) { self.parser = parser }

  /// Reads an optional version, then services and functions up to the end of the file.
  private mutating func file() throws(RulesSyntaxError) {
    if parser.cursor.sees("rules_version") { try version() }
    while parser.cursor.token.kind != .end {
      if parser.cursor.sees("function") {
        syntax.functions.append(try function())
      } else {
        try service()
      }
    }
  }

  private mutating func version() throws(RulesSyntaxError) {
    try parser.cursor.advance()
    try parser.cursor.expect(.assign)
    let token = try parser.cursor.advance()
    switch token.kind {
    case .string("1"): syntax.version = 1
    case .string("2"): syntax.version = 2
    default: throw RulesSyntaxError("Invalid rules version.", at: token.offset)
    }
    try parser.cursor.expect(.semicolon)
  }

  /// Reads one service. Services other than ``DocumentRules/serviceName``, such as that of Cloud
  /// Storage, are parsed and dropped, so that a file that applications share stays valid.
  private mutating func service() throws(RulesSyntaxError) {
    guard parser.cursor.sees("service") else { throw parser.cursor.unexpected("'service'") }
    try parser.cursor.advance()
    var name = try parser.cursor.identifier()
    while try parser.cursor.skip(.dot) { name += "." + (try parser.cursor.identifier()) }
    try parser.cursor.expect(.openBrace)
    var functions: [DocumentRulesetSyntax.Function] = []
    var matches: [DocumentRulesetSyntax.Match] = []
    while !(try parser.cursor.skip(.closeBrace)) {
      if parser.cursor.sees("function") {
        functions.append(try function())
      } else {
        matches.append(try match(depth: 1))
      }
    }
    guard name == DocumentRules.serviceName else { return }
    syntax.serviceFunctions += functions
    syntax.matches += matches
  }

  /// Reads a block with its functions, statements and inner blocks, which may come in any order.
  ///
  /// - Parameter depth: The number of blocks around, itself included.
  private mutating func match(
    depth: Int
  ) throws(RulesSyntaxError) -> DocumentRulesetSyntax.Match {
    let offset = parser.cursor.token.offset
    try parser.cursor.expect("match")
    if depth > DocumentRulesLimits.matchDepth {
      let limit = DocumentRulesLimits.matchDepth - 1
      throw RulesSyntaxError("Match blocks are nested more than \(limit) deep.", at: offset)
    }
    var match = DocumentRulesetSyntax.Match(path: try path(), offset: offset)
    try parser.cursor.expect(.openBrace)
    while !(try parser.cursor.skip(.closeBrace)) {
      if parser.cursor.sees("function") {
        match.functions.append(try function())
      } else if parser.cursor.sees("match") {
        match.matches.append(try self.match(depth: depth + 1))
      } else {
        match.allows.append(try allow())
      }
    }
    return match
  }

  /// Reads the path of a block: literal segments, `{name}` and `{name=**}`. Segments are read from
  /// the bytes, because they may contain characters that begin no token.
  private mutating func path() throws(RulesSyntaxError) -> [DocumentRulesetSyntax.Segment] {
    var segments: [DocumentRulesetSyntax.Segment] = []
    guard parser.cursor.sees(.slash) else { throw parser.cursor.unexpected("a path") }
    var offset = parser.cursor.token.offset
    while parser.cursor.byte(at: offset) == UInt8(ascii: "/") {
      if parser.cursor.byte(at: offset + 1) == UInt8(ascii: "{") {
        try parser.cursor.move(to: offset + 2)
        segments.append(try capture())
        offset = parser.cursor.token.end
      } else {
        guard let (text, end) = parser.cursor.segment(from: offset + 1) else {
          throw RulesSyntaxError("A segment of the path is empty.", at: offset)
        }
        segments.append(.literal(text))
        offset = end
      }
    }
    try parser.cursor.move(to: offset)
    return segments
  }

  /// Reads `name` or `name=**`; the cursor stays at the brace behind it.
  private mutating func capture() throws(RulesSyntaxError) -> DocumentRulesetSyntax.Segment {
    let name = try parser.cursor.identifier()
    let isRecursive = try parser.cursor.skip(.assign)
    if isRecursive {
      try parser.cursor.expect(.star)
      try parser.cursor.expect(.star)
    }
    guard parser.cursor.sees(.closeBrace) else { throw parser.cursor.unexpected("'}'") }
    return isRecursive ? .recursive(name) : .capture(name)
  }

  /// Reads an `allow` statement. Unknown names of methods are kept; they allow nothing. The
  /// semicolon at the end may be missing.
  private mutating func allow() throws(RulesSyntaxError) -> DocumentRulesetSyntax.Allow {
    let offset = parser.cursor.token.offset
    guard parser.cursor.sees("allow") else {
      throw parser.cursor.unexpected("'allow', 'match' or 'function'")
    }
    try parser.cursor.advance()
    var methods = [try parser.cursor.identifier()]
    while try parser.cursor.skip(.comma) { methods.append(try parser.cursor.identifier()) }
    var condition: DocumentRuleExpression?
    if try parser.cursor.skip(.colon) {
      try parser.cursor.expect("if")
      if parser.cursor.sees(.semicolon) {
        throw RulesSyntaxError(
          "Missing conditional expression after 'if'.", at: parser.cursor.token.offset)
      }
      condition = try parser.expression()
    }
    _ = try parser.cursor.skip(.semicolon)
    return DocumentRulesetSyntax.Allow(methods: methods, condition: condition, offset: offset)
  }

  /// Reads a function: `let` bindings, then exactly one `return`.
  private mutating func function() throws(RulesSyntaxError) -> DocumentRulesetSyntax.Function {
    try parser.cursor.expect("function")
    let offset = parser.cursor.token.offset
    let name = try parser.cursor.identifier()
    let parameters = try parameters(at: offset)
    try parser.cursor.expect(.openBrace)
    var bindings: [(name: String, value: DocumentRuleExpression)] = []
    while parser.cursor.sees("let") {
      let offset = parser.cursor.token.offset
      try parser.cursor.advance()
      let name = try parser.cursor.identifier()
      try parser.cursor.expect(.assign)
      bindings.append((name, try parser.expression()))
      try parser.cursor.expect(.semicolon)
      if bindings.count > DocumentRulesLimits.bindings {
        throw RulesSyntaxError(
          "More than \(DocumentRulesLimits.bindings) let bindings.", at: offset)
      }
    }
    try parser.cursor.expect("return")
    let body = try parser.expression()
    try parser.cursor.expect(.semicolon)
    try parser.cursor.expect(.closeBrace)
    return DocumentRulesetSyntax.Function(
      name: name, parameters: parameters, bindings: bindings, body: body, offset: offset)
  }

  private mutating func parameters(at offset: Int) throws(RulesSyntaxError) -> [String] {
    try parser.cursor.expect(.openParenthesis)
    var names: [String] = []
    if try parser.cursor.skip(.closeParenthesis) { return names }
    while true {
      names.append(try parser.cursor.identifier())
      if try parser.cursor.skip(.closeParenthesis) { break }
      try parser.cursor.expect(.comma)
    }
    if names.count > DocumentRulesLimits.parameters {
      throw RulesSyntaxError(
        "More than \(DocumentRulesLimits.parameters) parameters.", at: offset)
    }
    return names
  }
}
