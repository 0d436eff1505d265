import Foundation
import TernCore
import Testing

@testable import TernSecurity

/// The evaluator against the naive one, on random conditions and documents.
@Suite("Agreement of rules for documents with the naive evaluator")
struct DocumentRuleAgreementTests {
  /// The states of one seed; `TERN_RULE_STATES` sets more, such as 25000 for 100,000 in all.
  private static let states =
    ProcessInfo.processInfo.environment["TERN_RULE_STATES"].flatMap { Int($0) } ?? 3_000

  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TERN_SEED"].flatMap(UInt64.init).map { [$0] } ?? [
      1, 2, 3, 4,
    ]

  @Test("random conditions have the same outcome", arguments: seeds)
  func agreement(seed: UInt64) throws {
    var generator = NaiveRuleGenerator(seed: seed)
    var counts: [String: Int] = [:]
    var judged = 0
    while judged < Self.states {
      let function = generator.function()
      let condition = generator.expression(.bool, depth: 4)
      let source = """
        service cloud.firestore { match /databases/{database}/documents {
        \(function.text)
        match /probe/{id} { allow get: if \(condition.text()); }
        } }
        """
      let rules = try DocumentRules(source: source)
      for _ in 0..<4 {
        judged += 1
        let resource = generator.chance(85) ? generator.map(depth: 2) : nil
        let documents = ["d0": generator.map(depth: 1), "d1": generator.map(depth: 1)]
        let expected = naive(condition, function, resource, documents)
        let found = self.found(rules, resource, documents)
        counts[expected, default: 0] += 1
        guard found == expected || found == "exhausted" else {
          Issue.record(
            "seed \(seed): expected \(expected), found \(found)\n\(source)\n\(resource as Any)")
          return
        }
      }
    }
    print("document rules, seed \(seed): \(judged) states, \(counts)")
    for outcome in ["true", "false", "error"] {
      #expect(counts[outcome, default: 0] > judged / 20, "\(outcome) is rare")
    }
  }

  private func naive(
    _ condition: NaiveDocumentRule, _ function: NaiveRuleFunction,
    _ resource: [String: NaiveRuleValue]?, _ documents: [String: [String: NaiveRuleValue]]
  ) -> String {
    let resource = resource.map { NaiveRuleValue.map(["data": .map($0), "id": .text("x")]) }
    let walker = NaiveRuleWalker(
      names: ["resource": resource ?? .null], documents: documents, function: function)
    guard case .bool(let result) = walker.value(condition) else { return "error" }
    return "\(result)"
  }

  private func found(
    _ rules: DocumentRules, _ resource: [String: NaiveRuleValue]?,
    _ documents: [String: [String: NaiveRuleValue]]
  ) -> String {
    let request = DocumentRulesRequest(
      .get, DocumentKey(unchecked: "probe/x"), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 0), auth: .null,
      resource: resource.map { fields($0) })
    var budget = DocumentRulesBudget.single
    let state = DocumentRulesState { key in documents[key.id].map { fields($0) } }
    switch rules.judge(request, state: state, budget: &budget).findings.last?.outcome {
    case .allowed: return "true"
    case .isFalse: return "false"
    case .fault(.exhausted): return "exhausted"
    case .fault, nil: return "error"
    }
  }

  private func fields(_ map: [String: NaiveRuleValue]) -> DocumentFields {
    DocumentFields(DocumentMap(map.map { ($0.key, value($0.value)) }))
  }

  private func value(_ value: NaiveRuleValue) -> DocumentValue {
    switch value {
    case .null: .null
    case .bool(let flag): .boolean(flag)
    case .int(let number): .integer(Int64(number))
    case .float(let number): .double(number)
    case .text(let text): .string(text)
    case .list(let items), .set(let items): .array(items.map { self.value($0) })
    case .map(let map): .map(DocumentMap(map.map { ($0.key, self.value($0.value)) }))
    }
  }
}
