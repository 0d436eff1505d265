import TernCore
import TernSecurity

/// Rules for documents: compilation, expressions, whole rulesets, decisions of the live service.
public enum FirestoreRulesGroup: FirestoreSpecGroup {
  public static let name = "rules"

  public static func replay(_ recordings: FirestoreRecordings) throws -> SpecReport {
    let entries = try [
      ("rules/compile.json", compiles), ("rules/expressions.json", evaluates),
      ("rules/emulator-programs.json", runs), ("rules/production.json", decides),
    ].flatMap { file, judge in
      try recordings.cases(file).map { test in
        SpecReport.Entry(name: test["name"]?.text ?? file, verdict: verdict(on: test, by: judge))
      }
    }
    return SpecReport(entries)
  }

  private static func verdict(
    on test: JSONValue, by judge: (JSONValue) throws -> SpecReport.Verdict
  ) -> SpecReport.Verdict {
    do { return try judge(test) } catch { return .failed("  \(error)") }
  }

  private static func compared(_ found: String, with expected: String) -> SpecReport.Verdict {
    found == expected ? .passed : .failed("  expected \(expected), found \(found)")
  }

  private static func compiles(_ test: JSONValue) throws -> SpecReport.Verdict {
    let expected = test["compiles"] == .bool(true)
    do {
      _ = try DocumentRules(source: test["source"]?.text ?? "")
      return expected ? .passed : .failed("  expected an error, but it compiles")
    } catch {
      return expected ? .failed("  \(error)") : .passed
    }
  }

  private static func wrapped(_ rules: String) -> String {
    """
    rules_version = '2';
    service cloud.firestore { match /databases/{database}/documents {
    \(rules)
    } }
    """
  }

  /// Evaluates an expression for the `get` of a document that does not exist.
  private static func evaluates(_ test: JSONValue) throws -> SpecReport.Verdict {
    let expression = test["expression"]?.text ?? ""
    let expected = test["verdict"]?.text ?? ""
    let rules: DocumentRules
    do {
      rules = try DocumentRules(
        source: wrapped("match /probe/{id} { allow get: if \(expression); }"))
    } catch {
      return compared("compile-error", with: expected)
    }
    let world = try RulesWorld(rules: rules, seed: .object([]), auth: .null)
    var budget = DocumentRulesBudget.single
    let verdict = try world.get("probe/x", budget: &budget)
    switch verdict.findings.last?.outcome {
    case .allowed: return compared("true", with: expected)
    case .isFalse: return compared("false", with: expected)
    case .fault, nil: return compared("error", with: expected)
    }
  }

  /// Replays a case of the live service.
  private static func decides(_ test: JSONValue) throws -> SpecReport.Verdict {
    let rules = try DocumentRules(source: wrapped(test["rules"]?.text ?? ""))
    var world = try RulesWorld(
      rules: rules, seed: test["seed"] ?? .null, auth: test["auth"] ?? .null)
    guard let request = test["request"] else { throw SpecError("a case has a request") }
    let verdict = try verdict(on: request, in: &world)
    return compared(verdict.isAllowed ? "allow" : "deny", with: test["expect"]?.text ?? "")
  }

  private static func verdict(
    on request: JSONValue, in world: inout RulesWorld
  ) throws -> DocumentRulesVerdict {
    var budget = DocumentRulesBudget.single
    switch request["rpc"]?.text {
    case "GetDocument":
      return try world.get(try RulesWorld.path(request["name"]?.text), budget: &budget)
    case "Commit":
      return try world.commit(try request["writes"]?.list ?? [])
    case "RunQuery", "RunAggregationQuery":
      return try world.list(
        request["structuredQuery"] ?? .null, below: request["parent"]?.text ?? "")
    case "ListDocuments":
      let source = JSONValue.record(["collectionId": request["collectionId"] ?? .null])
      return try world.list(
        .record(["from": .array([source])]), below: request["parent"]?.text ?? "")
    default: throw SpecError("unknown request \(request)")
    }
  }

  /// Replays the steps of a ruleset against the emulator's answers.
  private static func runs(_ test: JSONValue) throws -> SpecReport.Verdict {
    let rules: DocumentRules
    do {
      rules = try DocumentRules(source: test["rules"]?.text ?? "")
    } catch {
      return compared(shortened("\(error)"), with: test["compileError"]?.text ?? "no error")
    }
    guard test["compileError"] == nil, case .array(let steps) = test["steps"] else {
      return .failed("  expected a problem of the rules")
    }
    var world = try RulesWorld(rules: rules, seed: test["seed"] ?? .null, auth: .null)
    for step in steps {
      let verdict = try stepVerdict(on: step, in: &world)
      let isExpected = step["status"] != .integer(403)
      if verdict.isAllowed != isExpected {
        return .failed("  step \(step["id"]?.text ?? ""): \(verdict)")
      }
    }
    return .passed
  }

  private static func stepVerdict(
    on step: JSONValue, in world: inout RulesWorld
  ) throws -> DocumentRulesVerdict {
    guard step["method"] == .string("GET") else { return try verdict(on: step, in: &world) }
    var budget = DocumentRulesBudget.single
    return try world.get(step["path"]?.text ?? "", budget: &budget)
  }

  /// A text with the middle of a chain of calls left out, as recordings have it.
  private static func shortened(_ text: String) -> String {
    guard let open = text.firstIndex(of: "["), let close = text.firstIndex(of: "]") else {
      return text
    }
    let names = text[text.index(after: open)..<close].split(separator: ">")
    guard names.count > 3, let last = names.last else { return text }
    let kept = names[0] + ">" + names[1] + ">…->" + last
    return String(text[...open]) + kept + String(text[close...])
  }
}
