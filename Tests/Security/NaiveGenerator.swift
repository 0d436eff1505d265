import TernCore
import TernSecurity
import TernTestKit

/// Draws expressions that mostly make sense, from few names, so that they meet the data often.
struct NaiveGenerator {
  var random: SeededGenerator
  /// The variables the rule at hand may name.
  var snapshots = ["data"]
  var captures: [String] = []
  /// True when it may use the query.
  var mayQuery = false

  private static let names = ["a", "b", "c", "1", "x.y", "a/b", "/b/", ""]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  /// An expression of one kind; now and then deliberately of another.
  mutating func expression(_ kind: NaiveKind, depth: Int) -> NaiveExpression {
    let kind =
      Int.random(in: 0..<400, using: &random) == 0
      ? pick([.null, .bool, .number, .text, .snapshot, .claims]) : kind
    if depth > 0, chance(5) {
      return .choice(
        expression(.bool, depth: depth - 1), expression(kind, depth: depth - 1),
        expression(kind, depth: depth - 1))
    }
    if mayQuery, chance(8) {
      let names = NaiveQuery.kinds.filter { $0.value.contains(kind) }.keys.sorted()
      if !names.isEmpty { return .member(.variable("query"), pick(names)) }
    }
    switch kind {
    case .bool: return bool(depth: depth)
    case .number: return number(depth: depth)
    case .text: return text(depth: depth)
    case .snapshot: return snapshot(depth: depth)
    case .claims: return claims(depth: depth)
    case .null: return .value(.null)
    case .object: return .call(snapshot(depth: depth), "val", [])
    }
  }

  private mutating func bool(depth: Int) -> NaiveExpression {
    if depth == 0 {
      return chance(50) ? .value(.bool(chance(50))) : .call(snapshot(depth: 0), "exists", [])
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      return .binary("&&", expression(.bool, depth: depth - 1), expression(.bool, depth: depth - 1))
    case 2, 3:
      return .binary("||", expression(.bool, depth: depth - 1), expression(.bool, depth: depth - 1))
    case 4: return .unary("!", expression(.bool, depth: depth - 1))
    case 5:
      let kind = pick([NaiveKind.number, .text])
      return .binary(
        pick(["<", "<=", ">", ">="]), expression(kind, depth: depth - 1),
        expression(chance(30) ? .object : kind, depth: depth - 1))
    case 6, 7:
      let kinds: [NaiveKind] = [.null, .bool, .number, .text, .claims, .object]
      return .binary(
        pick(["==", "===", "!=", "!=="]), expression(pick(kinds), depth: depth - 1),
        expression(pick(kinds), depth: depth - 1))
    case 8:
      let method = pick(["exists", "isNumber", "isString", "isBoolean", "hasChildren"])
      return .call(expression(.snapshot, depth: depth - 1), method, [])
    case 9:
      if chance(50) {
        let path = expression(.text, depth: depth - 1)
        return .call(expression(.snapshot, depth: depth - 1), "hasChild", [path])
      }
      let count = Int.random(in: 1...3, using: &random)
      let list = (0..<count).map { _ in expression(.text, depth: 0) }
      return .call(expression(.snapshot, depth: depth - 1), "hasChildren", [.list(list)])
    case 10:
      let method = pick(["contains", "beginsWith", "endsWith"])
      let receiver =
        chance(30) ? expression(.object, depth: 0) : expression(.text, depth: depth - 1)
      return .call(receiver, method, [expression(.text, depth: depth - 1)])
    default:
      let pattern = NaivePattern.random(&random)
      let receiver = expression(.text, depth: depth - 1)
      return .call(receiver, "matches", [.pattern(pattern, pick(["", "i"]))])
    }
  }

  private mutating func number(depth: Int) -> NaiveExpression {
    if depth == 0 {
      return chance(20) ? .variable("now") : .value(.number(pick([0, 1, 2, 3, 0.5, 10, -1, 1.25])))
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0...2:
      return .binary(
        pick(["+", "-", "*", "/", "%"]), expression(.number, depth: depth - 1),
        expression(.number, depth: depth - 1))
    case 3: return .unary("-", expression(.number, depth: depth - 1))
    case 4: return .member(expression(.text, depth: depth - 1), "length")
    default:
      return .call(expression(.snapshot, depth: depth - 1), pick(["val", "getPriority"]), [])
    }
  }

  private mutating func text(depth: Int) -> NaiveExpression {
    if depth == 0 {
      if chance(35), !captures.isEmpty { return .variable(pick(captures)) }
      return .value(.text(pick(Self.names + ["aé'\\B"])))
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      return .binary(
        "+", expression(.text, depth: depth - 1),
        expression(chance(30) ? .number : .text, depth: depth - 1))
    case 2:
      let (old, new) = (expression(.text, depth: 0), expression(.text, depth: depth - 1))
      return .call(expression(.text, depth: depth - 1), "replace", [old, new])
    case 3:
      return .call(expression(.text, depth: depth - 1), pick(["toLowerCase", "toUpperCase"]), [])
    case 4: return .call(expression(.snapshot, depth: depth - 1), "val", [])
    default: return claims(depth: depth)
    }
  }

  private mutating func snapshot(depth: Int) -> NaiveExpression {
    if depth == 0 || chance(30) { return .variable(pick(snapshots)) }
    if chance(20) { return .call(expression(.snapshot, depth: depth - 1), "parent", []) }
    let path = expression(.text, depth: chance(70) ? 0 : depth - 1)
    return .call(expression(.snapshot, depth: depth - 1), "child", [path])
  }

  private mutating func claims(depth: Int) -> NaiveExpression {
    if depth == 0 { return .variable("auth") }
    let receiver = claims(depth: depth - 1)
    if chance(25) { return .element(receiver, expression(chance(80) ? .text : .number, depth: 0)) }
    return .member(receiver, pick(["uid", "a", "b", "list", "none", "length", "n"]))
  }
}

// Data.
extension NaiveGenerator {
  mutating func auth() -> JSONValue {
    if chance(30) { return nil }
    return [
      "uid": .string(pick(["a", "b", "c"])), "n": 3, "a": ["b": "c", "length": 2], "b": true,
      "list": ["a", 1, nil],
    ]
  }

  mutating func node(depth: Int) -> TreeNode {
    var node: TreeNode
    if depth == 0 || chance(30) {
      node = pick([
        TreeNode(1), TreeNode(2), TreeNode(0.5), TreeNode("a"), TreeNode("b"), TreeNode("aB"),
        TreeNode(true), TreeNode(false), .empty,
      ])
    } else {
      var children = ChildMap()
      for name in ["a", "b", "c", "1"] where chance(45) {
        children.set(TreeKey(unchecked: name), self.node(depth: depth - 1))
      }
      node = TreeNode(children: children)
    }
    if chance(15) {
      node = node.setting(TreeNode(pick(["a", 2])), at: TreePath(unchecked: [.priority]))
    }
    return node
  }

  mutating func path(_ longest: Int) -> TreePath {
    let count = Int.random(in: 0...longest, using: &random)
    return TreePath((0..<count).map { _ in TreeKey(unchecked: pick(["a", "b", "c", "1"])) })
  }
}
