import TernCore
import TernQuery
import TernSecurity
import TernServer

/// A request to read or write data, understood.
///
/// Source: realtime reference, sections 11.1 and 11.2.
struct RESTRequest: Sendable {
  /// The operation on the data.
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"

    var isRead: Bool { self == .get || self == .head }
  }

  /// The method after any override.
  let method: Method
  let path: TreePath
  let parameters: RESTParameters
  /// The request to the server.
  let asked: DirectRequest
  /// True when the request reads by a query, so that an empty result is an empty object.
  let isOrdered: Bool
  /// True when the answer has the entity tag of the data.
  let wantsTag: Bool
  /// The states of the data that the client has already, as it lists them.
  let knownTags: String?

  /// Understands a request whose path ends in `.json`.
  ///
  /// - Throws: 400 for a path, a parameter, a query or a body that cannot be read, or for
  ///   conditions that the method does not have; 405 for a method.
  /// - Complexity: O(*n*) in the bytes of the body; ``LargeRequest`` reads large ones elsewhere.
  init(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) throws(RESTError) {
    method = try Self.method(request, target)
    path = try Self.path(target)
    parameters = try RESTParameters(target)
    let asksForTag = request.headers["x-firebase-etag"]?.lowercased() == "true"
    // Who writes over a known state wants to know the next one.
    wantsTag = asksForTag || request.headers["if-match"] != nil
    knownTags = request.headers["if-none-match"]
    isOrdered = target["orderBy"] != nil
    let expected = try Self.expectedHash(request, method)
    if asksForTag, method == .patch { throw .invalid("ETags are not supported for PATCH requests") }
    if expected != nil, parameters.print == .silent {
      throw .invalid("if-match is not supported together with print=silent")
    }
    let operation: DirectRequest.Operation
    switch method {
    case .get, .head:
      // An export goes out as it is read: what needs the whole text, or its hash, cannot be one.
      let isPlain = parameters.print == .plain && parameters.callback == nil
      operation = try Self.reading(
        target, path, parameters, mayExport: isPlain && !wantsTag && knownTags == nil)
    case .put:
      operation = .write(.set(path, try Self.node(request.body)), expectedHash: expected)
    case .delete: operation = .write(.set(path, .empty), expectedHash: expected)
    case .post: operation = .push(path, try Self.node(request.body))
    case .patch: operation = .write(try Self.update(request.body, at: path), expectedHash: nil)
    }
    asked = DirectRequest(
      namespace: caller.namespace, isLocal: caller.isLocal, address: caller.address,
      credential: try Credential.shown(by: request, target, isLocal: caller.isLocal),
      sizeLimit: parameters.sizeLimit, operation)
  }

  /// The method, or the one that stands in its place for clients that cannot send it.
  private static func method(
    _ request: HTTPRequest, _ target: RequestTarget
  ) throws(RESTError) -> Method {
    var name = request.method
    if name == "POST" {
      name = request.headers["x-http-method-override"] ?? target["x-http-method-override"] ?? name
    }
    guard let method = Method(rawValue: name.uppercased()) else {
      throw .notAllowed(
        "The method \(name) is not supported.", allowing: "GET, HEAD, PUT, POST, PATCH, DELETE")
    }
    return method
  }

  /// The path before `.json`.
  static func path(_ target: RequestTarget) throws(RESTError) -> TreePath {
    do throws(TreeError) {
      return try TreePath(writable: String(target.path.dropLast(suffix.count)))
    } catch {
      throw .badPath
    }
  }

  /// The suffix of paths of data.
  static let suffix = ".json"

  /// Returns the hash that `if-match` demands; `nil` without the field.
  private static func expectedHash(
    _ request: HTTPRequest, _ method: Method
  ) throws(RESTError) -> String? {
    guard let tag = request.headers["if-match"] else { return nil }
    guard method == .put || method == .delete else {
      throw .invalid("if-match is not supported for \(method.rawValue) requests")
    }
    return EntityTag.hash(of: tag)
  }

  /// Returns the operation of a read.
  ///
  /// - Parameter mayExport: True when the answer may be sent piece by piece, if it is large.
  private static func reading(
    _ target: RequestTarget, _ path: TreePath, _ parameters: RESTParameters, mayExport: Bool
  ) throws(RESTError) -> DirectRequest.Operation {
    guard parameters.isShallow else {
      let query = try RESTQuery.query(target)
      let isWhole = mayExport && query.loadsAllData && target["orderBy"] == nil
      return isWhole && !path.namesPriority ? .readOrExport(path) : .read(path, query)
    }
    // Names come in the order of keys, so a shallow read can only be paged by keys, forwards.
    let byKey = target["orderBy"] == nil || target["orderBy"] == "\"$key\""
    let refused = RESTQuery.bounds.filter { $0 != "startAfter" } + ["limitToLast"]
    guard byKey, refused.allSatisfy({ target[$0] == nil }), target["callback"] == nil,
      parameters.form == .value
    else { throw .invalid("Mixing 'shallow' and querying parameters is not supported") }
    var after: TreeKey?
    if let text = target["startAfter"] {
      guard let name = (try? JSONValue(parsing: text))?.text, let key = try? TreeKey(name) else {
        throw .invalid("startAfter must be a valid JSON encoded key")
      }
      after = key
    }
    let limit = try target["limitToFirst"].map { text throws(RESTError) in
      try RESTQuery.limit("limitToFirst", text)
    }
    return .names(path, after: after, limit: limit)
  }

  /// Reads the data of a write, with server values; they are resolved by the server.
  private static func node(_ body: [UInt8]) throws(RESTError) -> TreeNode {
    do throws(TreeError) {
      return try TreeNode(json: body)
    } catch {
      throw error == .invalidServerValue ? .invalid("Invalid data; unknown server value") : .noValue
    }
  }

  /// The several writes of an update; `null` deletes what is at the path itself.
  private static func update(_ body: [UInt8], at path: TreePath) throws(RESTError) -> TreeWrite {
    do throws(TreeError) {
      var reader = JSONReader(body)
      do throws(JSONError) {
        if try reader.peek() == .null {
          _ = try reader.boolOrNull()
          try reader.finish()
          return .set(path, .empty)
        }
      } catch {
        throw TreeError.json(error)
      }
      let merge = try TreeMerge(json: &reader)
      return .merge(path, merge)
    } catch {
      if case .overlappingPaths(let first, let second) = error {
        throw .invalid("Invalid data; /\(first) and /\(second) overlap.")
      }
      throw error == .invalidServerValue
        ? .invalid("Invalid data; unknown server value") : .noUpdate
    }
  }
}

