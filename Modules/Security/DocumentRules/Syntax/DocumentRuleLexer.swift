/// Reads rules for documents token by token.
///
/// Source: firestore reference, section 6.1.
///
/// The bytes must be valid UTF-8; ``DocumentRules`` checks them first. A lexer without state but
/// its offset can be moved anywhere, which ``DocumentRuleCursor`` does around paths.
struct DocumentRuleLexer {
  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Continues at another byte.
  mutating func move(to offset: Int) { index = offset }

  /// Returns the next token and moves behind it.
  ///
  /// - Returns: A token of the kind `end` once the text is used up, as often as it is called.
  /// - Throws: A problem with its offset for an unknown character, an unfinished string or comment,
  ///   or an invalid number.
  mutating func next() throws(RulesSyntaxError) -> DocumentRuleToken {
    try skipBlanks()
    let start = index
    guard let byte = peek() else {
      return DocumentRuleToken(kind: .end, offset: start, end: start)
    }
    let kind: DocumentRuleToken.Kind
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      kind = .name(name())
    case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = try number()
    case UInt8(ascii: "'"), UInt8(ascii: "\""): kind = .string(try string(quote: byte))
    default: kind = .symbol(try symbol())
    }
    return DocumentRuleToken(kind: kind, offset: start, end: index)
  }

  private func peek(_ distance: Int = 0) -> UInt8? {
    index + distance < bytes.count ? bytes[index + distance] : nil
  }

  private mutating func skipBlanks() throws(RulesSyntaxError) {
    while let byte = peek() {
      switch byte {
      case 0x09...0x0D, 0x20: index += 1
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
        while let next = peek(), next != 0x0A { index += 1 }
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): try skipComment()
      default: return
      }
    }
  }

  /// Skips `/* */`, which does not nest.
  private mutating func skipComment() throws(RulesSyntaxError) {
    let start = index
    index += 2
    while peek() != UInt8(ascii: "*") || peek(1) != UInt8(ascii: "/") {
      guard peek() != nil else { throw RulesSyntaxError("The comment does not end.", at: start) }
      index += 1
    }
    index += 2
  }

  private mutating func name() -> String {
    let start = index
    while let byte = peek(), DocumentRuleLexer.isNamePart(byte) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Reads the longest operator that matches; none has more than two characters.
  private mutating func symbol() throws(RulesSyntaxError) -> DocumentRuleToken.Symbol {
    for length in [2, 1] where index + length <= bytes.count {
      let text = String(decoding: bytes[index..<index + length], as: UTF8.self)
      if let symbol = DocumentRuleToken.Symbol(rawValue: text) {
        index += length
        return symbol
      }
    }
    throw RulesSyntaxError("Unexpected character.", at: index)
  }
}

extension DocumentRuleLexer {
  private mutating func skipDigits() {
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
  }

  private func isDigit(at distance: Int) -> Bool {
    peek(distance).map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
  }

  /// Reads an integer or a float. A dot counts only before a digit, and an `e` only before an
  /// exponent; any other letter behind the digits is an error.
  private mutating func number() throws(RulesSyntaxError) -> DocumentRuleToken.Kind {
    let start = index
    var isWhole = true
    skipDigits()
    if peek() == UInt8(ascii: "."), isDigit(at: 1) {
      isWhole = false
      index += 1
      skipDigits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      let isSigned = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
      if isDigit(at: isSigned ? 2 : 1) {
        isWhole = false
        index += isSigned ? 2 : 1
        skipDigits()
      }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if let byte = peek(), DocumentRuleLexer.isNamePart(byte) {
      throw RulesSyntaxError("Invalid number.", at: start)
    }
    if isWhole {
      if let value = Int64(text) { return .integer(value) }
      // The minus is a token of its own, so the magnitude of the least integer must pass here.
      if UInt64(text) == Int64.min.magnitude { return .smallestMagnitude }
      throw RulesSyntaxError("The integer \(text) is out of range.", at: start)
    }
    guard let value = Double(text), value.isFinite else {
      throw RulesSyntaxError("The number \(text) is out of range.", at: start)
    }
    return .float(value)
  }

  /// Reads a string up to the same quote. A line break ends the attempt, so that a missing quote is
  /// reported where the string begins.
  private mutating func string(quote: UInt8) throws(RulesSyntaxError) -> String {
    let start = index
    index += 1
    var text: [UInt8] = []
    while let byte = peek(), byte != 0x0A {
      index += 1
      if byte == quote { return try decoded(text, from: start) }
      if byte == UInt8(ascii: "\\") { escape(into: &text) } else { text.append(byte) }
    }
    throw RulesSyntaxError("The string does not end.", at: start)
  }

  private func decoded(_ text: [UInt8], from start: Int) throws(RulesSyntaxError) -> String {
    String(decoding: text, as: UTF8.self)
  }

  /// Reads the rest of an escape; an unknown one keeps its backslash.
  private mutating func escape(into text: inout [UInt8]) {
    guard let byte = peek() else { return }
    switch byte {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): text.append(byte)
    case UInt8(ascii: "u"):
      if let scalar = unicodeEscape() {
        text += Array(String(Character(scalar)).utf8)
        return
      }
      text += [UInt8(ascii: "\\"), byte]
    // The line break stays and ends the string with a problem.
    case 0x0A: return
    default: text += [UInt8(ascii: "\\"), byte]
    }
    index += 1
  }

  /// Reads `uXXXX`, with the low half of a surrogate pair where one follows.
  private mutating func unicodeEscape() -> Unicode.Scalar? {
    guard let high = hexadecimal(at: 1) else { return nil }
    if let scalar = Unicode.Scalar(high) {
      index += 5
      return scalar
    }
    guard (0xD800..<0xDC00).contains(high), peek(5) == UInt8(ascii: "\\"),
      peek(6) == UInt8(ascii: "u"), let low = hexadecimal(at: 7), (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    else { return nil }
    index += 11
    return scalar
  }

  /// Returns four hexadecimal digits at a distance. Signs are excluded, because the conversion of
  /// Swift would accept one.
  private func hexadecimal(at distance: Int) -> UInt32? {
    guard index + distance + 4 <= bytes.count else { return nil }
    let digits = bytes[index + distance..<index + distance + 4]
    guard digits.allSatisfy({ UInt8(ascii: "+") != $0 && UInt8(ascii: "-") != $0 }) else {
      return nil
    }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

extension DocumentRuleLexer {
  /// Reads the literal text of one segment of a path, up to `/`, `$`, a blank or a mark that ends
  /// an expression; `nil` when there is none.
  ///
  /// Parentheses belong to the segment when they are balanced, as in `(default)`.
  ///
  /// - Parameter offset: The first byte behind the slash.
  /// - Returns: The text of the segment and the offset behind it. The lexer's own position is
  ///   moved, too.
  mutating func pathSegment(from offset: Int) -> (text: String, end: Int)? {
    index = offset
    var depth = 0
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "~"), 0x80...0xFF:
        index += 1
      case UInt8(ascii: "("):
        depth += 1
        index += 1
      case UInt8(ascii: ")") where depth > 0:
        depth -= 1
        index += 1
      default: return index > offset ? (segmentText(offset), index) : nil
      }
    }
    return index > offset ? (segmentText(offset), index) : nil
  }

  private func segmentText(_ offset: Int) -> String {
    String(decoding: bytes[offset..<index], as: UTF8.self)
  }

  /// The byte at an offset; `nil` behind the end.
  func byte(at offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }
}
