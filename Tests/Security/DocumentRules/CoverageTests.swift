import TernCore
import TernQuery
import Testing

@testable import TernSecurity

@Suite("Coverage of rules for documents") struct CoverageTests {
  private static let source = """
    rules_version = '2';
    service cloud.firestore { match /databases/{database}/documents {
      function isMine(owner) { return owner == request.auth.uid; }
      match /c/{id} {
        allow get: if isMine(resource.data.owner) || resource.data.n + 1 > 10;
        allow list: if isMine(resource.data.owner);
      }
    } }
    """

  /// The lines of a report: the source of each expression, and its results.
  private func lines(_ report: JSONValue, _ source: String) -> [String] {
    func lines(_ node: JSONValue) -> [String] {
      let place = node["sourcePosition"]
      let start = Int(place?["currentOffset"]?.integer ?? 0)
      let end = Int(place?["endOffset"]?.integer ?? 0)
      let text = String(decoding: Array(source.utf8)[start..<end], as: UTF8.self)
      let values = elements(node["values"]).map {
        "\($0["value"]?.json ?? "") × \($0["count"]?.integer ?? 0)"
      }
      return ["\(text): \(values.joined(separator: ", "))"]
        + elements(node["children"]).flatMap(lines)
    }
    return elements(report["report"]).flatMap(lines)
  }

  private func elements(_ json: JSONValue?) -> [JSONValue] {
    if case .array(let elements)? = json { elements } else { [] }
  }

  private func get(
    _ rules: DocumentRules, _ fields: DocumentFields
  ) -> DocumentRulesVerdict {
    let auth = DocumentRuleValue.map(DocumentRuleMap([("uid", .string("ann"))]))
    let request = DocumentRulesRequest(
      .get, DocumentKey(unchecked: "c/a"), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 0), auth: auth, resource: fields)
    var budget = DocumentRulesBudget.single
    return rules.judge(request, state: DocumentRulesState { _ in nil }, budget: &budget)
  }

  @Test("every expression has its results, with its place in the source")
  func counts() throws {
    let rules = try DocumentRules(source: Self.source).recordingCoverage()
    #expect(get(rules, ["owner": "ann", "n": 1]).isAllowed)
    #expect(get(rules, ["owner": "ann", "n": 1]).isAllowed)
    #expect(!get(rules, ["owner": "ben", "n": 1]).isAllowed)
    let report = try #require(DocumentRulesCoverage.Report(rules))
    let found = lines(report.json, Self.source)
    let yes = #"{"boolValue":true}"#
    let no = #"{"boolValue":false}"#
    #expect(
      found.contains(
        "isMine(resource.data.owner) || resource.data.n + 1 > 10: \(yes) × 2, \(no) × 1"))
    #expect(found.contains("isMine(resource.data.owner): \(yes) × 2, \(no) × 1"))
    #expect(found.contains("owner == request.auth.uid: \(yes) × 2, \(no) × 1"))
    #expect(found.contains(#"resource.data.n + 1: {"intValue":"2"} × 1"#))
    #expect(found.contains("1: {\"intValue\":\"1\"} × 1"))
    #expect(report.page.contains("true × 2, false × 1"))
    #expect(report.page.contains("never evaluated"), "the list")
  }

  @Test("queries count too, and what depends on the documents is said to")
  func queries() throws {
    let rules = try DocumentRules(source: Self.source).recordingCoverage()
    let auth = DocumentRuleValue.map(DocumentRuleMap([("uid", .string("ann"))]))
    let request = DocumentRulesRequest(
      .list, DocumentKey(unchecked: "-/-"), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 0), auth: auth, resource: nil)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    for query in [all, try all.where(DocumentFieldPath(unchecked: ["owner"]), .equal, "ann")] {
      var budget = DocumentRulesBudget.query
      _ = rules.prove(query, request, DocumentRulesState { _ in nil }, &budget)
    }
    let report = try #require(DocumentRulesCoverage.Report(rules))
    let line = lines(report.json, Self.source).first { $0.hasPrefix("owner == request.auth.uid:") }
    #expect(line?.contains(#"{"boolValue":true} × 1"#) == true, "\(line ?? "")")
    #expect(
      report.page.contains("depends on the document × 1") || line?.contains("undefined") == true)
  }

  @Test("different results of one expression are told apart up to a limit, and none is lost")
  func limit() throws {
    let rules = try DocumentRules(
      source: """
        service cloud.firestore { match /databases/{database}/documents {
          match /c/{id} { allow get: if resource.data.n > -1; }
        } }
        """
    ).recordingCoverage()
    for number in 0..<100 { _ = get(rules, ["n": .integer(Int64(number))]) }
    let report = try #require(DocumentRulesCoverage.Report(rules)).json
    let number = elements(elements(report["report"]).first?["children"]).first
    let values = elements(number?["values"])
    #expect(values.count == DocumentRulesCoverage.valueLimit + 1)
    #expect(values.reduce(0) { $0 + ($1["count"]?.integer ?? 0) } == 100)
    #expect(DocumentRulesCoverage.Report(try DocumentRules(source: Self.source)) == nil)
  }
}
