import TernCore
import TernSecurity

/// Replays rule expressions with the verdict a live service gave.
///
/// Each becomes the only `.read` rule of a file, below a level of the path for each capture.
public enum RulesSpec {
  /// Replays all cases of a file.
  ///
  /// - Parameter json: `{users, tests}`, as `rules/expressions.json` has it.
  public static func replay(_ json: [UInt8]) throws -> SpecReport {
    let file = try JSONValue(parsing: json)
    guard let users = file["users"], case .array(let tests) = file["tests"] ?? .null else {
      throw SpecError("a file of expressions has users and tests")
    }
    return SpecReport(
      tests.enumerated().map { index, test in
        let name = "\(index + 1): \(test["rule"]?.text ?? "no rule")"
        return SpecReport.Entry(name: name, verdict: verdict(on: test, users: users))
      })
  }

  private static func verdict(on test: JSONValue, users: JSONValue) -> SpecReport.Verdict {
    do {
      let expected = expectation(of: test)
      let actual = try outcome(of: test, users: users)
      return expected == actual ? .passed : .failed("  expected \(expected), found \(actual)")
    } catch {
      return .failed("  \(error)")
    }
  }

  private static func expectation(of test: JSONValue) -> String {
    if test["isValid"] != .bool(true) { return "a refusal" }
    if test["failAtRuntime"] == .bool(true) { return "a mistake" }
    return test["evaluateTo"] == .bool(true) ? "true" : "false"
  }

  private static func outcome(of test: JSONValue, users: JSONValue) throws -> String {
    guard let rule = test["rule"]?.text, let user = test["user"]?.text else {
      throw SpecError("a case names a rule and a user")
    }
    var file: JSONValue = .object([.init(".read", .string(rule))])
    var keys: [TreeKey] = []
    if case .object(let captures) = test["wildchildren"] ?? .null {
      keys = try captures.map { try TreeKey($0.value.text ?? "") }
      for capture in captures.reversed() { file = .object([.init(capture.name, file)]) }
    }
    let rules: TreeRules
    do {
      rules = try TreeRules(JSONValue.object([.init("rules", file)]).bytes)
    } catch {
      return "a refusal"
    }
    let explanation = try rules.explainRead(
      TreePath(keys), query: query(test["query"]),
      by: RulesCaller(auth: users[user] ?? .null, now: 0),
      in: TreeNodeSnapshot(try TreeNode(json: (test["data"] ?? .null).bytes)))
    switch explanation.findings.last?.outcome {
    case .held: return "true"
    case .failed: return "false"
    case .mistaken, .exhausted, nil: return "a mistake"
    }
  }

  private static func query(_ json: JSONValue?) -> RulesQuery {
    guard let json else { return .none }
    var query = RulesQuery()
    if json["orderByValue"] == .bool(true) { query.order = .value }
    if json["orderByPriority"] == .bool(true) { query.order = .priority }
    if let path = json["orderByChild"]?.text { query.order = .child(path) }
    query.start = scalar(json["startAt"])
    query.end = scalar(json["endAt"])
    query.equal = scalar(json["equalTo"])
    query.firstLimit = (json["limitToFirst"]?.integer).map { Int($0) }
    query.lastLimit = (json["limitToLast"]?.integer).map { Int($0) }
    return query
  }

  private static func scalar(_ json: JSONValue?) -> TreeScalar? {
    switch json {
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .null, .array, .object, nil: nil
    }
  }
}
