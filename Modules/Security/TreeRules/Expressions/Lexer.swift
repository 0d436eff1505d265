/// Cuts an expression into tokens, on demand: only the parser knows whether `/` divides.
///
/// A `/` is always delivered as ``Token/Symbol/divide``. Where the parser expects a value, it calls
/// ``pattern(at:)``, which goes back to that slash and reads a pattern instead. The text was
/// checked to be UTF-8 when the file was read; the lexer compares bytes and never splits a scalar,
/// because all characters that end a token are ASCII.
struct Lexer {
  let bytes: [UInt8]
  /// The offset of the next byte to read, 0...`bytes.count`.
  private var index = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The next token; `end` for ever once the text is used up.
  ///
  /// - Throws: A message with its offset for a character outside the language, an unfinished string
  ///   or comment, or a number that is followed by a letter.
  mutating func next() throws(RulesSyntaxError) -> Token {
    try skipBlanks()
    let start = index
    guard let byte = peek() else { return Token(kind: .end, range: start..<start) }
    let kind: Token.Kind
    if byte.isASCIIDigit || (byte == UInt8(ascii: ".") && peek(1)?.isASCIIDigit == true) {
      kind = try number()
    } else if byte.isNameCharacter {
      kind = .name(name())
    } else if byte == UInt8(ascii: "$") {
      kind = try capture()
    } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
      kind = .text(try string(quote: byte))
    } else {
      kind = .symbol(try symbol())
    }
    return Token(kind: kind, range: start..<index)
  }

  /// Reads the pattern whose first `/` is at `start`, where the parser expects a value.
  ///
  /// The body is not interpreted here: ``PatternParser`` reads it once the compiler knows that the
  /// pattern is an argument of `matches()`. A slash inside `[...]` or after a backslash does not
  /// end the body, and a line break always does, as in JavaScript.
  ///
  /// - Parameter start: The offset of the opening slash, which may be behind the lexer's position.
  /// - Returns: A token whose body range excludes both slashes; the flags are every name character
  ///   that follows.
  mutating func pattern(at start: Int) throws(RulesSyntaxError) -> Token {
    index = start + 1
    var isInClass = false
    while let byte = peek() {
      if byte == UInt8(ascii: "/"), !isInClass { break }
      if byte == UInt8(ascii: "\n") { break }
      if byte == UInt8(ascii: "[") { isInClass = true }
      if byte == UInt8(ascii: "]") { isInClass = false }
      // An escaped byte is skipped together with its backslash. This may lead past the end of the
      // text, where `peek()` returns `nil` and the pattern counts as unfinished.
      index += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard peek() == UInt8(ascii: "/") else {
      throw RulesSyntaxError("the pattern does not end", at: start)
    }
    let body = start + 1..<index
    index += 1
    return Token(kind: .pattern(body: body, flags: name()), range: start..<index)
  }

  /// Returns the byte `distance` bytes ahead without consuming it; `nil` past the end.
  private func peek(_ distance: Int = 0) -> UInt8? {
    index + distance < bytes.count ? bytes[index + distance] : nil
  }

  /// Skips white space and comments.
  ///
  /// Called only where a token begins, so that the `/` of a pattern never begins a comment: an
  /// empty pattern is not part of the language, and `*` cannot begin one.
  private mutating func skipBlanks() throws(RulesSyntaxError) {
    while let byte = peek() {
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        index += 1
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
        skipLine()
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        try skipBlockComment()
      } else {
        return
      }
    }
  }

  /// Skips to the end of the line: LF, CR, U+2028 or U+2029, as in JavaScript.
  private mutating func skipLine() {
    while let byte = peek(), byte != 0x0A, byte != 0x0D {
      if byte == 0xE2, peek(1) == 0x80, let last = peek(2), last | 1 == 0xA9 {
        index += 3
        return
      }
      index += 1
    }
  }

  /// Skips a `/* */` comment. Comments do not nest: the first `*/` ends one.
  private mutating func skipBlockComment() throws(RulesSyntaxError) {
    let start = index
    index += 2
    while let byte = peek() {
      if byte == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
        index += 2
        return
      }
      index += 1
    }
    throw RulesSyntaxError("the comment does not end", at: start)
  }

  /// Consumes all name characters from the current position; returns an empty string if there is
  /// none.
  private mutating func name() -> String {
    let start = index
    while let byte = peek(), byte.isNameCharacter { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  /// Reads `$` and the name that follows it. The text keeps its `$`, as members of a rules file do.
  private mutating func capture() throws(RulesSyntaxError) -> Token.Kind {
    let start = index
    index += 1
    let name = name()
    guard !name.isEmpty else { throw RulesSyntaxError("expected a name after '$'", at: start) }
    return .capture("$" + name)
  }

  /// Reads a decimal number: digits, an optional fraction, an optional exponent.
  ///
  /// A number without fraction and exponent that fits 64 bits is exact; every other one is the
  /// nearest double. A dot belongs to the number only if a digit follows, so that `1.length` is a
  /// member access on a number, which the compiler rejects with its own message.
  ///
  /// - Throws: A message at the first digit for a number that overflows a double, has an exponent
  ///   without digits, or runs into a name.
  private mutating func number() throws(RulesSyntaxError) -> Token.Kind {
    let start = index
    skipDigits()
    var isWhole = true
    if peek() == UInt8(ascii: "."), peek(1)?.isASCIIDigit == true {
      isWhole = false
      index += 1
      skipDigits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      index += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
      skipDigits()
    }
    if let byte = peek(), byte.isNameCharacter || byte == UInt8(ascii: "$") {
      throw RulesSyntaxError("a number ends in a letter", at: start)
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole, let value = Int64(text) { return .integer(value) }
    let digits = text.hasPrefix(".") ? "0" + text : text
    guard let value = Double(digits), value.isFinite else {
      throw RulesSyntaxError("'\(text)' is not a number", at: start)
    }
    return .double(value)
  }

  private mutating func skipDigits() {
    while peek()?.isASCIIDigit == true { index += 1 }
  }

  private mutating func symbol() throws(RulesSyntaxError) -> Token.Symbol {
    // The longest symbol wins: `===` before `==`, and `<=` before `<`.
    for length in [3, 2, 1] where index + length <= bytes.count {
      let text = String(decoding: bytes[index..<index + length], as: UTF8.self)
      if let symbol = Token.Symbol(rawValue: text) {
        index += length
        return symbol
      }
    }
    switch bytes[index] {
    case UInt8(ascii: "="):
      throw RulesSyntaxError("rules cannot assign; compare with '=='", at: index)
    case UInt8(ascii: "&"), UInt8(ascii: "|"):
      throw RulesSyntaxError("bitwise operators are not part of the language", at: index)
    default:
      let rest = String(decoding: bytes[index...].prefix(4), as: UTF8.self)
      let character = rest.unicodeScalars.first.map(String.init) ?? ""
      throw RulesSyntaxError("unexpected character '\(character)'", at: index)
    }
  }
}

extension Lexer {
  /// Reads a string after its opening quote, up to the same quote.
  ///
  /// A raw line break ends the attempt, so that a forgotten quote is reported where the string
  /// begins and not at the end of the file.
  private mutating func string(quote: UInt8) throws(RulesSyntaxError) -> String {
    let start = index
    var text: [UInt8] = []
    index += 1
    while let byte = peek(), byte != UInt8(ascii: "\n") {
      index += 1
      if byte == quote { return String(decoding: text, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        try escape(into: &text, from: index - 1)
      } else {
        text.append(byte)
      }
    }
    throw RulesSyntaxError("the string does not end", at: start)
  }

  /// Appends the character that the escape at `start` stands for.
  ///
  /// The escapes are those of JavaScript without octal ones. A backslash before any other character
  /// stands for that character. At the end of the text nothing is appended, and the caller reports
  /// the unfinished string.
  private mutating func escape(into text: inout [UInt8], from start: Int) throws(RulesSyntaxError) {
    guard let byte = peek() else { return }
    index += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "v"): text.append(0x0B)
    case UInt8(ascii: "0"): text.append(0x00)
    case UInt8(ascii: "x"): try scalar(digits: 2, into: &text, from: start)
    case UInt8(ascii: "u"): try scalar(digits: 4, into: &text, from: start)
    default: text.append(byte)
    }
  }

  /// Appends the scalar that `\x` or `\u` names with exactly `digits` hexadecimal digits.
  ///
  /// - Throws: A message at the backslash for fewer digits, and for a code that is no scalar:
  ///   surrogates are rejected, in pairs as well.
  private mutating func scalar(
    digits: Int, into text: inout [UInt8], from start: Int
  ) throws(RulesSyntaxError) {
    let end = index + digits
    guard end <= bytes.count, let code = UInt32(hexDigits: bytes[index..<end]),
      let scalar = Unicode.Scalar(code), let encoded = UTF8.encode(scalar)
    else {
      throw RulesSyntaxError(
        "the escape needs \(digits) hexadecimal digits of a character", at: start)
    }
    text.append(contentsOf: encoded)
    index = end
  }
}
