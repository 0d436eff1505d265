/// Evaluates expressions in the plainest way: `nil` is an error.
struct NaiveRuleWalker {
  let names: [String: NaiveRuleValue]
  let documents: [String: [String: NaiveRuleValue]]
  let function: NaiveRuleFunction
  /// The binding of the function, still an expression.
  var binding: NaiveDocumentRule?

  func value(_ rule: NaiveDocumentRule) -> NaiveRuleValue? {
    switch rule {
    case .literal(let value): return value
    case .list(let items): return all(items).map { .list($0) }
    case .map(let entries):
      guard let values = all(entries.map(\.1)) else { return nil }
      var map: [String: NaiveRuleValue] = [:]
      for (entry, value) in zip(entries, values) { map[entry.0] = value }
      return .map(map)
    case .name("b") where binding != nil:
      var inner = self
      inner.binding = nil
      return binding.flatMap { inner.value($0) }
    case .name(let name): return names[name]
    case .member(let base, let name):
      guard case .map(let map) = value(base) else { return nil }
      return map[name]
    case .index(let base, let key): return element(value(base), value(key))
    case .prefix("!", let operand):
      guard case .bool(let flag) = value(operand) else { return nil }
      return .bool(!flag)
    case .prefix(_, let operand):
      switch value(operand) {
      case .int(let number): return .int(-number)
      case .float(let number): return .float(-number)
      default: return nil
      }
    case .infix("&&", let left, let right): return both(left, right, decisive: false)
    case .infix("||", let left, let right): return both(left, right, decisive: true)
    case .infix(let symbol, let left, let right):
      guard let left = value(left), let right = value(right) else { return nil }
      return NaiveRuleOperators.infix(symbol, left, right)
    case .choice(let condition, let first, let second):
      guard case .bool(let flag) = value(condition) else { return nil }
      return value(flag ? first : second)
    case .test(let operand, let type):
      return value(operand).map { .bool(NaiveRuleOperators.type($0).contains(type)) }
    case .method(let receiver, let name, let arguments):
      guard let receiver = value(receiver), let arguments = all(arguments) else { return nil }
      return NaiveRuleOperators.method(receiver, name, arguments)
    case .call(let name, let arguments):
      guard name == "f", let values = all(arguments), values.count == 1 else { return nil }
      var inner = NaiveRuleWalker(
        names: names, documents: documents, function: function, binding: function.binding)
      inner = inner.binding("a", to: values[0])
      return inner.value(function.body)
    case .read(let name, let id):
      guard case .text(let id) = value(id), !id.isEmpty, !id.contains("/") else { return nil }
      let found = documents[id]
      if name == "exists" { return .bool(found != nil) }
      return found.map { .map(["data": .map($0), "id": .text(id)]) } ?? .null
    }
  }

  private func binding(_ name: String, to value: NaiveRuleValue) -> NaiveRuleWalker {
    var names = names
    names[name] = value
    return NaiveRuleWalker(
      names: names, documents: documents, function: function, binding: binding)
  }

  private func all(_ rules: [NaiveDocumentRule]) -> [NaiveRuleValue]? {
    let values = rules.map { value($0) }
    return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
  }

  private func both(
    _ left: NaiveDocumentRule, _ right: NaiveDocumentRule, decisive: Bool
  ) -> NaiveRuleValue? {
    let flags = [value(left), value(right)].map { value -> Bool? in
      if case .bool(let flag) = value { return flag }
      return nil
    }
    if flags.contains(decisive) { return .bool(decisive) }
    return flags.contains(nil) ? nil : .bool(!decisive)
  }

  private func element(
    _ base: NaiveRuleValue?, _ key: NaiveRuleValue?
  ) -> NaiveRuleValue? {
    switch (base, key) {
    case (.list(let items), .int(let index)): items.indices.contains(index) ? items[index] : nil
    case (.text(let text), .int(let index)):
      text.indices.count > index && index >= 0
        ? .text(String(Array(text)[index])) : nil
    case (.map(let map), .text(let name)): map[name]
    default: nil
    }
  }
}

/// The operators and methods, by cases.
enum NaiveRuleOperators {
  typealias Value = NaiveRuleValue

