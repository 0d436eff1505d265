import TernCore
import TernSecurity
import TernServer

/// A request about a database and not about its data.
///
/// Source: realtime reference, sections 8.1, 11.6 and 11.7.
enum ManagementRequest {
  /// `GET /.settings/rules.json`; strict for `format=strict`, which leaves comments out.
  case readRules(DirectRequest, isStrict: Bool)
  /// `PUT /.settings/rules.json`; only a check with `dryRun=true`.
  case setRules(DirectRequest)
  /// `GET` or `PUT` of `/.settings/NAME.json`, for the settings that ``DatabaseSettings`` names.
  case setting(DirectRequest)
  /// `GET /.inspect/databases.json`.
  case databases(DirectRequest)
  /// `GET /.settings/revocations.json`.
  case readRevocations(DirectRequest)
  /// `PATCH /.settings/revocations.json`.
  case revoke(DirectRequest)
  /// A client's message about its own connection; over REST there is nothing to switch off.
  case info(JSONValue)

  /// Understands a request; `nil` when it is about data.
  ///
  /// Paths below `/.settings/` and `/.inspect/` never name data, because keys hold no dot. So
  /// an unknown one is an error here.
  ///
  /// - Throws: 404 for an unknown setting, 405 for a method that the path does not take, 400
  ///   for a body or a credential that cannot be read.
  init?(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) throws(RESTError) {
    switch target.path {
    case "/.settings/rules.json": self = try Self.rules(request, target, caller)
    case "/.settings/revocations.json":
      self = try Self.revocations(request, target, caller)
    case let path where Self.setting(path) != nil:
      self = try Self.setting(Self.setting(path), request, target, caller)
    case "/.inspect/databases.json":
      try Self.requireRead(request)
      self = .databases(try Self.asked(.databases, request, target, caller))
    case "/.info.json", "/.info/.json":
      try Self.requireRead(request)
      self = .info(
        .object([.init("connected", .bool(true)), .init("serverTimeOffset", .integer(0))]))
    case "/.info/connected.json":
      try Self.requireRead(request)
      self = .info(.bool(true))
    case "/.info/serverTimeOffset.json":
      try Self.requireRead(request)
      self = .info(.integer(0))
    case let path where path.hasPrefix("/.settings/") || path.hasPrefix("/.inspect/"):
      throw RESTError(404, "There is no such setting.")
    default: return nil
    }
  }

  /// - Throws: 405 for any method other than `GET` and `HEAD`.
  private static func requireRead(_ request: HTTPRequest) throws(RESTError) {
    guard request.method == "GET" || request.method == "HEAD" else {
      throw .notAllowed("This can only be read.", allowing: "GET, HEAD")
    }
  }

