/// An expression of rules for documents as the naive evaluator knows it.
indirect enum NaiveDocumentRule {
  case literal(NaiveRuleValue)
  case list([NaiveDocumentRule])
  case map([(String, NaiveDocumentRule)])
  case name(String)
  case member(NaiveDocumentRule, String)
  case index(NaiveDocumentRule, NaiveDocumentRule)
  case prefix(String, NaiveDocumentRule)
  case infix(String, NaiveDocumentRule, NaiveDocumentRule)
  case choice(NaiveDocumentRule, NaiveDocumentRule, NaiveDocumentRule)
  case test(NaiveDocumentRule, String)
  case method(NaiveDocumentRule, String, [NaiveDocumentRule])
  case call(String, [NaiveDocumentRule])
  /// `get` or `exists` of a document in the collection `known`.
  case read(String, NaiveDocumentRule)

  /// The precedence: 0 for `?:`, the lowest.
  private var level: Int {
    switch self {
    case .choice: 0
    case .infix(let symbol, _, _): NaiveDocumentRule.levels[symbol] ?? 0
    case .test: 3
    case .prefix: 7
    case .literal, .list, .map, .name, .member, .index, .method, .call, .read: 8
    }
  }

  private static let levels = [
    "||": 1, "&&": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "+": 5, "-": 5,
    "*": 6, "/": 6, "%": 6,
  ]

  /// The text, in parentheses where it binds less than its place demands.
  func text(above least: Int = 0) -> String {
    level < least ? "(\(bare))" : bare
  }

  private var bare: String {
    switch self {
    case .literal(let value): value.text
    case .list(let items): "[" + NaiveDocumentRule.joined(items) + "]"
    case .map(let entries):
      "{" + entries.map { "'\($0)': \($1.text())" }.joined(separator: ", ") + "}"
    case .name(let name): name
    case .member(let base, let name): "\(base.text(above: 8)).\(name)"
    case .index(let base, let key): "\(base.text(above: 8))[\(key.text())]"
    case .prefix(let symbol, let operand): symbol + operand.text(above: 7)
    case .infix(let symbol, let left, let right):
      "\(left.text(above: level)) \(symbol) \(right.text(above: level + 1))"
    case .choice(let condition, let first, let second):
      "\(condition.text(above: 1)) ? \(first.text()) : \(second.text())"
    case .test(let operand, let type): "\(operand.text(above: 3)) is \(type)"
    case .method(let receiver, let name, let arguments):
      "\(receiver.text(above: 8)).\(name)(\(NaiveDocumentRule.joined(arguments)))"
    case .call(let name, let arguments): "\(name)(\(NaiveDocumentRule.joined(arguments)))"
    case .read(let name, let id):
      "\(name)(/databases/$(database)/documents/known/$(\(id.text())))"
    }
  }

  private static func joined(_ items: [NaiveDocumentRule]) -> String {
    items.map { $0.text() }.joined(separator: ", ")
  }
}

/// A value of rules as the naive evaluator knows it; texts are ASCII.
indirect enum NaiveRuleValue {
  case null
  case bool(Bool)
  case int(Int)
  case float(Double)
  case text(String)
  case list([NaiveRuleValue])
  case map([String: NaiveRuleValue])
  case set([NaiveRuleValue])

  /// The literal, for values that have one.
  var text: String {
    switch self {
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .float(let value): "\(value)"
    case .text(let value): "'\(value)'"
    case .null, .list, .map, .set: "null"
    }
  }

  /// Returns true when both are of one type and alike.
  func isSame(as other: NaiveRuleValue) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.int(let a), .int(let b)): return a == b
    case (.float(let a), .float(let b)): return a == b || (a.isNaN && b.isNaN)
    case (.text(let a), .text(let b)): return a == b
    case (.list(let a), .list(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
    case (.map(let a), .map(let b)):
      return a.count == b.count
        && a.allSatisfy { key, value in b[key].map { value.isSame(as: $0) } ?? false }
    case (.set(let a), .set(let b)):
      return a.allSatisfy { $0.isIn(b) } && b.allSatisfy { $0.isIn(a) }
    default: return false
    }
  }

  func isIn(_ list: [NaiveRuleValue]) -> Bool { list.contains { $0.isSame(as: self) } }

  var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .float(let value): value
    default: nil
    }
  }
}

/// A function of one parameter `a` and one binding `b`.
struct NaiveRuleFunction {
  let binding: NaiveDocumentRule
  let body: NaiveDocumentRule

  var text: String {
    "function f(a) { let b = \(binding.text()); return \(body.text()); }"
  }
}
