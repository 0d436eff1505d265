import TernDocumentWire

/// The method that a request to `/v1/…` calls, and what its path names.
///
/// Source: Firestore server reference, section 3.1.
struct DocumentRoute: Equatable, Sendable {
  /// The called method.
  let method: DocumentMethod
  /// The database, `projects/P/databases/D`.
  let database: String
  /// The segments behind `documents`, decoded.
  let segments: [Substring]

  /// The prefixes of the versions of the service, which are the same here.
  static let prefixes = ["/v1/projects/", "/v1beta1/projects/"]

  /// Returns true for paths of the documents' service: a database, or what lies in one.
  static func serves(_ path: String) -> Bool {
    guard let prefix = prefixes.first(where: { path.hasPrefix($0) }) else { return false }
    let parts = path.dropFirst(prefix.count)
      .split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 3 && parts[1] == "databases"
  }

  /// The outcome of routing.
  enum Match: Equatable, Sendable {
    case call(DocumentRoute)
    /// A read of the database itself, which clients make to see that it is there.
    case database(String)
    /// A method of the protocol that HTTP/1.1 cannot carry, or that is not served.
    case unserved(String)
    case none
  }

  /// Routes a request.
  ///
  /// - Parameters:
  ///   - httpMethod: The method, after any override.
  ///   - target: The decoded target. An encoded slash divides segments as a plain one does.
  ///   - rawPath: The path as it was sent: a verb is not encoded.
  static func match(_ httpMethod: String, _ target: RequestTarget, rawPath: some StringProtocol)
    -> Match
  {
    guard let prefix = prefixes.first(where: { target.path.hasPrefix($0) }) else { return .none }
    var path = target.path.dropFirst(prefix.count - "projects/".count)
    var verb: Substring?
    if httpMethod == "POST", let raw = rawVerb(rawPath), path.hasSuffix(":\(raw)") {
      verb = path.suffix(raw.count)
      path = path.dropLast(raw.count + 1)
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[2] == "databases", !parts[1].isEmpty, !parts[3].isEmpty else {
      return .none
    }
    let database = parts[..<4].joined(separator: "/")
    guard parts.count > 4 else {
      return httpMethod == "GET" && verb == nil ? .database(database) : .none
    }
    guard parts[4] == "documents" else { return .none }
    let segments = Array(parts.dropFirst(5))
    // A slash at the end names nothing.
    guard segments.last != "" else { return .none }
    if let verb { return match(verb, database, segments) }
    guard let method = method(httpMethod, segments) else { return .none }
    return .call(DocumentRoute(method: method, database: database, segments: segments))
  }

  /// Returns the method for a path without a verb. Documents have an even number of segments,
  /// collections an odd one.
  private static func method(_ httpMethod: String, _ segments: [Substring]) -> DocumentMethod? {
    if segments.isEmpty { return nil }
    return switch httpMethod {
    case "GET", "HEAD": segments.count.isMultiple(of: 2) ? .getDocument : .listDocuments
    case "POST": .createDocument
    case "PATCH": .updateDocument
    case "DELETE": .deleteDocument
    default: nil
    }
  }

  /// Routes a path with a verb. The methods of whole databases take no segments.
  private static func match(
    _ verb: Substring, _ database: String, _ segments: [Substring]
  ) -> Match {
    let method: DocumentMethod
    switch verb {
    case "batchGet": method = .batchGetDocuments
    case "beginTransaction": method = .beginTransaction
    case "commit": method = .commit
    case "rollback": method = .rollback
    case "batchWrite": method = .batchWrite
    case "runQuery": method = .runQuery
    case "runAggregationQuery": method = .runAggregationQuery
    case "partitionQuery": method = .partitionQuery
    case "listCollectionIds": method = .listCollectionIDs
    case "listen", "write", "executePipeline":
      return segments.isEmpty ? .unserved(String(verb)) : .none
    default: return .none
    }
    guard segments.isEmpty || takesParent(method) else { return .none }
    return .call(DocumentRoute(method: method, database: database, segments: segments))
  }

  /// Returns true for methods that are called on a document, or on the root.
  private static func takesParent(_ method: DocumentMethod) -> Bool {
    switch method {
    case .runQuery, .runAggregationQuery, .partitionQuery, .listCollectionIDs: true
    default: false
    }
  }

  /// The verb of a path, as it was sent: behind the last colon of its last segment.
  private static func rawVerb(_ path: some StringProtocol) -> Substring? {
    let path = Substring(path)
    guard let colon = path.lastIndex(of: ":"), !path[colon...].contains("/") else { return nil }
    return path[colon...].dropFirst()
  }
}

extension DocumentRoute {
  /// The resource that a message names: the document, the parent or the database.
  var resource: String { name(of: segments) }

  /// The name of a document, or of the root for no segments.
  func name(of segments: some Sequence<Substring>) -> String {
    segments.reduce(into: "\(database)/documents") { name, segment in name += "/\(segment)" }
  }
}
