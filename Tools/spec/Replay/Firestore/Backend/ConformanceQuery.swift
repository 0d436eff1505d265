import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery

/// The queries of conformance tests as our client makes them.
enum ConformanceQuery {
  /// Makes the query of a test as a server reads it.
  ///
  /// - Throws: The rule that its clauses break.
  static func query(_ test: JSONValue, in database: DocumentDatabase) throws -> DocumentQuery {
    let path = test["collPath"]?.text ?? ""
    let prefix = database.documentsName + "/"
    var query = DocumentQuery.collection(try CollectionPath(String(path.dropFirst(prefix.count))))
    // The order comes before cursors, whatever the recording's library allows.
    for clause in try test["clauses"]?.list ?? [] {
      try apply(clause, to: &query, database)
    }
    try query.checkExecutable()
    let request = DocumentRequest(.query(query, .now), in: database)
    return try read(request.encode())
  }

  /// The query that a recording sends.
  static func recorded(_ test: JSONValue) throws -> DocumentQuery {
    let path = test["collPath"]?.text ?? ""
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    let request = JSONValue.record([
      "parent": .string(parent), "structuredQuery": test["query"] ?? .null,
    ])
    return try read(
      try DocumentJSON.binary(.request(.runQuery), json: Array(request.json.utf8)))
  }

  private static func read(_ bytes: [UInt8]) throws -> DocumentQuery {
    guard case .query(let query, _) = try DocumentRequest.decode(.runQuery, bytes).body else {
      throw SpecError("no query")
    }
    return query
  }

  private static func apply(
    _ clause: JSONValue, to query: inout DocumentQuery, _ database: DocumentDatabase
  ) throws {
    guard case .object(let members) = clause, let member = members.first else {
      throw SpecError("a clause says what it is")
    }
    let value = member.value
    switch member.name {
    case "select":
      query = query.selecting(
        try (value["fields"]?.list ?? []).map { try ConformanceInput.path($0) })
    case "where": query = try filtered(query, value, database)
    case "orderBy":
      query = try query.ordered(
        by: try ConformanceInput.path(value["path"] ?? .null),
        isDescending: value["direction"]?.text == "desc")
    case "offset": query = try query.skipping(Int(try value.number))
    case "limit": query = try query.first(Int(try value.number))
    case "startAt", "startAfter", "endAt", "endBefore":
      query = try bounded(query, member.name, value, database)
    default: throw SpecError("no clause is called \(member.name)")
    }
  }

  private static func filtered(
    _ query: DocumentQuery, _ value: JSONValue, _ database: DocumentDatabase
  ) throws -> DocumentQuery {
    let names = ["array-contains": DocumentOperator.arrayContains]
    let name = value["op"]?.text ?? ""
    guard let comparison = names[name] ?? DocumentOperator(rawValue: name) else {
      throw SpecError("no operator is called \(name)")
    }
    let operand = try ConformanceInput.value(
      try JSONValue(parsing: Array((value["jsonValue"]?.text ?? "null").utf8)))
    if comparison != .equal, comparison != .notEqual,
      operand == .null || operand == .double(.nan)
    {
      throw SpecError("a range is over values that compare")
    }
    return try query.where(
      try ConformanceInput.path(value["path"] ?? .null), comparison, operand)
  }

  private static func bounded(
    _ query: DocumentQuery, _ name: String, _ value: JSONValue, _ database: DocumentDatabase
  ) throws -> DocumentQuery {
    let isInclusive = name == "startAt" || name == "endAt"
    let isStart = name.hasPrefix("start")
    if let snapshot = value["docSnapshot"] {
      let fields = try ConformanceInput.value(
        try JSONValue(parsing: Array((snapshot["jsonData"]?.text ?? "{}").utf8)))
      guard case .map(let map) = fields else { throw SpecError("fields are a map") }
      let name = try DocumentName(resourceName: snapshot["path"]?.text ?? "")
      let document = Document(name.key, .found(DocumentFields(map)))
      return isStart
        ? try query.starting(at: document, in: database, isInclusive: isInclusive)
        : try query.ending(at: document, in: database, isInclusive: isInclusive)
    }
    let values = try (value["jsonValues"]?.list ?? []).map {
      try ConformanceInput.value(try JSONValue(parsing: Array(($0.text ?? "null").utf8)))
    }
    let resolved = try query.resolved(cursor: values, in: database)
    return isStart
      ? try query.starting(at: resolved, isInclusive: isInclusive)
      : try query.ending(at: resolved, isInclusive: isInclusive)
  }
}
