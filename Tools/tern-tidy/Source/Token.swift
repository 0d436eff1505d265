/// A word or a single punctuation character of Swift source, without comments and literals.
struct Token: Equatable, Sendable {
  let text: String
  /// 0-based.
  let line: Int
  /// True when white space or a line break stands before it.
  let isSpaced: Bool
  /// True for an identifier, a keyword or a number.
  let isWord: Bool
}

extension Token {
  /// The tokens of `code`, whose comments and literals are blanked.
  static func scan(_ code: [String]) -> [Token] {
    var tokens: [Token] = []
    for (line, text) in code.enumerated() {
      var start: String.UTF8View.Index?
      var isSpaced = true
      let bytes = text.utf8
      for index in bytes.indices {
        let byte = bytes[index]
        if isWordByte(byte) {
          if start == nil { start = index }
          continue
        }
        if let from = start {
          tokens.append(
            Token(text: String(text[from..<index]), line: line, isSpaced: isSpaced, isWord: true))
          (start, isSpaced) = (nil, false)
        }
        if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
          isSpaced = true
          continue
        }
        let mark = String(UnicodeScalar(byte))
        tokens.append(Token(text: mark, line: line, isSpaced: isSpaced, isWord: false))
        isSpaced = false
      }
      if let from = start {
        tokens.append(
          Token(text: String(text[from...]), line: line, isSpaced: isSpaced, isWord: true))
      }
    }
    return tokens
  }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "`"),
      UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
