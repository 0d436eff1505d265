import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery

/// The writes of conformance tests as our client makes them.
enum ConformanceInput {
  /// Makes the write of a test.
  ///
  /// - Throws: The rule that its arguments break.
  static func mutation(_ kind: String, _ test: JSONValue) throws -> DocumentMutation {
    let name = try DocumentName(resourceName: test["docRefPath"]?.text ?? "")
    let made: DocumentMutation
    switch kind {
    case "create": made = try .create(name.key, with: fields(test))
    case "set": made = try set(name.key, test)
    case "update": made = try .update(name.key, assignments(test))
    case "updatePaths": made = try .update(name.key, pathAssignments(test))
    case "delete": made = .delete(name.key)
    default: throw SpecError("no kind of write is called \(kind)")
    }
    guard let precondition = test["precondition"] else { return made }
    if kind != "delete", let exists = precondition["exists"] {
      guard exists == .bool(true) else { throw SpecError("an update is of what exists") }
      return made
    }
    if precondition["exists"] != nil {
      return made.requiring(.exists(precondition["exists"] == .bool(true)))
    }
    return made.requiring(try version(precondition))
  }

  /// The writes that a recorded request consists of.
  static func writes(of request: JSONValue) throws -> [DocumentMutation] {
    let bytes = try DocumentJSON.binary(.request(.commit), json: Array(request.json.utf8))
    guard case .commit(let writes, _, _) = try DocumentRequest.decode(.commit, bytes).body else {
      return []
    }
    return writes
  }

  private static func version(_ precondition: JSONValue) throws -> DocumentPrecondition {
    let write = JSONValue.record([
      "delete": .string("projects/projectID/databases/(default)/documents/C/d"),
      "currentDocument": precondition,
    ])
    let request = JSONValue.record([
      "database": .string("projects/projectID/databases/(default)"), "writes": .array([write]),
    ])
    return try writes(of: request).first?.precondition ?? .none
  }

  private static func set(_ key: DocumentKey, _ test: JSONValue) throws -> DocumentMutation {
    guard let option = test["option"] else { return try .set(key, to: fields(test)) }
    if option["all"] == .bool(true) { return try .merge(key, with: fields(test)) }
    let paths = try (option["fields"]?.list ?? []).map { try path($0) }
    return try .merge(key, with: fields(test), only: paths)
  }

  private static func data(_ test: JSONValue) throws -> [JSONValue.Member] {
    guard
      case .object(let members) = try JSONValue(
        parsing: Array((test["jsonData"]?.text ?? "{}").utf8))
    else { throw SpecError("data are an object") }
    return members
  }

  private static func fields(_ test: JSONValue) throws -> [DocumentInput.Field] {
    try data(test).map { DocumentInput.Field($0.name, try input($0.value)) }
  }

  private static func assignments(
    _ test: JSONValue
  ) throws -> [(path: DocumentFieldPath, input: DocumentInput)] {
    let members = try data(test)
    if members.isEmpty { throw SpecError("an update has fields") }
    return try members.map { (try DocumentFieldPath(dotted: $0.name), try input($0.value)) }
  }

  private static func pathAssignments(
    _ test: JSONValue
  ) throws -> [(path: DocumentFieldPath, input: DocumentInput)] {
    let paths = try test["fieldPaths"]?.list ?? []
    if paths.isEmpty { throw SpecError("an update has fields") }
    return try zip(paths, try test["jsonValues"]?.list ?? []).map { field, json in
      (try path(field), try input(try JSONValue(parsing: Array((json.text ?? "").utf8))))
    }
  }

  static func path(_ recorded: JSONValue) throws -> DocumentFieldPath {
    try DocumentFieldPath((recorded["field"]?.list ?? []).map { $0.text ?? "" })
  }

  private static func input(_ json: JSONValue) throws -> DocumentInput {
    switch json {
    case .string("Delete"): return .delete
    case .string("ServerTimestamp"): return .serverTimestamp
    case .array(let elements):
      if elements.first == .string("ArrayUnion") {
        return .arrayUnion(try elements.dropFirst().map { try value($0) })
      }
      if elements.first == .string("ArrayRemove") {
        return .arrayRemove(try elements.dropFirst().map { try value($0) })
      }
      return .array(try elements.map(input))
    case .object(let members):
      return .map(try members.map { DocumentInput.Field($0.name, try input($0.value)) })
    default: return .value(try value(json))
    }
  }

  /// A value without sentinels in it.
  static func value(_ json: JSONValue) throws -> DocumentValue {
    switch json {
    case .string("NaN"): return .double(.nan)
    case .string("Delete"), .string("ServerTimestamp"):
      throw SpecError("a sentinel is no value")
    case .array(let elements):
      if elements.first == .string("ArrayUnion") || elements.first == .string("ArrayRemove") {
        throw SpecError("a sentinel is no value")
      }
      return .array(try elements.map(value))
    case .object(let members):
      return .map(DocumentMap(try members.map { ($0.name, try value($0.value)) }))
    default: return json.documentValue
    }
  }
}
