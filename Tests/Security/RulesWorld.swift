import TernCore
import TernSecurity
import Testing

/// Rules, a tree and a clock, for tests that ask one question after another.
struct RulesWorld {
  let rules: TreeRules
  var tree: TreeNode
  var now: Int64 = 1_000

  init(_ rules: String, tree: TreeNode = .empty) throws {
    self.rules = try TreeRules(#"{"rules": \#(rules)}"#)
    self.tree = tree
  }

  func reads(
    _ path: TreePath, as auth: JSONValue = nil, query: RulesQuery = .none
  ) throws -> Bool {
    let caller = RulesCaller(auth: auth, now: now)
    return try rules.read(path, query: query, by: caller, in: TreeNodeSnapshot(tree)).isAllowed
  }

  func writes(_ path: TreePath, _ node: TreeNode, as auth: JSONValue = nil) throws -> Bool {
    try verdict([(path, node)], as: auth).isAllowed
  }

  func writes(_ writes: [(TreePath, TreeNode)], as auth: JSONValue = nil) throws -> Bool {
    try verdict(writes, as: auth).isAllowed
  }

  func verdict(
    _ writes: [(TreePath, TreeNode)], as auth: JSONValue = nil
  ) throws -> RulesVerdict {
    try rules.write(
      writes.map(\.0), by: RulesCaller(auth: auth, now: now), from: TreeNodeSnapshot(tree),
      to: TreeNodeSnapshot(proposed(writes)))
  }

  func explain(
    _ writes: [(TreePath, TreeNode)], as auth: JSONValue = nil
  ) throws -> RulesExplanation {
    try rules.explainWrite(
      writes.map(\.0), by: RulesCaller(auth: auth, now: now), from: TreeNodeSnapshot(tree),
      to: TreeNodeSnapshot(proposed(writes)))
  }

  private func proposed(_ writes: [(TreePath, TreeNode)]) -> TreeNode {
    writes.reduce(tree) { $0.setting($1.1, at: $1.0) }
  }
}

/// The problems of a rules file, `line:column message` each; empty when it is accepted.
func problems(_ file: String, limits: RulesLimits = .standard) -> [String] {
  do throws(RulesFileError) {
    _ = try TreeRules(file, limits: limits)
    return []
  } catch {
    return error.problems.map { "\($0.position) \($0.message)" }
  }
}

/// Returns the result of an expression as a `.read` rule at `/a/b`, or `invalid` or `error`.
func verdict(
  _ expression: String, auth: JSONValue = nil, tree: TreeNode = .empty, at path: TreePath = "a/b"
) throws -> String {
  let text = JSONValue.string(expression).json
  guard let rules = try? TreeRules(#"{"rules": {"$x": {"$y": {".read": \#(text)}}}}"#) else {
    return "invalid"
  }
  let caller = RulesCaller(auth: auth, now: 1_000)
  let explanation = try rules.explainRead(path, by: caller, in: TreeNodeSnapshot(tree))
  let plain = try rules.read(path, by: caller, in: TreeNodeSnapshot(tree))
  #expect(plain == explanation.verdict)
  switch explanation.findings.last?.outcome {
  case .held: return "true"
  case .failed: return "false"
  case .mistaken: return "error"
  case .exhausted(let budget): return budget.rawValue
  case nil: return "nothing"
  }
}
