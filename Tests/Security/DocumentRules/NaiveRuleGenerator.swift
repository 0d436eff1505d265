import TernCore
import TernTestKit

/// Draws conditions that mostly make sense, and documents that they meet often.
struct NaiveRuleGenerator {
  /// The kinds of values that are drawn on purpose.
  enum Kind: CaseIterable {
    case bool, number, text, list, map, set, any
  }

  var random: SeededGenerator
  /// True inside the function, whose parameter and binding are visible.
  private var isInFunction = false

  private static let fields = ["n", "x", "s", "b", "l", "m", "z"]
  private static let texts = ["", "a", "b", "ab", "n", "d0", "d1"]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  /// A value that a document may hold.
  mutating func value(depth: Int) -> NaiveRuleValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(chance(50))
    case 2, 3: return .int(Int.random(in: -2...3, using: &random))
    case 4: return .float(pick([0.5, 1, -2, 2.5]))
    case 5: return .text(pick(Self.texts))
    case 6: return .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: 0) })
    default: return .map(map(depth: depth - 1))
    }
  }

  mutating func map(depth: Int) -> [String: NaiveRuleValue] {
    var map: [String: NaiveRuleValue] = [:]
    for name in Self.fields where chance(85) {
      map[name] = chance(85) ? usual(name, depth: depth) : value(depth: depth)
    }
    return map
  }

  /// A value of the kind that a field mostly has.
  private mutating func usual(_ name: String, depth: Int) -> NaiveRuleValue {
    switch name {
    case "n": .int(Int.random(in: -2...3, using: &random))
    case "x": .float(pick([0.5, 1, -2, 2.5]))
    case "s": .text(pick(Self.texts))
    case "b": .bool(chance(50))
    case "l": .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: 0) })
    case "m": depth > 0 ? .map(map(depth: depth - 1)) : .map(["s": .text("a")])
    default: .null
    }
  }

  /// A function, which does not call itself.
  mutating func function() -> NaiveRuleFunction {
    isInFunction = true
    defer { isInFunction = false }
    let binding = expression(pick(Kind.allCases), depth: 2)
    return NaiveRuleFunction(binding: binding, body: expression(pick([.bool, .any]), depth: 3))
  }

  mutating func expression(_ kind: Kind, depth: Int) -> NaiveDocumentRule {
    let kind = chance(1) || kind == .any ? pick(Kind.allCases.dropLast()) : kind
    if depth > 0, chance(6) {
      return .choice(
        expression(.bool, depth: depth - 1), expression(kind, depth: depth - 1),
        expression(kind, depth: depth - 1))
    }
    if depth > 0, chance(15) { return stored(kind, depth: depth) }
    if depth > 0, !isInFunction, chance(5) {
      return .call("f", [expression(.any, depth: depth - 1)])
    }
    switch kind {
    case .bool: return bool(depth: depth)
    case .number: return number(depth: depth)
    case .text: return text(depth: depth)
    case .list, .any: return list(depth: depth)
    case .map: return map(depth: depth)
    case .set: return .method(list(depth: max(0, depth - 1)), "toSet", [])
    }
  }

  /// A field of a document that is usually of the kind.
  private mutating func stored(_ kind: Kind, depth: Int) -> NaiveDocumentRule {
    let names: [Kind: [String]] = [
      .bool: ["b"], .number: ["n", "x"], .text: ["s"], .list: ["l"], .map: ["m"], .set: ["l"],
    ]
    let name = chance(70) ? pick(names[kind] ?? ["z"]) : pick(Self.fields)
    if isInFunction, chance(40) { return .name(pick(["a", "b"])) }
    return .member(map(depth: depth - 1), name)
  }

  private mutating func bool(depth: Int) -> NaiveDocumentRule {
    if depth == 0 { return .literal(.bool(chance(50))) }
    switch Int.random(in: 0..<9, using: &random) {
    case 0...2:
      return .infix(
        pick(["&&", "||"]), expression(.bool, depth: depth - 1),
        expression(.bool, depth: depth - 1))
    case 3: return .prefix("!", expression(.bool, depth: depth - 1))
    case 4:
      let kind = pick([Kind.number, .text])
      return .infix(
        pick(["<", "<=", ">", ">="]), expression(kind, depth: depth - 1),
        expression(kind, depth: depth - 1))
    case 5:
      let kind = pick(Kind.allCases)
      return .infix(
        pick(["==", "!="]), expression(kind, depth: depth - 1),
        expression(chance(80) ? kind : .any, depth: depth - 1))
    case 6:
      return .infix(
        "in", expression(pick([.text, .number, .any]), depth: depth - 1),
        expression(pick([.list, .set, .map]), depth: depth - 1))
    case 7:
      let type = pick(["bool", "int", "float", "number", "string", "list", "map", "set"])
      return .test(expression(.any, depth: depth - 1), type)
    default:
      if chance(40) { return .read("exists", text(depth: 0)) }
      return .method(
        expression(pick([.list, .set]), depth: depth - 1), pick(["hasAll", "hasAny", "hasOnly"]),
        [expression(pick([.list, .set]), depth: depth - 1)])
    }
  }

  private mutating func number(depth: Int) -> NaiveDocumentRule {
    if depth == 0 {
      return .literal(chance(60) ? .int(Int.random(in: 0...3, using: &random)) : .float(1.5))
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .prefix("-", expression(.number, depth: depth - 1))
    case 1:
      return .method(expression(pick([.text, .list, .map, .set]), depth: depth - 1), "size", [])
    default:
      return .infix(
        pick(["+", "-", "*", "/", "%"]), expression(.number, depth: depth - 1),
        expression(.number, depth: depth - 1))
    }
  }

  private mutating func text(depth: Int) -> NaiveDocumentRule {
    if depth == 0 { return .literal(.text(pick(Self.texts))) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return .infix("+", expression(.text, depth: depth - 1), expression(.text, depth: depth - 1))
    case 1: return .method(expression(.text, depth: depth - 1), "upper", [])
    case 2:
      return .index(expression(pick([.text, .list]), depth: depth - 1), number(depth: 0))
    default: return .member(.read("get", .literal(.text(pick(["d0", "d1", "a"])))), "id")
    }
  }

  private mutating func list(depth: Int) -> NaiveDocumentRule {
    if depth > 0, chance(30) {
      return .method(map(depth: depth - 1), pick(["keys", "values"]), [])
    }
    if depth > 0, chance(20) {
      return .method(
        expression(.list, depth: depth - 1), pick(["concat", "removeAll"]),
        [expression(.list, depth: depth - 1)])
    }
    let count = Int.random(in: 0...3, using: &random)
    return .list((0..<count).map { _ in expression(.any, depth: max(0, min(depth, 2) - 1)) })
  }

  private mutating func map(depth: Int) -> NaiveDocumentRule {
    if chance(70) { return .member(.name("resource"), "data") }
    if chance(30) { return .member(.read("get", .literal(.text(pick(["d0", "d1"])))), "data") }
    if depth > 0, chance(30) {
      return .method(
        map(depth: depth - 1), "get", [text(depth: 0), expression(.map, depth: depth - 1)])
    }
    let count = Int.random(in: 0...2, using: &random)
    return .map(
      (0..<count).map { _ in
        (pick(Self.fields), expression(.any, depth: max(0, min(depth, 2) - 1)))
      })
  }
}
