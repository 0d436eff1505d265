/// One token of rules for documents.
///
/// Words such as `match` and `in` are names here; the parser decides what they mean in their place.
struct DocumentRuleToken {
  /// The kind of a token, with its value.
  enum Kind: Equatable {
    case name(String)
    case integer(Int64)
    /// 2⁶³, which is a number only behind a minus.
    case smallestMagnitude
    case float(Double)
    case string(String)
    case symbol(Symbol)
    case end
  }

  /// The operators and marks, as they are written.
  enum Symbol: String, CaseIterable {
    case openBrace = "{"
    case closeBrace = "}"
    case openParenthesis = "("
    case closeParenthesis = ")"
    case openBracket = "["
    case closeBracket = "]"
    case semicolon = ";"
    case comma = ","
    case colon = ":"
    case dot = "."
    case question = "?"
    case slash = "/"
    case plus = "+"
    case minus = "-"
    case star = "*"
    case percent = "%"
    case not = "!"
    case assign = "="
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"
  }

  let kind: Kind
  /// The offset of the first byte.
  let offset: Int
  /// The offset behind the last byte.
  let end: Int

  /// The token in words, for messages.
  var text: String {
    switch kind {
    case .name(let name): "'\(name)'"
    case .integer(let value): "'\(value)'"
    case .smallestMagnitude: "'9223372036854775808'"
    case .float(let value): "'\(value)'"
    case .string: "a string"
    case .symbol(let symbol): "'\(symbol.rawValue)'"
    case .end: "the end of the file"
    }
  }
}
