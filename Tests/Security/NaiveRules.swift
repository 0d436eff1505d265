import TernCore
import TernSecurity
import TernTestKit

/// A rules file judged the obvious way, on whole trees.
struct NaiveRules {
  final class Node {
    var rules: [String: NaiveExpression] = [:]
    var children: [(name: String, node: Node)] = []
  }

  let top: Node

  /// Every operator, method and name that its rules use, with how often.
  var vocabulary: [String: Int] {
    var counts: [String: Int] = [:]
    func count(_ node: Node) {
      for rule in node.rules.values { rule.count(into: &counts) }
      for child in node.children { count(child.node) }
    }
    count(top)
    return counts
  }

  /// The node of the rules for a path, with what the captures stand for; `nil` where none is.
  private func find(_ path: [String]) -> (node: Node, captures: [String: String])? {
    var (node, captures) = (top, [String: String]())
    for name in path {
      if let child = node.children.first(where: { $0.name == name }) {
        node = child.node
      } else if let child = node.children.first(where: { $0.name.hasPrefix("$") }) {
        captures[child.name] = name
        node = child.node
      } else {
        return nil
      }
    }
    return (node, captures)
  }

  private func holds(
    _ kind: String, at path: [String], _ auth: JSONValue, _ before: TreeNode, _ after: TreeNode,
    _ query: NaiveQuery = .none
  ) -> Bool? {
    guard let (node, captures) = find(path), let rule = node.rules[kind] else { return nil }
    let scope = NaiveScope(
      auth: auth, now: 1_000, before: before, after: after, place: path, captures: captures,
      query: query)
    return (try? rule.bool(scope)) ?? false
  }

  func read(
    _ path: [String], _ query: NaiveQuery = .none, auth: JSONValue, tree: TreeNode
  ) -> Bool {
    (0...path.count).contains { length in
      let seen = length == path.count ? query : .none
      return holds(".read", at: Array(path.prefix(length)), auth, tree, tree, seen) == true
    }
  }

  func write(
    _ paths: [[String]], auth: JSONValue, from before: TreeNode, to after: TreeNode
  ) -> Bool {
    paths.allSatisfy { path in
      let isGranted = (0...path.count).contains { length in
        holds(".write", at: Array(path.prefix(length)), auth, before, after) == true
      }
      let isValidAbove = (0..<path.count).allSatisfy { length in
        isValid(Array(path.prefix(length)), auth, before, after)
      }
      return isGranted && isValidAbove
        && everyPath(below: path, after).allSatisfy { isValid($0, auth, before, after) }
    }
  }

  private func isValid(
    _ path: [String], _ auth: JSONValue, _ before: TreeNode, _ after: TreeNode
  ) -> Bool {
    after.naiveNode(path).isEmpty || holds(".validate", at: path, auth, before, after) != false
  }

  private func everyPath(below path: [String], _ root: TreeNode) -> [[String]] {
    [path]
      + root.naiveNode(path).children.flatMap { everyPath(below: path + [$0.key.text], root) }
  }

  /// True when every expression passes the naive types.
  var isAcceptable: Bool { Self.isAcceptable(top, captures: []) }

  private static func isAcceptable(_ node: Node, captures: Set<String>) -> Bool {
    for (kind, rule) in node.rules {
      // `!x` needs a boolean exactly as a rule does.
      let negated = NaiveExpression.unary("!", rule)
      let isRead = kind == ".read"
      guard (try? negated.kinds(isRead: isRead, captures: captures)) != nil else { return false }
    }
    return node.children.allSatisfy { name, child in
      isAcceptable(child, captures: name.hasPrefix("$") ? captures.union([name]) : captures)
    }
  }

  func text(_ random: inout SeededGenerator) -> String {
    #"{"rules": "# + Self.text(top, &random) + "}"
  }

  private static func text(_ node: Node, _ random: inout SeededGenerator) -> String {
    var members: [String] = []
    for (kind, rule) in node.rules.sorted(by: { $0.key < $1.key }) {
      members.append("\"\(kind)\": " + JSONValue.string(rule.text(&random)).json)
    }
    for (name, child) in node.children {
      members.append("\"\(name)\": /* \(name) */ " + text(child, &random))
    }
    return "{" + members.joined(separator: ",\n") + "}"
  }

  static func random(_ generator: inout NaiveGenerator) -> NaiveRules {
    NaiveRules(top: node(&generator, depth: 2, captures: ["$x", "$y"], seen: []))
  }

  private static func node(
    _ generator: inout NaiveGenerator, depth: Int, captures: [String], seen: [String]
  ) -> Node {
    let node = Node()
    for (kind, percent) in [(".read", 40), (".write", 50), (".validate", 40)]
    where generator.chance(percent) {
      let depth = Int.random(in: 0...3, using: &generator.random)
      // Once in a while a name that does not exist here.
      let isForgetful = generator.chance(1)
      generator.captures = isForgetful ? ["$z"] : seen
      let isBlind = kind == ".read" && !isForgetful
      generator.mayQuery = kind == ".read" || isForgetful
      generator.snapshots = isBlind ? ["data", "root"] : ["data", "newData", "newData", "root"]
      node.rules[kind] = generator.expression(.bool, depth: depth)
    }
    guard depth > 0 else { return node }
    for name in ["a", "b"] where generator.chance(40) {
      let child = Self.node(&generator, depth: depth - 1, captures: captures, seen: seen)
      node.children.append((name, child))
    }
    if let name = captures.first, generator.chance(60) {
      let rest = Array(captures.dropFirst())
      let child = Self.node(&generator, depth: depth - 1, captures: rest, seen: seen + [name])
      node.children.append((name, child))
    }
    return node
  }
}
