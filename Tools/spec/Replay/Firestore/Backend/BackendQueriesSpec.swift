import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery

/// Queries that the real service answered, run against a server in memory.
enum BackendQueriesSpec: FirestoreSpecGroup {
  static let name = "backend-queries"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    var entries: [SpecReport.Entry] = []
    for trace in try recordings.cases("backend-queries/traces.json") {
      let servers = try (trace["databases"]?.list ?? []).map(server)
      for recorded in try trace["cases"]?.list ?? [] {
        let index = Int(try recorded["db"]?.number ?? 0)
        entries.append(
          SpecReport.Entry(
            name: recorded["name"]?.text ?? "?", verdict: verdict(on: recorded, servers[index])))
      }
    }
    return SpecReport(entries)
  }

  /// The most writes of one commit.
  private static let commitWrites = 100

  private static func server(_ documents: JSONValue) throws -> SpecServer {
    let server = try SpecServer(try DocumentDatabase(projectID: "example.com:id"))
    var rest = try documents.list[...]
    while !rest.isEmpty {
      let writes = try rest.prefix(commitWrites).map { document -> JSONValue in
        let written = JSONValue.record([
          "name": document["name"] ?? .null,
          "fields": try writable(document["fields"] ?? .object([])),
        ])
        return .record(["update": written])
      }
      rest = rest.dropFirst(commitWrites)
      let outcome = try server.call(
        .commit,
        .record([
          "database": .string(server.database.resourceName), "writes": .array(writes),
        ]))
      if let failure = outcome.failure { throw SpecError("cannot load documents: \(failure)") }
    }
    return server
  }

  /// Returns fields as a client can write them.
  ///
  /// One recording holds values of the service's predecessor: maps with reserved names, and a
  /// reference into a namespace. They take names that sort alike.
  private static func writable(_ fields: JSONValue) throws -> JSONValue {
    let text = fields.json
    guard text.contains("\"__type__\":") else { return fields }
    let written = [
      ("\"__type__\":", "\"__type_\":"), ("\"__name__\":", "\"__name_\":"),
      ("documents@some_namespace/", "documents/"),
    ].reduce(text) { text, names in text.replacing(names.0, with: names.1) }
    return try JSONValue(parsing: Array(written.utf8))
  }

  private static func verdict(
    on recorded: JSONValue, _ server: SpecServer
  ) -> SpecReport.Verdict {
    switch recorded["group"]?.text {
    case "truncation": return .skipped("whole values are compared, not those an index has cut")
    case "error-index": return .skipped("no query needs an index here")
    case "error-obsolete": return .skipped("the service has lifted the restriction since")
    default: break
    }
    if recorded["error"] == nil, recorded.json.contains("/documents@") {
      return .skipped("namespaces are a part of the service's predecessor")
    }
    do {
      let differences = try differences(of: recorded, server)
      if differences.isEmpty { return .passed }
      let query = recorded["structuredQuery"]?.json.prefix(600) ?? ""
      return .failed("  \(query)\n" + differences.map { "    \($0)\n" }.joined())
    } catch {
      return .failed("  \(error)")
    }
  }

  private static func differences(
    of recorded: JSONValue, _ server: SpecServer
  ) throws -> [String] {
    let query = recorded["structuredQuery"] ?? .object([])
    var request = [
      JSONValue.Member("parent", recorded["parent"] ?? .null),
      JSONValue.Member("structuredQuery", query),
    ]
    if let options = recorded["newTransaction"] {
      request.append(JSONValue.Member("newTransaction", options))
    }
    let outcome = try server.call(.runQuery, .object(request))
    if let error = recorded["error"] {
      let expected = try error.status
      if outcome.failure?.code == expected.code { return [] }
      return ["expected \(expected)", "found \(outcome.failure.map { "\($0)" } ?? "a result")"]
    }
    if let failure = outcome.failure { return ["found \(failure)"] }
    let answers = outcome.responses.compactMap { response -> DocumentQueryAnswer? in
      if case .query(let answer) = response { answer } else { nil }
    }
    var differences: [String] = []
    func compare(_ what: String, _ expected: String, _ found: String) {
      if expected != found {
        differences.append("\(what): expected \(expected)")
        differences.append("\(what): found    \(found)")
      }
    }
    let expected = try recorded["results"]?.list ?? []
    let documents = answers.compactMap(\.document)
    compare(
      "results", "\(try expected.map { try path(of: $0, server) })",
      "\(documents.map(\.key.text))")
    if query["select"] != nil {
      for (document, wanted) in zip(documents, expected) {
        compare(
          document.key.text, "\(try fields(of: wanted, server))",
          "\(document.fields?.map ?? DocumentMap())")
      }
    }
    if let count = try recorded["messages"]?.number {
      compare("messages", "\(count)", "\(answers.count)")
    }
    if recorded["transactionFirst"] == .bool(true) {
      let isFirst = answers.first?.transaction.isEmpty == false && answers[0].readTime == .none
      compare("transaction alone first", "true", "\(isFirst)")
    }
    let skipped = answers.reduce(0) { $0 + $1.skipped }
    compare("skipped", "\(try recorded["skippedResults"]?.number ?? 0)", "\(skipped)")
    return differences
  }

  private static func path(of result: JSONValue, _ server: SpecServer) throws -> String {
    let name = result.text ?? result["name"]?.text ?? ""
    let prefix = server.database.documentsName + "/"
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  private static func fields(of result: JSONValue, _ server: SpecServer) throws -> DocumentMap {
    guard let fields = result["fields"] else { return DocumentMap() }
    let document = JSONValue.record([
      "name": .string(server.database.documentsName + "/c/d"), "fields": fields,
    ])
    let bytes = try DocumentJSON.binary(.document, json: Array(document.json.utf8))
    guard
      case .document(let read) = try DocumentResponse.decode(
        .getDocument, bytes, DocumentNames(server.database))
    else { return DocumentMap() }
    return read.fields?.map ?? DocumentMap()
  }
}
