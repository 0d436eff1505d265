/// A request over WebChannel, with what came along with it.
struct WebChannelArrival: Sendable {
  /// The parameters of the protocol, read and checked.
  let channel: WebChannelRequest
  let target: RequestTarget
  let caller: Caller
  /// The origin of the page that sends it; `nil` for a request to the page's own origin.
  let origin: String?
  /// The request's own header fields.
  let fields: HTTPFields
  let body: [UInt8]

  init(
    _ channel: WebChannelRequest, _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) {
    self.channel = channel
    self.target = target
    self.caller = caller
    origin = request.headers["origin"]
    fields = request.headers
    body = request.body
  }
}

/// The client of a session. A request of another one is not told that the session exists.
///
/// Browsers send credentials in the handshake alone. Later requests prove themselves by the
/// session's id and by a second secret that only pages of an allowed origin can read.
/// Source: firestore-server reference, section 4.9.
struct WebChannelOwner: Sendable {
  /// The name of the parameter that repeats the secret; `nil` when the client asked for none.
  let secretName: String?
  let secret: String
  let origin: String?
  let authorization: String?

  /// The parameter of a handshake that names the one with the secret.
  static let secretNameParameter = "X-HTTP-Session-Id"

  /// - Parameters:
  ///   - arrival: The handshake.
  ///   - secret: The second secret, drawn for this session.
  ///   - authorization: The credential of the handshake, wherever it stood.
  init(_ arrival: WebChannelArrival, secret: String, authorization: String?) {
    secretName = arrival.target[Self.secretNameParameter]
    self.secret = secret
    origin = arrival.origin
    self.authorization = authorization
  }

  /// Returns true when a later request is the client's.
  func sent(_ arrival: WebChannelArrival) -> Bool {
    if let secretName, arrival.target[secretName] != secret { return false }
    // Browsers send no origin with a GET to the page's own origin, nor with an image.
    // A missing field passes, a different one does not: the session's id and the secret are the
    // proof.
    if let other = arrival.origin, other != origin { return false }
    if let other = arrival.fields["authorization"], other != authorization { return false }
    return true
  }
}

/// The metadata of a call: header fields that concern the server.
enum WebChannelMetadata {
  static let authorization = "authorization"
  /// The names of the header fields that are handed on.
  private static let names = [
    authorization, "google-cloud-resource-prefix", "x-goog-request-params", "x-goog-api-client",
    "x-goog-api-key", "x-firebase-gmpid", "x-firebase-client", "x-firebase-appcheck",
  ]

  /// Returns names and values. Fields in the body, or else in the address, stand for those that
  /// would make a browser ask first, and count more than the request's own.
  static func pairs(_ form: HTTPFields, _ request: HTTPFields) -> [(name: String, value: String)] {
    names.compactMap { name in
      (form[name] ?? request[name]).map { (name: name, value: $0) }
    }
  }
}
