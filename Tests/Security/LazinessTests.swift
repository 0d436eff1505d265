import TernCore
import TernSecurity
import Testing

/// The data that rules read of the tree, and nothing else.
@Suite("Reads of the tree")
struct LazinessTests {
  /// Writes down every question.
  private final class Recorder: RulesSnapshot {
    private let tree: TreeNodeSnapshot
    private(set) var questions: [String] = []

    init(_ tree: TreeNode) { self.tree = TreeNodeSnapshot(tree) }

    func shape(at path: TreePath) -> RulesShape {
      questions.append("shape \(path.text)")
      return tree.shape(at: path)
    }

    func priority(at path: TreePath) -> TreeScalar? {
      questions.append("priority \(path.text)")
      return tree.priority(at: path)
    }

    func children(at path: TreePath, after key: TreeKey?, limit: Int) -> [RulesChild] {
      questions.append("children \(path.text)")
      return tree.children(at: path, after: key, limit: limit)
    }
  }

  /// The questions a write to `path` puts to the tree before and after.
  private func questions(
    _ rules: String, _ path: TreePath, _ after: TreeNode
  ) throws -> (before: [String], after: [String]) {
    let rules = try TreeRules(#"{"rules": \#(rules)}"#)
    let (old, new) = (Recorder(["a": ["b": 1]]), Recorder(after))
    _ = try rules.write([path], by: RulesCaller(auth: nil, now: 0), from: old, to: new)
    return (old.questions, new.questions)
  }

  private let after: TreeNode = ["a": ["b": 2, "c": ["d": 1]], "z": 1]

  @Test("a rule without data reads nothing")
  func nothing() throws {
    let (before, after) = try questions(#"{".write": "auth == null"}"#, "a", after)
    #expect(before == [] && after == [])
  }

  @Test("shallow questions read one node each, and the rule's own node once")
  func shallow() throws {
    let rules = """
      {"a": {".write": "data.exists() && data.hasChildren() && newData.val() != null
        && newData.exists() && newData.hasChild('c') && root.hasChildren(['a']) && !data.isString()"}}
      """
    let (before, after) = try questions(rules, "a", after)
    #expect(before == ["shape a", "shape a"], "once as the rule's node, once below the root")
    #expect(after == ["shape a", "shape a/c"])
  }

  @Test("impossible paths are not looked up")
  func impossible() throws {
    let rules = #"{".write": "!root.child('x.y').exists() && !root.hasChild('.priority')"}"#
    let (before, after) = try questions(rules, "a", after)
    #expect(before == [] && after == [])
  }

  @Test("children are listed only where a capture has something to validate")
  func listing() throws {
    let literal = #"{".write": true, "a": {"c": {".validate": true}, "$k": {".write": false}}}"#
    #expect(try questions(literal, "a", after).after == ["shape a/c"])
    let captured = #"{".write": true, "a": {"c": {}, "$k": {".validate": true}}}"#
    #expect(try questions(captured, "a", after).after == ["children a"])
    let many = (0..<9).map { "\"c\($0)\": {\".validate\": true}" }.joined(separator: ", ")
    #expect(
      try questions(#"{".write": true, "a": {\#(many)}}"#, "a", after).after == ["children a"])
    let beside = #"{".write": true, "q": {"$k": {".validate": true}}}"#
    #expect(try questions(beside, "a", after).after == [])
    let above = #"{".write": true, ".validate": true, "$k": {".validate": true}}"#
    #expect(try questions(above, "a", after).after == ["shape ", "shape a"])
  }

  @Test("a tree that cannot be read is an error, not a verdict")
  func failure() throws {
    struct Broken: RulesSnapshot {
      struct Damage: Error {}
      func shape(at path: TreePath) throws(RulesDataError) -> RulesShape {
        throw RulesDataError(Damage())
      }
      func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar? {
        throw RulesDataError(Damage())
      }
      func children(
        at path: TreePath, after key: TreeKey?, limit: Int
      ) throws(RulesDataError) -> [RulesChild] { throw RulesDataError(Damage()) }
    }
    let caller = RulesCaller(auth: nil, now: 0)
    for rule in ["data.exists() || true", "data.getPriority() == null"] {
      let rules = try TreeRules(#"{"rules": {".read": "\#(rule)"}}"#)
      #expect(throws: RulesDataError.self) { try rules.read(.root, by: caller, in: Broken()) }
    }
  }
}