  /// Reads or sets the rules of the database. The text of new rules is checked by the server.
  private static func rules(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> ManagementRequest {
    switch request.method {
    case "GET", "HEAD":
      return .readRules(
        try asked(.readRules, request, target, caller), isStrict: target["format"] == "strict")
    case "PUT":
      let isTrial = target["dryRun"] == "true"
      return .setRules(
        try asked(.setRules(request.body, isTrial: isTrial), request, target, caller))
    default:
      throw .notAllowed("Rules are read with GET and set with PUT.", allowing: "GET, HEAD, PUT")
    }
  }

  /// Reads revocations, or changes those that the body names and no others.
  private static func revocations(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> ManagementRequest {
    switch request.method {
    case "GET", "HEAD":
      return .readRevocations(try asked(.readRevocations, request, target, caller))
    case "PATCH":
      let changes = try RevocationText.changes(request.body)
      return .revoke(try asked(.revoke(changes), request, target, caller))
    default:
      throw .notAllowed(
        "Revocations are read with GET and changed with PATCH.", allowing: "GET, HEAD, PATCH")
    }
  }

  /// The setting that a path names.
  private static func setting(_ path: String) -> DatabaseSettings.Name? {
    let prefix = "/.settings/"
    guard path.hasPrefix(prefix), path.hasSuffix(RESTRequest.suffix) else { return nil }
    return DatabaseSettings.Name(
      rawValue: String(path.dropFirst(prefix.count).dropLast(RESTRequest.suffix.count)))
  }

  /// Reads or sets one setting; the body of a `PUT` is any JSON, whose kind the server checks.
  private static func setting(
    _ name: DatabaseSettings.Name?, _ request: HTTPRequest, _ target: RequestTarget,
    _ caller: Caller
  ) throws(RESTError) -> ManagementRequest {
    guard let name else { throw RESTError(404, "There is no such setting.") }
    switch request.method {
    case "GET", "HEAD": return .setting(try asked(.readSetting(name), request, target, caller))
    case "PUT":
      guard let value = try? JSONValue(parsing: request.body) else { throw .noValue }
      return .setting(try asked(.set(name, value), request, target, caller))
    default:
      throw .notAllowed(
        "Settings are read with GET and set with PUT.", allowing: "GET, HEAD, PUT")
    }
  }

  /// Returns the request to the server with the client's database, origin and credential.
  private static func asked(
    _ operation: DirectRequest.Operation, _ request: HTTPRequest, _ target: RequestTarget,
    _ caller: Caller
  ) throws(RESTError) -> DirectRequest {
    DirectRequest(
      namespace: caller.namespace, isLocal: caller.isLocal, address: caller.address,
      credential: try Credential.shown(by: request, target, isLocal: caller.isLocal), operation)
  }

  /// The request to the server; `nil` when the answer is known.
  var asked: DirectRequest? {
    switch self {
    case .readRules(let asked, _), .setRules(let asked), .setting(let asked),
      .databases(let asked), .readRevocations(let asked), .revoke(let asked):
      asked
    case .info: nil
    }
  }

  /// The answer, once the server has given its.
  ///
  /// - Parameter answer: `nil` for requests that need none; see ``asked``.
  /// - Returns: 200 with the value, the error of a refusal, or 500 for an answer of another kind.
  func response(to answer: DirectAnswer?) -> HTTPResponse {
    let body: [UInt8]
    switch (self, answer) {
    case (.info(let value), _): body = value.bytes
    case (.readRules(_, let isStrict), .rules(let text)):
      body = isStrict ? RulesText.strict(text) : text
    case (.readRevocations, .revocations(let list)): body = list.json.bytes
    case (.setRules, .done), (.revoke, .done): body = Array(#"{"status":"ok"}"#.utf8)
    case (.setting, .setting(let value)): body = value.bytes
    case (.databases, .databases(let names)):
      body = JSONValue.array(names.map { .object([.init("name", .string($0))]) }).bytes
    case (_, .refused(let refusal)): return RESTError(refusal).response
    case (_, _): return RESTError(500, "The server answered something else.").response
    }
    return HTTPResponse(
      status: 200, headers: [("Content-Type", RESTAnswer.jsonType), ("Cache-Control", "no-cache")],
      body: body)
  }
}

/// The text of rules: JSON, with comments, and with strings over several lines.
enum RulesText {
  /// The part of the text that a byte stands in; `escape` is the byte behind a backslash in a
  /// string.
  private enum Place { case outside, string, escape, lineComment, blockComment }

  /// The same as JSON proper: without comments, and with line breaks in strings written out.
  ///
  /// Other faults of the text are kept: the result is as valid as the rules were.
  ///
  /// - Complexity: O(*n*) in the bytes.
  static func strict(_ text: [UInt8]) -> [UInt8] {
    var strict: [UInt8] = []
    var place = Place.outside
    var index = 0
    while index < text.count {
      let byte = text[index]
      let next = index + 1 < text.count ? text[index + 1] : 0
      index += 1
      switch (place, byte) {
      case (.outside, UInt8(ascii: "/")) where next == UInt8(ascii: "/"): place = .lineComment
      case (.outside, UInt8(ascii: "/")) where next == UInt8(ascii: "*"):
        place = .blockComment
        index += 1
      case (.lineComment, UInt8(ascii: "\n")):
        place = .outside
        strict.append(byte)
      case (.blockComment, UInt8(ascii: "*")) where next == UInt8(ascii: "/"):
        place = .outside
        index += 1
      case (.lineComment, _), (.blockComment, _): break
      case (.string, UInt8(ascii: "\n")): strict += Array(#"\n"#.utf8)
      case (.string, UInt8(ascii: "\r")): strict += Array(#"\r"#.utf8)
      case (.string, UInt8(ascii: "\t")): strict += Array(#"\t"#.utf8)
      case (let before, _):
        strict.append(byte)
        place = Self.place(after: byte, in: before)
      }
    }
    return strict
  }

  /// Returns the place behind a byte that is kept. Comments begin and end in ``strict(_:)``.
  private static func place(after byte: UInt8, in place: Place) -> Place {
    switch (place, byte) {
    case (.outside, UInt8(ascii: "\"")): .string
    case (.string, UInt8(ascii: "\"")): .outside
    case (.string, UInt8(ascii: "\\")): .escape
    case (.escape, _): .string
    default: place
    }
  }
}
