import TernTestKit

/// Writes expressions down with as few parentheses as JavaScript's precedences allow, and some
/// more at random.
extension NaiveExpression {
  func text(_ random: inout SeededGenerator) -> String {
    let plain: String
    switch self {
    case .value(.null): plain = "null"
    case .value(.bool(let value)): plain = "\(value)"
    case .value(.number(let value)): plain = NaiveValue.text(of: value)
    case .value(.text(let value)):
      let quote = Bool.random(using: &random) ? "'" : "\""
      plain =
        quote + value.replacing("\\", with: "\\\\").replacing(quote, with: "\\" + quote) + quote
    case .value: plain = "?"
    case .variable(let name): plain = name
    case .unary(let name, let operand):
      plain = name + Self.blank(&random) + operand.text(&random, atLeast: 8)
    case .binary(let name, let left, let right):
      let level = precedence
      plain =
        left.text(&random, atLeast: level) + " " + name + Self.blank(&random)
        + right.text(&random, atLeast: level + 1)
    case .choice(let condition, let then, let otherwise):
      plain =
        condition.text(&random, atLeast: 2) + "?" + then.text(&random, atLeast: 1)
        + Self.blank(&random) + ":" + otherwise.text(&random, atLeast: 1)
    case .member(.variable("query"), let name): plain = "query." + name
    case .member(let value, let name):
      let isName = name.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
      plain =
        value.text(&random, atLeast: 9)
        + (isName && Bool.random(using: &random) ? ".\(name)" : "['\(name)']")
    case .element(let value, let index):
      plain = value.text(&random, atLeast: 9) + "[" + index.text(&random) + "]"
    case .call(let receiver, let method, let arguments):
      let list = arguments.map { $0.text(&random) }.joined(separator: "," + Self.blank(&random))
      plain = receiver.text(&random, atLeast: 9) + "." + method + "(" + list + ")"
    case .list(let items):
      plain = "[" + items.map { $0.text(&random) }.joined(separator: ", ") + "]"
    case .pattern(let pattern, let flags): plain = "/\(pattern.text)/\(flags)"
    }
    return plain
  }

  private func text(_ random: inout SeededGenerator, atLeast level: Int) -> String {
    let plain = text(&random)
    let isWrapped = precedence < level || Int.random(in: 0..<12, using: &random) == 0
    return isWrapped ? "(" + plain + ")" : plain
  }

  private static func blank(_ random: inout SeededGenerator) -> String {
    ["", " ", "  ", "\n", "\t"].randomElement(using: &random) ?? ""
  }

  private var precedence: Int {
    switch self {
    case .choice: 1
    case .binary(let name, _, _):
      switch name {
      case "||": 2
      case "&&": 3
      case "==", "===", "!=", "!==": 4
      case "<", "<=", ">", ">=": 5
      case "+", "-": 6
      default: 7
      }
    case .unary: 8
    // A negative literal is a unary minus once it is written down.
    case .value(.number(let value)) where value < 0: 8
    // `1.x` would read as a number.
    case .value(.number): 8
    default: 9
    }
  }
}
