import TernCore
import TernSecurity
import TernServer

/// The reason a request is not answered with data: a status and one sentence.
///
/// Clients of the Realtime Database look at the status, and show the sentence; where a sentence
/// is known to them, it is the one they know. Source: realtime reference, section 11.3.
struct RESTError: Error, Equatable, Sendable {
  /// The field with the id of a denial, for a search in the server's log. The sentence stays the
  /// one that clients know.
  static let denialField = "X-Tern-Denial"

  /// The pause before another try when a limit of the whole server is met.
  private static let pauseSeconds = 1

  /// The status of HTTP.
  let status: Int
  /// The sentence, sent as the member `error`.
  let text: String
  /// By what the reason is found.
  var denial: String?
  /// The host that has what is asked for. It makes the answer a redirect: the field `Location`
  /// names the same target there.
  var host: String?
  /// The seconds after which a retry is accepted.
  var retrySeconds: Int?
  /// The methods that the path takes, of a request with another one.
  private(set) var allowed: String?

  init(_ status: Int, _ text: String) {
    self.status = status
    self.text = text
  }

  /// The path does not take the method.
  ///
  /// - Parameter allowed: The methods that it takes, with commas between them.
  static func notAllowed(_ text: String, allowing allowed: String) -> RESTError {
    var error = RESTError(405, text)
    error.allowed = allowed
    return error
  }

  /// The rules forbid it.
  static func denied(_ refusal: AccessRefusal) -> RESTError {
    var error = RESTError(401, AccessRefusal.sentence)
    error.denial = refusal.id
    return error
  }

  /// Something about the request is wrong.
  static func invalid(_ text: String) -> RESTError { RESTError(400, text) }

  /// A body that is no value.
  static let noValue = RESTError(
    400,
    "Invalid data; couldn't parse JSON object, array, or value. "
      + "Perhaps you're using invalid characters in your key names.")

  /// The body of an update that is no object of values.
  static let noUpdate = RESTError(
    400,
    "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?")

  /// The read took longer than the client's own limit, the parameter `timeout`.
  static func late(milliseconds: Int) -> RESTError {
    RESTError(400, "The read took longer than its timeout of \(milliseconds) ms.")
  }

  /// The path holds a key that no data may have.
  static let badPath = RESTError(400, "Invalid path: Invalid token in path")

  /// The body is above the limit of requests.
  static func tooLarge(limitBytes: Int) -> RESTError {
    RESTError(400, "Invalid data; the body is larger than \(limitBytes) bytes.")
  }

  /// Returns the answer of a server that accepts no requests. Source: realtime reference, section
  /// 11.5.
  static func sentAway(_ farewell: ServiceNotice) -> RESTError {
    switch farewell {
    case .moved(let host):
      var error = RESTError(307, "The database is at \(host).")
      error.host = host
      return error
    case .closed(let reason): return RESTError(423, reason)
    }
  }

  /// The answer that tells it.
  var response: HTTPResponse {
    var headers: HTTPFields = [("Content-Type", RESTAnswer.jsonType)]
    if let denial { headers.append(Self.denialField, denial) }
    // Source: RFC 9110, section 15.5.6.
    if let allowed { headers.append("Allow", allowed) }
    if let seconds = retrySeconds ?? (status == 503 ? Self.pauseSeconds : nil) {
      headers.append("Retry-After", "\(seconds)")
    }
    return HTTPResponse(
      status: status, headers: headers,
      body: JSONValue.object([.init("error", .string(text))]).bytes, otherHost: host)
  }
}

extension RESTError {
  /// The error for a refusal of the server.
  ///
  /// Denials are 401 as bad credentials are, in the way of the service. 429 carries the pause that
  /// the limit on requests demands, rounded up to seconds.
  init(_ refusal: DirectRefusal) {
    switch refusal {
    case .unauthenticated(let reason): self.init(401, reason)
    case .permissionDenied(let refusal): self = .denied(refusal)
    case .invalid(let reason): self.init(400, reason)
    case .tooBig(let limit):
      self.init(400, "Data requested exceeds the maximum size of \(limit) bytes.")
    case .damaged: self.init(500, "What is stored here is damaged.")
    case .tooMany(let excess):
      self.init(429, excess.text)
      retrySeconds = Int(max(1, (excess.waitMilliseconds + 999) / 1_000))
    case .sentAway(let farewell): self = .sentAway(farewell)
    case .unavailable(let reason): self.init(503, reason)
    }
  }
}
