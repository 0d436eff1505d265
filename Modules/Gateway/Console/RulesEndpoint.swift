import TernCore
import TernSecurity
import TernServer

/// Requests of administrators about rules that Firebase's tools have no endpoint for: checking a
/// text without deploying it, explaining a decision, and the rules of documents.
enum RulesEndpoint {
  private static let prefix = "/-/rules/"

  /// Returns true for the paths served here.
  static func serves(_ path: String) -> Bool { path.hasPrefix(prefix) }

  /// Understands a request.
  ///
  /// `POST check` reads rules and reports errors, `POST explain` decides one question and tells
  /// why, `GET` and `PUT documents` read and set the rules of documents. All are for
  /// administrators, as the server decides.
  ///
  /// - Throws: 404 for another path, 405 for another method, 400 for a parameter or a body.
  static func request(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> DirectRequest {
    var namespace = caller.namespace
    let operation: DirectRequest.Operation
    switch (target.path.dropFirst(prefix.count), request.method) {
    case ("check", "POST"):
      operation = .rules(.check(request.body, try language(target["language"])))
    case ("explain", "POST"):
      let json = try body(request)
      namespace = json["database"]?.text ?? namespace
      operation = .rules(.explain(try question(json)))
    case ("documents", "GET"), ("documents", "HEAD"):
      namespace = try database(target)
      operation = .rules(.readDocuments)
    case ("documents", "PUT"):
      namespace = try database(target)
      operation = .setDocumentRules(request.body, isTrial: target["dryRun"] == "true")
    case ("check", _), ("explain", _):
      throw .notAllowed("The method \(request.method) is not supported here.", allowing: "POST")
    case ("documents", _):
      throw .notAllowed(
        "The method \(request.method) is not supported here.", allowing: "GET, HEAD, PUT")
    default: throw RESTError(404, "There is no such request about rules.")
    }
    return DirectRequest(
      namespace: namespace, isLocal: caller.isLocal, address: caller.address,
      credential: try Credential.shown(by: request, target, isLocal: caller.isLocal), operation)
  }

  /// The answer to the client.
  static func response(to answer: DirectAnswer) -> HTTPResponse {
    let body: [UInt8]
    var type = RESTAnswer.jsonType
    switch answer {
    case .report(let value): body = value.bytes
    case .rules(let text):
      body = text
      type = "text/plain; charset=utf-8"
    case .done: body = Array(#"{"status":"ok"}"#.utf8)
    case .refused(let refusal): return RESTError(refusal).response
    default: return RESTError(500, "The server answered something else.").response
    }
    return HTTPResponse(
      status: 200,
      headers: [
        ("Content-Type", type), ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
      ], body: body)
  }

  private static func language(_ text: String?) throws(RESTError) -> RulesLanguage {
    guard let language = text.flatMap(RulesLanguage.init(rawValue:)) else {
      throw .invalid("language is tree or documents.")
    }
    return language
  }

  /// Reads the parameter `database`: a project, or a database of one.
  private static func database(_ target: RequestTarget) throws(RESTError) -> String {
    let parts = target["database"]?.split(separator: "/", omittingEmptySubsequences: false) ?? []
    let isProject = parts.count == 2 && parts[0] == "projects"
    let isDatabase = parts.count == 4 && parts[0] == "projects" && parts[2] == "databases"
    guard isProject || isDatabase, !parts.contains("") else {
      throw .invalid("database is projects/P or projects/P/databases/D.")
    }
    return target["database"] ?? ""
  }

  private static func body(_ request: HTTPRequest) throws(RESTError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: request.body) } catch {
      throw .invalid("The body is no JSON: \(error.description)")
    }
  }

  /// Reads a question; without `rules`, those in force are asked.
  private static func question(_ json: JSONValue) throws(RESTError) -> RulesQuestion {
    guard let operation = json["operation"]?.text, let path = json["path"]?.text else {
      throw .invalid("operation and path are needed.")
    }
    return RulesQuestion(
      try language(json["language"]?.text), rules: json["rules"]?.text.map { Array($0.utf8) },
      operation: operation, path: path, auth: json["auth"] ?? .null, value: json["value"] ?? .null)
  }
}
