import TernCore
import Testing

@testable import TernSecurity

/// Conditions with their expected results, one a line: `T`, `F`, `E` (an error) or `C` (does not
/// compile), a blank, the condition.
struct RuleTable {
  /// The number of cases that were checked.
  private(set) var count = 0

  /// Checks every line for the `get` of `probe/x`.
  @discardableResult
  init(
    _ lines: String, resource: DocumentMap? = nil, auth: JSONValue = .null,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for line in lines.split(separator: "\n") {
      let (mark, condition) = (line.prefix(1), String(line.dropFirst(2)))
      let found = RuleTable.outcome(of: condition, resource: resource, auth: auth)
      #expect(found == mark, "\(condition)", sourceLocation: sourceLocation)
      count += 1
    }
  }

  /// The mark that belongs to a condition.
  static func outcome(
    of condition: String, resource: DocumentMap? = nil, auth: JSONValue = .null
  ) -> String {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
      match /probe/{id} { allow get: if \(condition); }
      } }
      """
    guard let rules = try? DocumentRules(source: source) else { return "C" }
    let request = DocumentRulesRequest(
      .get, DocumentKey(unchecked: "probe/x"), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 1_790_000_000_123_000),
      auth: DocumentRuleValue(json: auth), resource: resource.map { DocumentFields($0) })
    var budget = DocumentRulesBudget.single
    let state = DocumentRulesState { key in
      key.text == "known/one" ? DocumentFields(["n": 1, "s": "text"]) : nil
    }
    switch rules.judge(request, state: state, budget: &budget).findings.last?.outcome {
    case .allowed: return "T"
    case .isFalse: return "F"
    case .fault, nil: return "E"
    }
  }
}
