import TernCore
import TernSecurity

/// One question to rules for documents, and the answer they should give.
///
/// As JSON: `{"name": …, "get": PATH}`, or `{"set": PATH, "value": {…}}`,
/// `{"update": PATH, "value": {…}}`, `{"delete": PATH}`, with `auth`, `documents` and `now` as
/// wanted, and `"allow": true` or `false`.
struct DocumentRulesCase {
  let name: String
  let isAllowed: Bool?
  private let json: JSONValue
  private let documents: [DocumentKey: DocumentFields]

  private static let requests = ["get", "set", "update", "delete"]
  private static let members = requests + ["name", "value", "auth", "documents", "now", "allow"]
  private static let database = DocumentDatabase(unchecked: "project")
  private static let microseconds: Int64 = 1_000

  init(_ json: JSONValue, number: Int) throws(Failure) {
    guard case .object(let members) = json else {
      throw Failure(.usage, "case \(number) is no object")
    }
    if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
      let known = Self.members.joined(separator: ", ")
      throw Failure(.usage, "case \(number) has \"\(unknown.name)\"; known are \(known)")
    }
    self.json = json
    name = json["name"]?.text ?? "case \(number)"
    if case .bool(let flag) = json["allow"] { isAllowed = flag } else { isAllowed = nil }
    var documents: [DocumentKey: DocumentFields] = [:]
    if case .object(let members) = json["documents"] ?? .null {
      for member in members {
        documents[try Self.key(member.name, in: name)] = try Self.fields(member.value, in: name)
      }
    }
    self.documents = documents
  }

  /// Returns the decision of the rules with its reasons.
  func verdict(by rules: DocumentRules) throws(Failure) -> DocumentRulesVerdict {
    guard let request = Self.requests.first(where: { json[$0] != nil }),
      let path = json[request]?.text
    else { throw Failure(.usage, "\(name): \"get\", \"set\", \"update\" or \"delete\" is missing") }
    let key = try Self.key(path, in: name)
    let before = documents[key]
    var after = documents
    var method = DocumentRuleMethods.get
    switch request {
    case "set":
      after[key] = try Self.fields(json["value"] ?? .object([]), in: name)
    case "update":
      var map = before?.map ?? DocumentMap()
      for entry in try Self.fields(json["value"] ?? .object([]), in: name).map.entries {
        map[entry.name] = entry.value
      }
      after[key] = DocumentFields(map)
    case "delete": after[key] = nil
    default: break
    }
    if request != "get" {
      method = after[key] == nil ? .delete : before == nil ? .create : .update
    }
    let milliseconds = json["now"]?.integer ?? 0
    let (time, overflow) = milliseconds.multipliedReportingOverflow(by: Self.microseconds)
    if overflow { throw Failure(.usage, "\(name): \"now\" is out of range") }
    let judged = DocumentRulesRequest(
      method, key, in: Self.database.databaseID,
      at: DocumentTimestamp(uncheckedMicroseconds: time),
      auth: DocumentRuleValue(json: json["auth"] ?? .null), resource: before,
      change: request == "get" ? .none : .write(after[key]))
    let state = DocumentRulesState(
      before: { [documents] in documents[$0] }, after: { [after] in after[$0] })
    var budget = DocumentRulesBudget.single
    return rules.judge(judged, state: state, budget: &budget)
  }

  private static func key(_ path: String, in name: String) throws(Failure) -> DocumentKey {
    do { return try DocumentKey(path) } catch {
      throw Failure(.usage, "\(name): \"\(path)\" is no path of a document")
    }
  }

  private static func fields(
    _ json: JSONValue, in name: String
  ) throws(Failure) -> DocumentFields {
    do { return DocumentFields(try DocumentValueJSON(.plain, in: database).fields(json)) } catch {
      throw Failure(.usage, "\(name): \(error)")
    }
  }
}
