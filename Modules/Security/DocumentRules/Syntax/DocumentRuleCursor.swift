/// Walks over the tokens of a rules file with one token of look-ahead.
///
/// Paths need more than tokens: `/` and `-` are parts of a path there and operators elsewhere. A
/// parser at a path therefore reads segments from the bytes and then moves the cursor behind them.
struct DocumentRuleCursor {
  private var lexer: DocumentRuleLexer
  /// The token that comes next.
  private(set) var token: DocumentRuleToken
  /// The offset behind the last token that was passed.
  ///
  /// Nodes of expressions take it as their end.
  private(set) var end = 0

  init(_ bytes: [UInt8]) throws(RulesSyntaxError) {
    lexer = DocumentRuleLexer(bytes)
    token = try lexer.next()
  }

  /// Returns the token and moves behind it.
  @discardableResult
  mutating func advance() throws(RulesSyntaxError) -> DocumentRuleToken {
    let current = token
    end = current.end
    token = try lexer.next()
    return current
  }

  /// True when the next token is the symbol.
  func sees(_ symbol: DocumentRuleToken.Symbol) -> Bool { token.kind == .symbol(symbol) }

  /// True when the next token is the word.
  func sees(_ word: String) -> Bool { token.kind == .name(word) }

  /// Moves behind a symbol; false when something else comes next.
  mutating func skip(_ symbol: DocumentRuleToken.Symbol) throws(RulesSyntaxError) -> Bool {
    guard sees(symbol) else { return false }
    try advance()
    return true
  }

  /// Moves behind a symbol.
  ///
  /// - Throws: A problem when something else comes next.
  mutating func expect(_ symbol: DocumentRuleToken.Symbol) throws(RulesSyntaxError) {
    if !(try skip(symbol)) { throw unexpected("'\(symbol.rawValue)'") }
  }

  /// Moves behind a word.
  mutating func expect(_ word: String) throws(RulesSyntaxError) {
    guard sees(word) else { throw unexpected("'\(word)'") }
    try advance()
  }

  /// Moves behind an identifier and returns it.
  mutating func identifier() throws(RulesSyntaxError) -> String {
    guard case .name(let name) = token.kind else { throw unexpected("a name") }
    try advance()
    return name
  }

  /// Returns the literal segment of a path that begins at an offset, and the offset behind it;
  /// `nil` when there is none. The cursor stays where it is until ``move(to:)``.
  mutating func segment(from offset: Int) -> (text: String, end: Int)? {
    lexer.pathSegment(from: offset)
  }

  /// Continues with the token that begins at or behind an offset.
  ///
  /// Tokens that were looked at behind the old position are read again, or never; the lexer holds
  /// no state but its offset.
  mutating func move(to offset: Int) throws(RulesSyntaxError) {
    lexer.move(to: offset)
    end = offset
    token = try lexer.next()
  }

  /// The byte at an offset.
  func byte(at offset: Int) -> UInt8? { lexer.byte(at: offset) }

  /// The problem that something else stands where `expected` belongs.
  func unexpected(_ expected: String) -> RulesSyntaxError {
    RulesSyntaxError("Unexpected \(token.text); expected \(expected).", at: token.offset)
  }
}
