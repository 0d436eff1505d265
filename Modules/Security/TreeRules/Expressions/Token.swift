/// One word of an expression.
///
/// Ranges and patterns count bytes of the rule's decoded text.
struct Token: Equatable {
  enum Kind: Equatable {
    case integer(Int64)
    case double(Double)
    case text(String)
    /// A name: a variable, a member, or one of the words `null`, `true`, `false`.
    case name(String)
    /// A variable that a `$name` of the path set, with its `$`.
    case capture(String)
    /// The body and the flags of `/body/flags`.
    case pattern(body: Range<Int>, flags: String)
    case symbol(Symbol)
    case end
  }

  /// The operators and punctuation. `===` and `!==` mean the same as `==` and `!=`: rules never
  /// convert between types.
  enum Symbol: String, CaseIterable {
    case openParenthesis = "("
    case closeParenthesis = ")"
    case openBracket = "["
    case closeBracket = "]"
    case comma = ","
    case dot = "."
    case question = "?"
    case colon = ":"
    case not = "!"
    case minus = "-"
    case plus = "+"
    case times = "*"
    case divide = "/"
    case remainder = "%"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case equal = "=="
    case identical = "==="
    case notEqual = "!="
    case notIdentical = "!=="
    case and = "&&"
    case or = "||"
  }

  let kind: Kind
  /// The bytes of the expression it takes up.
  let range: Range<Int>

  /// The name in messages.
  var name: String {
    switch kind {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text: "a string"
    case .name(let name), .capture(let name): "'\(name)'"
    case .pattern: "a pattern"
    case .symbol(let symbol): "'\(symbol.rawValue)'"
    case .end: "the end of the expression"
    }
  }
}