extension TreeMerge {
  /// Reads the whole text of an object of paths and nodes.
  fileprivate init(json reader: inout JSONReader) throws(TreeError) {
    var entries: [Entry] = []
    do throws(JSONError) { try reader.beginObject() } catch { throw .json(error) }
    while true {
      let name: String?
      let before = reader.loneSurrogates
      do throws(JSONError) { name = try reader.nextKey() } catch { throw .json(error) }
      guard let name else { break }
      // A key with half a character cannot be stored as UTF-8.
      if reader.loneSurrogates > before { throw .invalidKey(name) }
      let path = try TreePath(writable: name)
      entries.append(Entry(path: path, node: try TreeNode(reading: &reader)))
    }
    do throws(JSONError) { try reader.finish() } catch { throw .json(error) }
    try self.init(entries)
  }
}

/// The entity tag of data in a header: its hash.
enum EntityTag {
  /// Names the state of having no data.
  static let none = "null_etag"

  /// Returns the tag of data. O(*n*) in the data at the most.
  static func tag(of node: TreeNode) -> String { node.isEmpty ? none : node.hash }

  /// The hash a tag stands for, as conditional writes expect it.
  static func hash(of tag: String) -> String {
    let bare =
      tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 1
      ? String(tag.dropFirst().dropLast()) : tag
    return bare == none ? "" : bare
  }

  /// Returns true when one of the tags a client lists names the same state.
  ///
  /// Proxies that compress mark the tags they pass on as weak (`W/"…"`); they count.
  static func isListed(_ tag: String, in list: String) -> Bool {
    list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).contains { one in
      if one == "*" { return tag != none }
      return hash(of: String(one.hasPrefix("W/") ? one.dropFirst(2) : one)) == hash(of: tag)
    }
  }
}
