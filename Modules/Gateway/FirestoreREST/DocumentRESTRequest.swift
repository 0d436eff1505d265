import TernCore
import TernDocumentJSON
import TernDocumentWire

/// A request to the documents' REST service, checked but for its body.
///
/// Source: Firestore server reference, section 3.
struct DocumentRESTRequest: Sendable {
  let route: DocumentRoute
  let parameters: DocumentRESTParameters
  /// The members that path and query bind.
  let members: [UInt8]
  /// The body as JSON; empty for none.
  private(set) var body: [UInt8]
  /// The compression of the body; `nil` for none.
  private(set) var coding: MessageCoding?
  /// The value of the `authorization` metadata; `nil` for anonymous requests.
  let authorization: String?

  var method: DocumentMethod { route.method }

  /// Returns the bytes that the database decides about.
  func message() throws(DocumentRESTError) -> [UInt8] {
    do throws(MessageJSONError) {
      return try DocumentJSON.request(method, members: members, body: body)
    } catch {
      throw DocumentRESTError(error)
    }
  }
}

extension DocumentRESTRequest {
  /// The outcome of reading a request.
  enum Reading: Sendable {
    case call(DocumentRESTRequest)
    /// The answer needs no call.
    case answer(HTTPResponse)
  }

  /// Understands a request.
  ///
  /// Nothing is charged, and the body is not looked at except for a form in the place of a query.
  static func read(_ request: HTTPRequest, _ target: RequestTarget) -> Reading {
    var (method, target, body) = (request.method, target, request.body)
    if method == "POST", let other = request.headers["x-http-method-override"] {
      method = other.uppercased()
      if method == "GET", isForm(request) {
        // A query that is too long for an address.
        guard let form = RequestTarget("/?" + String(decoding: body, as: UTF8.self)) else {
          let error = DocumentRESTError(.invalidArgument, "The form is malformed.")
          return .answer(error.response(isStream: false))
        }
        target = target.adding(form.parameters)
        body = []
      }
    }
    if method == "HEAD" { method = "GET" }
    let rawPath = request.target.prefix { $0 != "?" }
    switch DocumentRoute.match(method, target, rawPath: rawPath) {
    case .none: return .answer(DocumentRESTError.notFound)
    case .database(let name): return .answer(databaseAnswer(name))
    case .unserved(let verb):
      let error = DocumentRESTError(.unimplemented, "\(verb) is not served over REST.")
      return .answer(error.response(isStream: verb == "executePipeline"))
    case .call(let route):
      do throws(DocumentRESTError) {
        return .call(try DocumentRESTRequest(route, request, target, body))
      } catch {
        let isPretty = target["prettyPrint"] == "true" || target["$prettyPrint"] == "true"
        return .answer(
          error.response(isStream: route.method.streamsResponses, isPretty: isPretty))
      }
    }
  }

  private init(
    _ route: DocumentRoute, _ request: HTTPRequest, _ target: RequestTarget, _ body: [UInt8]
  ) throws(DocumentRESTError) {
    if let name = request.headers["content-encoding"], name.lowercased() != "identity" {
      coding = MessageCoding(header: name)
      if coding == nil {
        throw DocumentRESTError(
          .invalidArgument, "Bodies are read plain, or as \(MessageCoding.accepted).")
      }
    }
    self.route = route
    parameters = try DocumentRESTParameters(target.parameters)
    var members = DocumentRESTMembers()
    route.bind(into: &members)
    for parameter in parameters.bindings { try members.bind(parameter, of: route.method) }
    self.members = members.json
    self.body = route.method.hasBody ? body : []
    authorization = request.headers["authorization"] ?? parameters.token.map { "Bearer \($0)" }
  }

  /// Decompresses the body.
  ///
  /// - Throws: 400 for a body that does not decompress, or to more than
  ///   ``DocumentRESTError/bodyBytes``. Does nothing for plain bodies.
  mutating func decompress() throws(DocumentRESTError) {
    guard let coding = exchange(&coding, with: nil), !body.isEmpty else { return }
    do throws(MessageCoding.Failure) {
      body = try coding.decompress(body, limit: DocumentRESTError.bodyBytes)
    } catch {
      switch error {
      case .invalid: throw DocumentRESTError(.invalidArgument, "The body does not decompress.")
      case .tooLarge(let limit): throw DocumentRESTError.tooLarge(limitBytes: limit)
      }
    }
  }

  private static func isForm(_ request: HTTPRequest) -> Bool {
    request.headers["content-type"]?.lowercased().hasPrefix("application/x-www-form-urlencoded")
      ?? false
  }

  /// The description of a database, as far as clients look at it.
  private static func databaseAnswer(_ name: String) -> HTTPResponse {
    let json = JSONValue.object([
      .init("name", .string(name)), .init("type", .string("FIRESTORE_NATIVE")),
      .init("databaseEdition", .string("STANDARD")),
      .init("concurrencyMode", .string("OPTIMISTIC")),
    ])
    return HTTPResponse(
      status: 200, headers: [("Content-Type", DocumentRESTError.jsonType)], body: json.bytes)
  }
}

extension DocumentRoute {
  /// Binds what the path names.
  func bind(into members: inout DocumentRESTMembers) {
    switch method {
    case .getDocument, .deleteDocument: members.set("name", to: .string(resource))
    case .listDocuments, .createDocument:
      members.set("parent", to: .string(name(of: segments.dropLast())))
      members.set("collectionId", to: .string(segments.last.map(String.init) ?? ""))
    case .updateDocument: members.set("document", "name", to: .string(resource))
    case .batchGetDocuments, .beginTransaction, .commit, .rollback, .batchWrite:
      members.set("database", to: .string(database))
    case .runQuery, .runAggregationQuery, .partitionQuery, .listCollectionIDs:
      members.set("parent", to: .string(resource))
    case .write, .listen: break
    }
  }
}

extension DocumentMethod {
  /// True for methods whose message, or a part of it, is the body.
  fileprivate var hasBody: Bool {
    switch self {
    case .getDocument, .listDocuments, .deleteDocument: false
    default: true
    }
  }
}