  static func type(_ value: Value) -> [String] {
    switch value {
    case .null, .set: []
    case .bool: ["bool"]
    case .int: ["int", "number"]
    case .float: ["float", "number"]
    case .text: ["string"]
    case .list: ["list"]
    case .map: ["map"]
    }
  }

  static func infix(_ symbol: String, _ left: Value, _ right: Value) -> Value? {
    if symbol == "==" || symbol == "!=" {
      var isEqual = left.isSame(as: right)
      if let a = left.number, let b = right.number { isEqual = a == b }
      return .bool(isEqual == (symbol == "=="))
    }
    if symbol == "in" {
      switch right {
      case .list(let items), .set(let items): return .bool(left.isIn(items))
      case .map(let map):
        if case .text(let name) = left { return .bool(map[name] != nil) }
        return .bool(false)
      default: return nil
      }
    }
    if case .text(let a) = left, case .text(let b) = right {
      if symbol == "+" { return .text(a + b) }
      return order(symbol, a < b ? -1 : a == b ? 0 : 1)
    }
    if case .int(let a) = left, case .int(let b) = right { return whole(symbol, a, b) }
    guard let a = left.number, let b = right.number else { return nil }
    switch symbol {
    case "+": return .float(a + b)
    case "-": return .float(a - b)
    case "*": return .float(a * b)
    case "/": return .float(a / b)
    case "%": return .float(a.truncatingRemainder(dividingBy: b))
    default: return a.isNaN || b.isNaN ? .bool(false) : order(symbol, a < b ? -1 : a == b ? 0 : 1)
    }
  }

  private static func whole(_ symbol: String, _ a: Int, _ b: Int) -> Value? {
    switch symbol {
    case "+": return .int(a + b)
    case "-": return .int(a - b)
    case "*": return .int(a * b)
    case "/": return b == 0 ? nil : .int(a / b)
    case "%": return b == 0 ? nil : .int(a % b)
    default: return order(symbol, a < b ? -1 : a == b ? 0 : 1)
    }
  }

  private static func order(_ symbol: String, _ order: Int) -> Value? {
    switch symbol {
    case "<": .bool(order < 0)
    case "<=": .bool(order <= 0)
    case ">": .bool(order > 0)
    case ">=": .bool(order >= 0)
    default: nil
    }
  }

  static func method(_ receiver: Value, _ name: String, _ arguments: [Value]) -> Value? {
    switch (receiver, name, arguments.count) {
    case (.text(let text), "size", 0): return .int(text.count)
    case (.text(let text), "upper", 0): return .text(text.uppercased())
    case (.list(let items), "size", 0), (.set(let items), "size", 0): return .int(items.count)
    case (.map(let map), "size", 0): return .int(map.count)
    case (.map(let map), "keys", 0): return .list(map.keys.sorted().map { .text($0) })
    case (.map(let map), "values", 0):
      return .list(map.sorted { $0.key < $1.key }.map(\.value))
    case (.map(let map), "get", 2):
      guard case .text(let key) = arguments[0] else { return nil }
      return map[key] ?? arguments[1]
    case (.list(let items), "toSet", 0): return .set(unique(items))
    case (.list(let items), "concat", 1):
      guard case .list(let others) = arguments[0] else { return nil }
      return .list(items + others)
    case (.list(let items), "removeAll", 1):
      guard case .list(let others) = arguments[0] else { return nil }
      return .list(items.filter { !$0.isIn(others) })
    case (.set(let items), "union", 1):
      guard case .set(let others) = arguments[0] else { return nil }
      return .set(unique(items + others))
    case (.list(let items), _, 1), (.set(let items), _, 1):
      switch arguments[0] {
      case .list(let others), .set(let others): return comparison(items, name, others)
      default: return nil
      }
    default: return nil
    }
  }

  private static func unique(_ items: [Value]) -> [Value] {
    items.reduce(into: []) { list, item in if !item.isIn(list) { list.append(item) } }
  }

  private static func comparison(_ items: [Value], _ name: String, _ others: [Value]) -> Value? {
    switch name {
    case "hasAll": .bool(others.allSatisfy { $0.isIn(items) })
    case "hasAny": .bool(others.contains { $0.isIn(items) })
    case "hasOnly": .bool(items.allSatisfy { $0.isIn(others) })
    default: nil
    }
  }
}
