/// Lets pages of other origins read the answers.
///
/// What they may read and write is for the rules; see ``Caller`` for those who bring no identity
/// but the machine they run on.
enum CrossOrigin {
  /// Adds what a browser wants to see, for the origin that asks.
  ///
  /// Called for every answer that is not private, errors among them: a page may read why it failed.
  static func allow(_ request: HTTPRequest, in response: inout HTTPResponse) {
    guard let origin = request.headers["origin"] else {
      response.headers.append("Access-Control-Allow-Origin", "*")
      return
    }
    // With credentials the origin must be named, and caches told that it matters.
    response.headers.append("Access-Control-Allow-Origin", origin)
    response.headers.append("Access-Control-Allow-Credentials", "true")
    response.headers.append("Access-Control-Expose-Headers", exposed)
    response.headers.append("Vary", "Origin")
  }

  /// The header fields that pages may read. Source: Firestore server reference, section 3.4.
  private static let exposed =
    "ETag, \(RESTError.denialField), x-http-session-id, x-client-wire-protocol, "
    + "x-http-initial-response, date, content-length"

  /// Answers the question that a browser asks before the request itself.
  ///
  /// All methods and fields are allowed: the rules decide about data, and credentials are part
  /// of the request. The answer may be kept for an hour.
  ///
  /// - Parameter isDevelopment: True to let pages from elsewhere ask this machine's server.
  static func preflight(_ request: HTTPRequest, isDevelopment: Bool) -> HTTPResponse {
    var fields: HTTPFields = [
      ("Access-Control-Allow-Methods", "GET, PUT, PATCH, POST, DELETE, HEAD, OPTIONS"),
      (
        "Access-Control-Allow-Headers",
        request.headers["access-control-request-headers"] ?? "*"
      ),
      ("Access-Control-Max-Age", "3600"),
    ]
    // Browsers ask before a public page may reach a private address. Saying yes is for
    // development alone.
    if isDevelopment, request.headers["access-control-request-private-network"] == "true" {
      fields.append("Access-Control-Allow-Private-Network", "true")
    }
    return HTTPResponse(status: 204, headers: fields)
  }
}
