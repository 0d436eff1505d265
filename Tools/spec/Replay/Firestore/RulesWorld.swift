import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery
import TernSecurity

/// A database in memory whose requests rules judge, as a server would ask them.
struct RulesWorld {
  static let database = DocumentDatabase(unchecked: "P")
  static let documentsName = database.documentsName

  private let rules: DocumentRules
  private let auth: DocumentRuleValue
  private(set) var documents: [DocumentKey: DocumentFields] = [:]
  private let time = DocumentVersion(microseconds: 1_790_000_000_000_000)

  /// - Parameters:
  ///   - seed: The documents at the beginning, by path.
  ///   - auth: Null, or the user.
  init(rules: DocumentRules, seed: JSONValue, auth: JSONValue) throws {
    self.rules = rules
    self.auth = DocumentRuleValue(json: auth)
    guard case .object(let members) = seed else { return }
    for member in members {
      documents[try DocumentKey(member.name)] = try RulesWorld.fields(member.value)
    }
  }

  /// Reads fields as REST spells them.
  static func fields(_ json: JSONValue) throws -> DocumentFields {
    DocumentFields(try DocumentValueJSON(.typed, in: database).fields(json))
  }

  /// Returns the verdict about reading one document.
  func get(_ path: String, budget: inout DocumentRulesBudget) throws -> DocumentRulesVerdict {
    let key = try DocumentKey(path)
    let documents = documents
    return rules.judge(
      DocumentRulesRequest(
        .get, key, in: RulesWorld.database.databaseID, at: time.timestamp, auth: auth,
        resource: documents[key]),
      state: DocumentRulesState { documents[$0] }, budget: &budget)
  }

  /// Judges the writes of a commit, and applies them when all are allowed.
  ///
  /// - Returns: The first denial, or the last verdict.
  mutating func commit(_ writes: [JSONValue]) throws -> DocumentRulesVerdict {
    let before = documents
    var after = documents
    var steps: [(key: DocumentKey, resource: DocumentFields?, result: DocumentFields?)] = []
    for write in writes {
      let mutation = try RulesWorld.mutation(write)
      let state = after[mutation.key].map { Document.State.found($0) } ?? .missing
      let (next, _) = try mutation.commit(
        over: Document(mutation.key, state, version: time), at: time)
      steps.append((mutation.key, after[mutation.key], next.fields))
      after[mutation.key] = next.fields
    }
    let state = DocumentRulesState(before: { before[$0] }, after: { [after] in after[$0] })
    var budget = writes.count == 1 ? DocumentRulesBudget.single : .several
    var verdict: DocumentRulesVerdict?
    for step in steps {
      let method: DocumentRuleMethods =
        step.result == nil ? .delete : step.resource == nil ? .create : .update
      let request = DocumentRulesRequest(
        method, step.key, in: RulesWorld.database.databaseID, at: time.timestamp, auth: auth,
        resource: step.resource, change: .write(step.result))
      verdict = rules.judge(request, state: state, budget: &budget)
      if let verdict, !verdict.isAllowed { return verdict }
    }
    documents = after
    guard let verdict else { throw SpecError("a commit has writes") }
    return verdict
  }

  /// Returns the verdict about a query, which is proved before anything is read.
  ///
  /// - Parameters:
  ///   - query: The query as REST spells it.
  ///   - parent: The path of the document that its collections are below; empty for none.
  func list(_ query: JSONValue, below parent: String) throws -> DocumentRulesVerdict {
    let parts = [RulesWorld.documentsName, try RulesWorld.path(parent)].filter { !$0.isEmpty }
    let request = JSONValue.record([
      "parent": .string(parts.joined(separator: "/")), "structuredQuery": query,
    ])
    let text = request.json.replacing("{documents}", with: RulesWorld.documentsName)
    let message = try DocumentJSON.binary(.request(.runQuery), json: Array(text.utf8))
    guard case .query(let query, _) = try DocumentRequest.decode(.runQuery, message).body else {
      throw SpecError("no query")
    }
    let documents = documents
    var budget = DocumentRulesBudget.query
    return rules.prove(
      query,
      DocumentRulesRequest(
        .list, try DocumentKey("-/-"), in: RulesWorld.database.databaseID,
        at: time.timestamp, auth: auth, resource: nil),
      DocumentRulesState { documents[$0] }, &budget)
  }
}

extension RulesWorld {
  /// The path of a document in its database, from a name in a recording.
  static func path(_ name: String?) throws -> String {
    guard let name else { throw SpecError("a write names its document") }
    let prefix = "{documents}/"
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  /// Reads a write as REST spells it.
  private static func mutation(_ json: JSONValue) throws -> DocumentMutation {
    let condition = precondition(json["currentDocument"])
    if let name = json["delete"]?.text {
      return DocumentMutation(try DocumentKey(try path(name)), .delete, precondition: condition)
    }
    if let transform = json["transform"] {
      let key = try DocumentKey(try path(transform["document"]?.text))
      return DocumentMutation(
        key, .patch(.empty, mask: DocumentFieldMask([])), precondition: condition,
        transforms: try transforms(transform["fieldTransforms"]))
    }
    let key = try DocumentKey(try path(json["update"]?["name"]?.text))
    let contents = try fields(json["update"]?["fields"] ?? .object([]))
    var change = DocumentMutation.Change.set(contents)
    if case .array(let paths) = json["updateMask"]?["fieldPaths"] {
      let mask = try paths.map { try DocumentFieldPath(wire: $0.text ?? "") }
      change = .patch(contents, mask: DocumentFieldMask(mask))
    }
    return DocumentMutation(
      key, change, precondition: condition, transforms: try transforms(json["updateTransforms"]))
  }

  private static func precondition(_ json: JSONValue?) -> DocumentPrecondition {
    switch json?["exists"] {
    case .bool(let exists): .exists(exists)
    default: .none
    }
  }

  private static func transforms(_ json: JSONValue?) throws -> [DocumentFieldTransform] {
    guard case .array(let list) = json ?? .array([]) else { return [] }
    return try list.map { item in
      let path = try DocumentFieldPath(wire: item["fieldPath"]?.text ?? "")
      return DocumentFieldTransform(path, try transform(item))
    }
  }

  private static func transform(_ json: JSONValue) throws -> DocumentTransform {
    let reader = DocumentValueJSON(.typed, in: database)
    if json["setToServerValue"] != nil { return .serverTimestamp }
    if let value = json["increment"], let number = DocumentNumber(try reader.value(value)) {
      return .increment(number)
    }
    if case .array(let values) = json["appendMissingElements"]?["values"] {
      return .arrayUnion(try values.map { try reader.value($0) })
    }
    if case .array(let values) = json["removeAllFromArray"]?["values"] {
      return .arrayRemove(try values.map { try reader.value($0) })
    }
    throw SpecError("unknown transform \(json)")
  }
}
