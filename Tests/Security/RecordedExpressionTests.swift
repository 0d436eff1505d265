import Foundation
import TernCore
import TernSecurity
import Testing

/// Every expression with the verdict the live service gave, replayed.
@Suite("Recorded expressions")
struct RecordedExpressionTests {
  @Test(
    "agree with the recorded verdict",
    .enabled(if: RecordedExpressions.isPresent, "no recorded expressions beside this checkout"))
  func everyCase() throws {
    let recorded = try RecordedExpressions.load()
    #expect(recorded.tests.count >= 134)
    for (index, test) in recorded.tests.enumerated() {
      let verdict = try recorded.verdict(of: test)
      #expect(verdict == test.expected, "case \(index): \(test.rule)")
    }
  }
}

/// The file of recorded expressions.
struct RecordedExpressions: Decodable {
  struct Case: Decodable {
    let rule: String
    let user: String
    let data: JSONValue?
    let wildchildren: [String: String]?
    let query: [String: JSONValue]?
    let isValid: Bool
    let failAtRuntime: Bool?
    let evaluateTo: Bool?

    var expected: String {
      guard isValid else { return "invalid" }
      return failAtRuntime == true ? "error" : "\(evaluateTo ?? false)"
    }
  }

  let users: [String: JSONValue]
  let tests: [Case]

  private static var url: URL {
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["TERN_SPEC"].map { URL(filePath: $0) }
    let beside = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../shared/spec")
    let main = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../shared/spec")
    let folders = [folder, beside, main].compactMap { $0 }
    return folders.map { $0.appending(path: "rules/expressions.json") }.first {
      FileManager.default.fileExists(atPath: $0.path)
    } ?? beside
  }

  static var isPresent: Bool { FileManager.default.fileExists(atPath: url.path) }

  static func load() throws -> RecordedExpressions {
    try JSONDecoder().decode(RecordedExpressions.self, from: Data(contentsOf: url))
  }

  /// `invalid`, `error`, `true` or `false`.
  func verdict(of test: Case) throws -> String {
    // The captures become levels of the path, so that the rule stands below them.
    let captures = test.wildchildren ?? [:]
    let names = captures.keys.sorted()
    var text = #"{".read": "# + JSONValue.string(test.rule).text + "}"
    for name in names.reversed() { text = "{" + JSONValue.string(name).text + ": " + text + "}" }
    guard let rules = try? TreeRules(#"{"rules": "# + text + "}") else { return "invalid" }
    let path = TreePath(try names.map { try TreeKey(captures[$0] ?? "") })
    let tree = TreeNodeSnapshot(test.data?.node ?? .empty)
    let caller = RulesCaller(auth: users[test.user]?.claims ?? .null, now: 1_000)
    let explanation = try rules.explainRead(
      path, query: query(of: test), by: caller, in: tree)
    switch explanation.findings.last?.outcome {
    case .held: return "true"
    case .failed: return "false"
    case .mistaken, .exhausted, nil: return "error"
    }
  }

  private func query(of test: Case) -> RulesQuery {
    guard let members = test.query else { return .none }
    var query = RulesQuery()
    if members["orderByValue"]?.bool == true { query.order = .value }
    if members["orderByPriority"]?.bool == true { query.order = .priority }
    query.start = members["startAt"]?.node.scalar
    query.end = members["endAt"]?.node.scalar
    query.equal = members["equalTo"]?.node.scalar
    query.firstLimit = members["limitToFirst"]?.integer
    query.lastLimit = members["limitToLast"]?.integer
    return query
  }
}
