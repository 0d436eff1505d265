import TernCore
import TernSecurity
import Testing

/// An operator's explanation of a denial, and a client's.
@Suite("Explanations")
struct ExplanationTests {
  private let rules = """
    {
      ".write": "auth.admin === true",
      "items": {"$id": {
        ".write": "auth != null
                   && newData.child('owner').val() === auth.uid",
        ".validate": "newData.hasChildren(['owner', 'n']) && (newData.child('n').val() < 10 || $id === 'free')"
      }}
    }
    """

  @Test("a refused grant names every rule on the way and the part that refused")
  func grants() throws {
    let world = try RulesWorld(rules)
    let explanation = try world.explain(
      [("items/7", ["owner": "eve", "n": 1])], as: ["uid": "bob"])
    #expect(explanation.findings.map(\.location) == ["/", "/items/$id"])
    #expect(explanation.decisive.count == 2)
    let last = try #require(explanation.findings.last)
    #expect(last.path == "items/7" && last.kind == .write && last.outcome == .failed)
    let core = last.reason.core
    #expect(core.text == "newData.child('owner').val() === auth.uid")
    #expect(core.position == RulesPosition(line: 5, column: 19))
    #expect(core.value == "false")
    #expect(core.operands.map(\.text) == ["newData.child('owner').val()", "auth.uid"])
    #expect(core.operands.map(\.value) == [#""eve""#, #""bob""#])
    guard case .denied(let denial) = explanation.verdict else {
      Issue.record("allowed")
      return
    }
    #expect(denial.reason == .notGranted && denial.path == "items/7")
    #expect(explanation.description.contains(denial.id))
    #expect(
      explanation.description.contains("5:19: newData.child('owner').val() === auth.uid is false"))
  }

  @Test("a failed validation names its rule and the operands")
  func validation() throws {
    let world = try RulesWorld(rules)
    let write: [(TreePath, TreeNode)] = [("items/7", ["owner": "bob", "n": 12])]
    let explanation = try world.explain(write, as: ["uid": "bob"])
    guard case .denied(let denial) = explanation.verdict else {
      Issue.record("allowed")
      return
    }
    #expect(denial.kind == .validate)
    #expect(denial.reason == .invalid(RulesPosition(line: 6, column: 19)))
    let finding = try #require(explanation.decisive.first)
    let core = finding.reason.core
    #expect(core.text == "(newData.child('n').val() < 10 || $id === 'free')")
    #expect(core.operands.map(\.value) == ["false", "false"])
    #expect(core.operands[0].operands.map(\.value) == ["12"])
    #expect(core.operands[1].operands.map(\.value) == [#""7""#])
  }

  @Test("a mistake is shown where it happened, what was not evaluated is left out")
  func mistakes() throws {
    let world = try RulesWorld(
      #"{".write": "true && !(auth.x.length > 1 || newData.exists())"}"#)
    let explanation = try world.explain([("a", 1)], as: ["x": 4])
    let finding = try #require(explanation.findings.first)
    #expect(finding.outcome == .mistaken(.noLength))
    #expect(finding.reason.text == "auth.x" && finding.reason.value == "4")
    #expect(explanation.description.contains("false, because only strings have a length"))
  }

  @Test("an allowed request names the rule that granted it")
  func allowed() throws {
    let world = try RulesWorld(rules)
    let explanation = try world.explain(
      [("items/7", ["owner": "bob", "n": 1])], as: ["uid": "bob"])
    #expect(explanation.verdict.isAllowed)
    #expect(explanation.findings.map(\.outcome) == [.failed, .held, .held])
    #expect(explanation.decisive.map(\.kind) == [.validate])
    #expect(explanation.description.hasPrefix("allowed\n"))
  }

  @Test("ids are the same for the same request and differ otherwise")
  func ids() throws {
    func id(_ path: TreePath, _ now: Int64, _ rules: String) throws -> String {
      var world = try RulesWorld(rules)
      world.now = now
      guard case .denied(let denial) = try world.verdict([(path, 1)]) else { return "allowed" }
      return denial.id
    }
    let first = try id("a", 1, "{}")
    #expect(first.utf8.count == 16)
    #expect(try id("a", 1, "{}") == first)
    let others = [try id("b", 1, "{}"), try id("a", 2, "{}"), try id("a", 1, "{ }")]
    #expect(Set(others + [first]).count == 4)
  }

  @Test("the id of a denial is the same whatever rule and node denied")
  func idsOfSecrets() throws {
    // Each member of `hidden` changes the rule, its kind, its place in the file or the node.
    let rules = """
      {
        ".read": "root.child('hidden/read').exists() && auth != null",
        "hidden": {".read": false, ".write": false},
        "a": {
          ".write": "!root.child('hidden/grant').exists()",
          ".validate": "!root.child('hidden/first').exists()",
          "b": {".validate": "!root.child('hidden/second').exists()"},
          "c": {".validate": "newData.val() != 5 && auth != null"}
        },
        "d": {".write": "!root.child('hidden/grant').exists()"}
      }
      """
    var ids: Set<String> = []
    let trees: [TreeNode] = [
      .empty, ["hidden": ["grant": 1]], ["hidden": ["first": 1]], ["hidden": ["second": 1]],
      ["hidden": ["first": 1, "second": 1]],
    ]
    for tree in trees {
      let world = try RulesWorld(rules, tree: tree)
      let verdict = try world.verdict([("a", ["b": 1, "c": 5]), ("d", 1)])
      guard case .denied(let denial) = verdict else {
        Issue.record("allowed over \(tree)")
        continue
      }
      ids.insert(denial.id)
    }
    #expect(ids.count == 1, "\(ids)")
  }

  @Test("an explanation is bounded, and keeps the rules that decided")
  func manyPaths() throws {
    let rules = """
      {
        ".write": "auth.admin === true",
        "items": {"$group": {
          ".write": "newData.child('open').val() === true",
          "$id": {".write": "$id != 'z'", ".validate": "newData.isNumber()"}
        }}
      }
      """
    let world = try RulesWorld(rules)
    let paths = (0..<1_000).map { "items/a/k\(1_000 + $0)" } + ["items/a/z"]
    let writes = try paths.map { (try TreePath($0), 1 as TreeNode) }
    let explanation = try world.explain(writes)
    #expect(explanation.findings.count == RulesLimits.explainedRules)
    #expect(explanation.omittedCount == 1_003 - RulesLimits.explainedRules)
    #expect(explanation.decisive.map(\.location) == ["/", "/items/$group", "/items/$group/$id"])
    #expect(explanation.decisive.last?.path == "items/a/z")
    let text = explanation.description
    #expect(text.utf8.count < 2 * RulesLimits.explanationBytes)
    #expect(text.contains("(939 more rules were asked before these)"), "\(text)")
    // A part of another group that did not grant says nothing about this one.
    let others = try (0..<200).map { (try TreePath("items/g\($0)/k"), 1 as TreeNode) }
    let found = try world.explain(others + [("items/z/z", 1)])
    #expect(found.decisive.map(\.path) == [.root, "items/z", "items/z/z"])
    // What is proposed and not valid comes behind many that are.
    let invalid = try world.explain(
      writes.dropLast() + [("items/a/y", "text")])
    #expect(invalid.decisive.map(\.path) == ["items/a/y"])
    #expect(invalid.findings.count == RulesLimits.explainedRules)
  }

  @Test("the text of one long rule is bounded")
  func longRule() throws {
    let parts = (0..<3_000).map { "newData.child('k\($0)').val() === 'a value of some length'" }
    let world = try RulesWorld(#"{".write": "\#(parts.joined(separator: " || "))"}"#)
    let text = try world.explain([("a", 1)]).description
    #expect(text.utf8.count < 2 * RulesLimits.explanationBytes, "\(text.utf8.count)")
    #expect(text.contains(".write of / at /: false") && text.contains("…"))
  }

  @Test("long strings are cut, snapshots are named by their path")
  func values() throws {
    let world = try RulesWorld(#"{"a": {".write": "newData.val().contains('zz')"}}"#)
    let text = String(repeating: "x", count: 500)
    let explanation = try world.explain([("a", TreeNode(.string(text)))])
    let value = try #require(explanation.findings.first?.reason.operands.first?.value)
    #expect(value.count == 83 && value.hasSuffix("…\""))
    let parent = try RulesWorld(
      #"{"a": {"b": {".write": "newData.parent().parent().parent().exists()"}}}"#)
    let found = try parent.explain([("a/b", 1)]).findings.first?.reason
    #expect(found?.value == "the proposed node /")
  }
}
