import TernCore
import TernTreeWire

/// The request that turns a connection into a WebSocket. Source: RFC 6455, section 4.2.
struct WebSocketHandshake: Equatable, Sendable {
  /// The path of the upgrade.
  static let path = "/.ws"

  /// The proof of the handshake for the client: the value of `Sec-WebSocket-Accept`.
  let accept: String
  /// The session over long polling that is to go on over this connection.
  let takenOver: String?
  /// The client's introduction to the server.
  let opening: TreeOpening

  /// Checks a request for `/.ws`.
  ///
  /// - Throws: 400 for a version of the dialect other than 5 (`v`), and the errors of
  ///   ``accept(_:)``.
  init(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) throws(RESTError) {
    accept = try Self.accept(request)
    guard target["v"] == "5" else {
      throw .invalid("Only version 5 of the protocol is spoken here.")
    }
    takenOver = target["s"]
    opening = TreeOpening(
      namespace: caller.namespace, lastSession: target["ls"], host: request.headers["host"])
  }

  /// Checks the fields that every request for a WebSocket has.
  ///
  /// - Returns: The proof that the answer shows. Source: RFC 6455, section 4.2.2.
  /// - Throws: 400 for a request that is no upgrade or has no valid key, 426 for another version.
  static func accept(_ request: HTTPRequest) throws(RESTError) -> String {
    let headers = request.headers
    guard request.method == "GET", headers.list("upgrade").contains(where: Self.isWebSocket),
      headers.list("connection").contains(where: { $0.lowercased() == "upgrade" })
    else { throw .invalid("Here one speaks WebSocket; the request asks for something else.") }
    guard headers["sec-websocket-version"] == "13" else {
      throw RESTError(426, "Only version 13 of WebSocket is spoken here.")
    }
    guard let key = headers["sec-websocket-key"], Self.isKey(key) else {
      throw .invalid("Sec-WebSocket-Key is no key.")
    }
    return Self.accept(key)
  }

  /// The lines that answer it.
  var response: [UInt8] { Self.response(accept: accept, subprotocol: nil) }

  /// The lines that open a WebSocket.
  static func response(accept: String, subprotocol: String?) -> [UInt8] {
    let chosen = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
    return Array(
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n\(chosen)\r\n").utf8)
  }

  private static func isWebSocket(_ word: Substring) -> Bool { word.lowercased() == "websocket" }

  /// Sixteen bytes in base64.
  ///
  /// 22 characters of the alphabet and two of padding.
  private static func isKey(_ key: String) -> Bool {
    key.utf8.count == 24 && key.hasSuffix("==")
      && key.utf8.dropLast(2).allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }

  /// Returns the SHA-1 of the key and the protocol's constant, in base64.
  private static func accept(_ key: String) -> String {
    var digest = SHA1()
    digest.update(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    return String(decoding: Base64.encode(digest.digest()), as: UTF8.self)
  }
}
