import TernCore
import TernDocumentJSON

/// The failure of a request to the documents' REST service.
///
/// Source: Firestore server reference, section 3.3.
struct DocumentRESTError: Error, Equatable, Sendable {
  let status: DocumentStatus
  /// The members that break a rule of the message.
  var violation: MessageJSONError.Violation?
  /// The HTTP status, where it is not that of the code.
  var httpStatus: Int?

  init(_ status: DocumentStatus) { self.status = status }

  init(_ code: DocumentStatus.Code, _ message: String) {
    status = DocumentStatus(code, message)
  }

  init(_ error: MessageJSONError) {
    status = DocumentStatus(.invalidArgument, error.message)
    violation = error.violation
  }

  /// The type of the answers' bodies.
  static let jsonType = "application/json; charset=UTF-8"

  /// The most bytes of a request's body: 11 MiB. Source: Firestore server reference, section 2.13.
  static let bodyBytes = 11 << 20

  /// A body beyond a limit.
  static func tooLarge(limitBytes: Int) -> DocumentRESTError {
    DocumentRESTError(
      .invalidArgument, "Request payload size exceeds the limit: \(limitBytes) bytes.")
  }

  /// The answer to a path or method that the service does not have.
  static let notFound = HTTPResponse(
    status: 404, headers: [("Content-Type", "text/plain; charset=utf-8")],
    body: Array("Not Found".utf8))

  /// The object that tells of it. Layout: `{"error": {"code", "message", "status", "details"}}`;
  /// `code` is the status of HTTP.
  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.beginObject()
    writer.key("code")
    writer.integer(httpStatus ?? status.code.httpStatus)
    writer.key("message")
    writer.string(status.message)
    writer.key("status")
    writer.string(status.code.name)
    if let violation {
      writer.key("details")
      writer.value(Self.details(violation))
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// Returns the details of a violation: one `google.rpc.BadRequest` with one field.
  private static func details(_ violation: MessageJSONError.Violation) -> JSONValue {
    var members = [JSONValue.Member("description", .string(violation.description))]
    if !violation.field.isEmpty {
      members.insert(JSONValue.Member("field", .string(violation.field)), at: 0)
    }
    return .array([
      .object([
        .init("@type", .string("type.googleapis.com/google.rpc.BadRequest")),
        .init("fieldViolations", .array([.object(members)])),
      ])
    ])
  }

  /// Returns the whole answer.
  ///
  /// - Parameter isStream: True for methods with any number of messages: theirs are in an array.
  func response(isStream: Bool, isPretty: Bool = false) -> HTTPResponse {
    var body = json
    if isStream { body = Array("[".utf8) + body + Array("]".utf8) }
    if isPretty { body = PrettyJSON.text(of: body) }
    var headers: HTTPFields = [("Content-Type", Self.jsonType)]
    if status.code == .unauthenticated { headers.append("WWW-Authenticate", "Bearer") }
    return HTTPResponse(
      status: httpStatus ?? status.code.httpStatus, headers: headers, body: body)
  }
}

extension DocumentStatus.Code {
  /// The HTTP status of the code. Source: Firestore server reference, section 3.3.
  var httpStatus: Int {
    switch self {
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    case .cancelled: 499
    case .unknown, .internalError, .dataLoss: 500
    case .unimplemented: 501
    case .unavailable: 503
    case .deadlineExceeded: 504
    }
  }

  /// The name of the code in answers.
  var name: String {
    switch self {
    case .cancelled: "CANCELLED"
    case .unknown: "UNKNOWN"
    case .invalidArgument: "INVALID_ARGUMENT"
    case .deadlineExceeded: "DEADLINE_EXCEEDED"
    case .notFound: "NOT_FOUND"
    case .alreadyExists: "ALREADY_EXISTS"
    case .permissionDenied: "PERMISSION_DENIED"
    case .resourceExhausted: "RESOURCE_EXHAUSTED"
    case .failedPrecondition: "FAILED_PRECONDITION"
    case .aborted: "ABORTED"
    case .outOfRange: "OUT_OF_RANGE"
    case .unimplemented: "UNIMPLEMENTED"
    case .internalError: "INTERNAL"
    case .unavailable: "UNAVAILABLE"
    case .dataLoss: "DATA_LOSS"
    case .unauthenticated: "UNAUTHENTICATED"
    }
  }
}
