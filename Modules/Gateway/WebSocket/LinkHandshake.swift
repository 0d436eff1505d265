import TernTransportWebSocket

/// The request of one of our own clients for a WebSocket that carries its link.
/// Source: Docs/Formats/websocket.md.
struct LinkHandshake: Equatable, Sendable {
  /// The path of the request.
  static let path = WebSocketOptions.standardPath

  /// The lines that answer the request.
  let response: [UInt8]

  /// Checks a request.
  ///
  /// Requests of web pages name their origin and are denied: a page could speak for its reader.
  ///
  /// - Throws: 400 or 426 for a request that opens no WebSocket of version 13, 400 for another
  ///   subprotocol, 403 for one with an `Origin`.
  init(_ request: HTTPRequest) throws(RESTError) {
    let accept = try WebSocketHandshake.accept(request)
    guard request.headers.list("sec-websocket-protocol").contains("tern") else {
      throw .invalid("The WebSocket here carries the protocol \"tern\"; the request names another.")
    }
    if request.headers["origin"] != nil {
      throw RESTError(403, "Web pages do not speak this protocol.")
    }
    response = WebSocketHandshake.response(accept: accept, subprotocol: "tern")
  }
}
