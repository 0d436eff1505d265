/// The parts of expressions, to see that random ones have all of them.
enum NaiveVocabulary {
  /// Every operator, method, variable and query member of the language, as `count(into:)` names it.
  static let all: [String] =
    ["&&", "||", "==", "===", "!=", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"].map {
      "binary " + $0
    } + ["unary !", "unary -", "?:", "[]", "length", "null", "true", "number", "text"]
    + ["auth", "now", "root", "data", "newData", "$x", "$y"].map { "variable " + $0 }
    + [
      "val", "exists", "isNumber", "isString", "isBoolean", "hasChildren", "hasChildren list",
      "hasChild", "child", "parent", "getPriority", "contains", "beginsWith", "endsWith", "replace",
      "toLowerCase", "toUpperCase", "matches", "matches i",
    ].map { "call " + $0 }
    + NaiveQuery.kinds.keys.sorted().map { "query " + $0 }
}

extension NaiveExpression {
  func count(into counts: inout [String: Int]) {
    func note(_ name: String) { counts[name, default: 0] += 1 }
    switch self {
    case .value(.null): note("null")
    case .value(.bool): note("true")
    case .value(.number): note("number")
    case .value(.text): note("text")
    case .value: break
    case .variable(let name): note("variable " + name)
    case .unary(let name, let operand):
      note("unary " + name)
      operand.count(into: &counts)
    case .binary(let name, let left, let right):
      note("binary " + name)
      left.count(into: &counts)
      right.count(into: &counts)
    case .choice(let condition, let then, let otherwise):
      note("?:")
      for part in [condition, then, otherwise] { part.count(into: &counts) }
    case .member(.variable("query"), let name): note("query " + name)
    case .member(let value, let name):
      if name == "length" { note("length") }
      value.count(into: &counts)
    case .element(let value, let index):
      note("[]")
      value.count(into: &counts)
      index.count(into: &counts)
    case .call(let receiver, let method, let arguments):
      var name = "call " + method
      if case .list? = arguments.first { name += " list" }
      if case .pattern(_, "i")? = arguments.first { name += " i" }
      note(name)
      receiver.count(into: &counts)
      for argument in arguments { argument.count(into: &counts) }
    case .list(let items): for item in items { item.count(into: &counts) }
    case .pattern: break
    }
  }
}
