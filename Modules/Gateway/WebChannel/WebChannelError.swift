/// The reason that a request over WebChannel fails.
///
/// Clients retry requests that the network lost, and none that got a status.
/// Source: firestore-server reference, section 4.7.
struct WebChannelError: Error, Equatable, Sendable {
  let status: Int
  let text: String

  init(_ status: Int, _ text: String) {
    self.status = status
    self.text = text
  }

  /// A request that breaks a rule of the protocol.
  static func invalid(_ text: String) -> WebChannelError { WebChannelError(400, text) }

  /// A body beyond the limit.
  static func tooLarge(limitBytes: Int) -> WebChannelError {
    WebChannelError(413, "The form is larger than \(limitBytes) bytes.")
  }

  /// A session that has ended, that never was, or that belongs to another client. The client begins
  /// again with its resume tokens.
  static let unknownSession = WebChannelError(400, "Unknown SID")

  /// The answer; clients search its body for the text, behind the first character.
  var response: HTTPResponse {
    var headers = WebChannelChunk.headers
    if status == 405 { headers.append("Allow", "GET, POST") }
    return HTTPResponse(status: status, headers: headers, body: Array("Error: \(text)".utf8))
  }
}
