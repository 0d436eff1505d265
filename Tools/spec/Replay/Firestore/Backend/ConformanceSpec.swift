import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery

/// Requests that client libraries send: made by our client, and put to a server in memory.
enum ConformanceSpec: FirestoreSpecGroup {
  static let name = "conformance"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    SpecReport(
      try recordings.cases("conformance/tests.json").map { recorded in
        let name = recorded["name"]?.text ?? "?"
        let reason = otherChecks[name].map { "libraries for servers alone check \($0)" }
        return SpecReport.Entry(
          name: name, verdict: reason.map { .skipped($0) } ?? verdict(on: recorded))
      })
  }

  /// Arguments that libraries for servers reject, and those for apps, as ours, accept.
  private static let otherChecks = [
    "conformance/query-wrong-collection": "the collection of a cursor's document",
    "conformance/set-del-nomerge": "fields that the mask leaves out",
    "conformance/set-merge-prefix": "for paths of a mask inside others",
    "conformance/update-exists-true-precond": "an update for a precondition it has anyway",
    "conformance/update-paths-exists-true-precond": "an update for a precondition it has anyway",
  ]

  private static let kinds = [
    "create", "set", "update", "updatePaths", "delete", "get", "query", "listen",
  ]

  private static func verdict(on recorded: JSONValue) -> SpecReport.Verdict {
    guard let kind = kinds.first(where: { recorded[$0] != nil }), let test = recorded[kind] else {
      return .failed("  no kind of test")
    }
    do {
      if test["isError"] == .bool(true) { return try mistake(kind, test) }
      if let difference = try difference(kind, test) { return .failed(difference) }
      switch kind {
      case "listen":
        return .skipped("what a client makes of a watch stream, which `tern-spec documents` plays")
      case "query": return try query(test)
      case "get": return try get(test)
      default: return try write(test)
      }
    } catch {
      return .failed("  \(error)")
    }
  }

  /// Arguments that no request is made of.
  private static func mistake(_ kind: String, _ test: JSONValue) throws -> SpecReport.Verdict {
    switch kind {
    case "listen": return .skipped("a stream that breaks the protocol")
    case "query":
      guard let query = try? ConformanceQuery.query(test, in: server().database) else {
        return .passed
      }
      return .failed("  expected a rejection, found \(query.id)")
    default:
      guard let made = try? ConformanceInput.mutation(kind, test) else { return .passed }
      return .failed("  expected a rejection, found \(made)")
    }
  }

  /// Compares what our client sends with what was recorded.
  private static func difference(_ kind: String, _ test: JSONValue) throws -> String? {
    switch kind {
    case "listen", "get": return nil
    case "query":
      let made = try ConformanceQuery.query(test, in: server().database)
      let recorded = try ConformanceQuery.recorded(test)
      let isSame = made.id == recorded.id && made.selection == recorded.selection
      return isSame ? nil : "  expected \(recorded.id)\n  found    \(made.id)"
    default:
      let made = try ConformanceInput.mutation(kind, test)
      let recorded = try ConformanceInput.writes(of: test["request"] ?? .null)
      let isSame = recorded.map(\.trimmed) == [made.trimmed]
      return isSame ? nil : "  expected \(recorded)\n  found    \(made)"
    }
  }

  private static func server() throws -> SpecServer {
    try SpecServer(try DocumentDatabase(projectID: "projectID"))
  }

  private static func get(_ test: JSONValue) throws -> SpecReport.Verdict {
    let outcome = try server().call(.getDocument, test["request"] ?? .null)
    return outcome.failure?.code == .notFound
      ? .passed : .failed("  found \(outcome), expected that the document is missing")
  }

  private static func query(_ test: JSONValue) throws -> SpecReport.Verdict {
    guard let path = test["collPath"]?.text, let slash = path.lastIndex(of: "/") else {
      return .failed("  a query has a collection")
    }
    let outcome = try server().call(
      .runQuery,
      .record([
        "parent": .string(String(path[..<slash])), "structuredQuery": test["query"] ?? .null,
      ]))
    if let failure = outcome.failure { return .failed("  \(failure)") }
    return .passed
  }

  /// Makes the writes, on a document where their precondition wants one.
  private static func write(_ test: JSONValue) throws -> SpecReport.Verdict {
    let server = try server()
    let request = test["request"] ?? .null
    let writes = try request["writes"]?.list ?? []
    let precondition = writes.first?["currentDocument"]
    let name = test["docRefPath"] ?? .null
    if precondition?["exists"] == .bool(true) {
      let update = JSONValue.record(["name": name, "fields": .object([])])
      _ = try server.call(
        .commit,
        .record([
          "database": request["database"] ?? .null,
          "writes": .array([.record(["update": update])]),
        ]))
    }
    let outcome = try server.call(.commit, request)
    if precondition?["updateTime"] != nil {
      return outcome.failure?.code == .failedPrecondition
        ? .passed : .failed("  expected that the precondition does not hold, found \(outcome)")
    }
    if let failure = outcome.failure { return .failed("  \(failure)") }
    guard case .commit(let results, _)? = outcome.responses.first, results.count == writes.count
    else { return .failed("  expected a result for each of \(writes.count) writes") }
    return try fields(test, writes, name, server)
  }

  /// Compares the document with the fields that were written, transforms aside.
  private static func fields(
    _ test: JSONValue, _ writes: [JSONValue], _ name: JSONValue, _ server: SpecServer
  ) throws -> SpecReport.Verdict {
    guard writes.count == 1, let update = writes[0]["update"] else { return .passed }
    let outcome = try server.call(.getDocument, .record(["name": name]))
    guard case .document(let document)? = outcome.responses.first else {
      return .failed("  \(outcome)")
    }
    let bytes = try DocumentJSON.binary(.document, json: Array(update.json.utf8))
    guard
      case .document(let written) = try DocumentResponse.decode(
        .updateDocument, bytes, DocumentNames(server.database))
    else { return .failed("  the update has no document") }
    let transforms = try (writes[0]["updateTransforms"]?.list ?? []).compactMap {
      $0["fieldPath"]?.text
    }
    for entry in written.fields?.map.entries ?? [] {
      let path = DocumentFieldPath(unchecked: [entry.name])
      if transforms.contains(where: { $0.hasPrefix(entry.name) }) { continue }
      if document.fields?[path] != entry.value {
        let found = document.fields?[path].map { "\($0)" } ?? "nothing"
        return .failed("  \(path): expected \(entry.value), found \(found)")
      }
    }
    for path in transforms {
      if document.fields?[try DocumentFieldPath(wire: path)] == nil {
        return .failed("  \(path) was not transformed")
      }
    }
    return .passed
  }
}

extension DocumentMutation {
  /// The same write without maps that hold nothing but transformed fields. Libraries for servers
  /// leave them out, those for apps, as ours, keep them; the transforms make them either way.
  fileprivate var trimmed: DocumentMutation {
    let paths = transforms.map { $0.path.names[...] }
    let change: Change
    switch self.change {
    case .set(let fields): change = .set(DocumentFields(fields.map.trimmed(paths)))
    case .patch(let fields, let mask):
      change = .patch(DocumentFields(fields.map.trimmed(paths)), mask: mask)
    case .delete, .verify: change = self.change
    }
    return DocumentMutation(key, change, precondition: precondition, transforms: transforms)
  }
}

extension DocumentMap {
  fileprivate func trimmed(_ transformed: [ArraySlice<String>]) -> DocumentMap {
    DocumentMap(
      entries.compactMap { entry in
        let below = transformed.filter { $0.count > 1 && $0.first == entry.name }
        guard !below.isEmpty, case .map(let inner) = entry.value else {
          return (entry.name, entry.value)
        }
        let rest = inner.trimmed(below.map { $0.dropFirst() })
        return rest.isEmpty ? nil : (entry.name, .map(rest))
      })
  }
}
