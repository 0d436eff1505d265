import TernCore
import TernSecurity
import Testing

/// Bounds on the work one decision may cost.
@Suite("Budgets")
struct BudgetTests {
  private func rules(_ text: String, _ change: (inout RulesLimits) -> Void) throws -> TreeRules {
    var limits = RulesLimits.standard
    change(&limits)
    return try TreeRules(#"{"rules": \#(text)}"#, limits: limits)
  }

  private let caller = RulesCaller(auth: nil, now: 0)

  @Test("a rule that takes too long is false, the next one has its say")
  func perRule() throws {
    let rules = try rules(
      #"{".read": "data.val().matches(/^(a|b)*$/) || true", "t": {".read": "true"}}"#
    ) { $0.stepsPerRule = 1_000 }
    let long = TreeNode(.string(String(repeating: "a", count: 2_000)))
    let tree = TreeNodeSnapshot(long)
    let verdict = try rules.explainRead(.root, by: caller, in: tree)
    #expect(verdict.findings.first?.outcome == .exhausted(.rule))
    #expect(!verdict.verdict.isAllowed)
    #expect(try rules.read("t", by: caller, in: tree).isAllowed)
    let short = TreeNodeSnapshot(TreeNode("ab"))
    #expect(try rules.read(.root, by: caller, in: short).isAllowed)
  }

  @Test("a validation that takes too long is a denial of its own kind")
  func validation() throws {
    let rules = try rules(#"{".write": true, ".validate": "newData.val().contains('zz')"}"#) {
      $0.stepsPerRule = 100
    }
    let node = TreeNode(.string(String(repeating: "z ", count: 2_000)))
    let verdict = try rules.write(
      [.root], by: caller, from: TreeNodeSnapshot(.empty), to: TreeNodeSnapshot(node))
    guard case .denied(let denial) = verdict else { return #expect(Bool(false)) }
    #expect(denial.reason == .exhausted(.rule))
  }

  @Test("a request with too many validations ends")
  func perRequest() throws {
    let text = #"{".write": true, "l": {"$i": {".validate": "newData.isNumber() && $i != ''"}}}"#
    let rules = try rules(text) { $0.stepsPerRequest = 5_000 }
    var children = ChildMap()
    for index in 0..<1_000 { children.set(TreeKey(unchecked: "k\(index)"), 1) }
    let after = TreeNodeSnapshot(TreeNode(children: children))
    let small = TreeNodeSnapshot(["l": ["a": 1]])
    let empty = TreeNodeSnapshot(.empty)
    #expect(try rules.write(["l"], by: caller, from: empty, to: small).isAllowed)
    let big = TreeNodeSnapshot(["l": after.root])
    guard case .denied(let denial) = try rules.write(["l"], by: caller, from: empty, to: big)
    else { return #expect(Bool(false)) }
    #expect(denial.reason == .exhausted(.request))
    #expect(
      try TreeRules(#"{"rules": \#(text)}"#).write(["l"], by: caller, from: empty, to: big)
        .isAllowed)
  }

  @Test(
    "strings do not grow beyond their limit",
    arguments: [
      "auth.replace('a', auth).replace('a', auth).replace('a', auth) != ''",
      "(auth + auth + auth + auth).length > 0", "auth.toUpperCase().toLowerCase() == auth",
    ])
  func strings(rule: String) throws {
    let text = JSONValue.string(rule).json
    let rules = try rules(#"{".read": \#(text)}"#) { $0.stringBytes = 3_000 }
    let caller = RulesCaller(auth: .string(String(repeating: "a", count: 1_000)), now: 0)
    let found = try rules.explainRead(.root, by: caller, in: TreeNodeSnapshot(.empty))
    let isSmall = rule.contains("toUpper")
    #expect(found.findings.first?.outcome == (isSmall ? .held : .exhausted(.string)))
  }

  @Test("the dearest rules a file can hold end within the budget")
  func worstCases() throws {
    let text = String(repeating: "ab", count: 2 << 20)
    let caller = RulesCaller(auth: .string(text), now: 0)
    for rule in [
      "auth.matches(/^(a?b?){200}c/)", "auth.replace('a', auth) == ''",
      "auth.contains(auth + 'c')", "data.child(auth.replace('a', '/')).exists()",
      "auth.toUpperCase() == auth.toLowerCase() || auth.length == 3",
    ] {
      let rules = try TreeRules(#"{"rules": {".read": \#(JSONValue.string(rule).json)}}"#)
      #expect(try !rules.read(.root, by: caller, in: TreeNodeSnapshot(.empty)).isAllowed)
    }
  }
}
