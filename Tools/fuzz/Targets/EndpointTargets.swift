import NIOCore
import NIOEmbedded
import TernCore
import TernGateway
import TernSecurity
import TernTokens

extension FuzzTarget {
  /// The frames of a client over WebSocket.
  static let webSocket = FuzzTarget("websocket", samples: webSocketSamples) { input in
    let whole = ProtocolProbe.webSocket([input], limitBytes: 1_000)
    let cut = ProtocolProbe.webSocket(pieces(input), limitBytes: 1_000)
    return whole == cut ? nil : "\(whole) or, in pieces, \(cut)"
  }

  private static var webSocketSamples: [[UInt8]] {
    func frame(_ first: UInt8, _ text: String) -> [UInt8] {
      let key: [UInt8] = [1, 2, 3, 4]
      let bytes = text.utf8.enumerated().map { $0.element ^ key[$0.offset & 3] }
      let count = text.utf8.count
      let length = count < 126 ? [UInt8(count)] : [126, UInt8(count >> 8), UInt8(count & 0xFF)]
      return [first, length[0] | 0x80] + length.dropFirst() + key + bytes
    }
    return [
      frame(0x81, "{}"), frame(0x01, "{") + frame(0x89, "ping") + frame(0x80, "}"),
      frame(0x81, String(repeating: "é", count: 100)), frame(0x88, "\u{3}è"),
      frame(0x81, "2") + frame(0x81, "{") + frame(0x81, "}") + frame(0x8A, ""),
    ]
  }

  /// Requests of a connection, from the first byte to the answer.
  static let http = FuzzTarget(
    "http",
    texts: [
      "GET /a.json?orderBy=%22x%22&limitToFirst=2&ns=db HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "PUT /a/b.json HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\nif-match: x\r\n\r\n{\"a\":1}",
      "POST /.json?print=pretty HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n",
      "GET /.ws?v=5&ns=n HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\u{81}",
      "GET /.lp?start=t&cb=3&v=5 HTTP/1.1\r\nHost: h\r\n\r\nGET /.lp?id=a&pw=b HTTP/1.1\r\nHost: h\r\n\r\n",
      "PUT /.settings/rules.json HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer owner\r\n"
        + "Content-Length: 13\r\n\r\n{\"rules\": {}}",
      "GET /s.json HTTP/1.1\r\nHost: db.localhost\r\nAccept: text/event-stream\r\nOrigin: http://x\r\n\r\n",
      "GET /q.json?orderBy=%22$value%22&startAfter=2,%22k%22&timeout=1.5s&print=pretty&format=export "
        + "HTTP/1.1\r\nHost: h\r\nVia: 1.1 p\r\nX-Real-IP: 10.0.0.1\r\n\r\n",
      "PATCH /a.json?access_token=t&auth_variable_override={%22uid%22:1} HTTP/1.1\r\nHost: h\r\n"
        + "Accept: text/event-stream\r\nContent-Length: 14\r\n\r\n{\"a\\ud800\":{}}",
      "PUT /a.json HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775808\r\n\r\n1",
      "OPTIONS /a.json HTTP/1.1\r\nHost: h\r\nAccess-Control-Request-Headers: x\r\n\r\n",
      "PATCH /v1/projects/p/databases/(default)/documents/c/d?updateMask.fieldPaths=a HTTP/1.1\r\n"
        + "Host: h\r\nContent-Length: 36\r\n\r\n{\"fields\":{\"a\":{\"integerValue\":\"1\"}}}",
      "POST /v1/projects/p/databases/d/documents:runQuery HTTP/1.1\r\nHost: h\r\n"
        + "Content-Length: 22\r\n\r\n{\"structuredQuery\":{}}",
    ],
    words: [
      "\r\n", "\n", "\r", ": ", "%00", "%2", "%", "?", "&", "=", ".json", "HTTP/1.1", "HTTP/1.0",
      "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Host: x\r\n", "shallow=true",
      "\u{0}",
      "startAt=", "&timeout=0.5min", "&orderBy=%22$key%22", "&equalTo=", "&print=pretty", "\\ud800",
      "&auth_variable_override=", "9223372036854775808", "\"", "{", "[", "99999999999999999999",
    ]
  ) { input in
    converse(input)
    return nil
  }

  /// Plays a connection, from the first byte until every time limit is over.
  static func converse(_ input: [UInt8]) {
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try ProtocolProbe.install(in: channel)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      for piece in pieces(input) where channel.isActive {
        try channel.writeInbound(ByteBuffer(bytes: piece))
      }
      channel.embeddedEventLoop.advanceTime(by: .seconds(1_000))
      while try channel.readOutbound(as: ByteBuffer.self) != nil {}
    } catch {
      // A channel that was closed says so.
    }
  }

  /// Tokens of clients. None that differs from the genuine one may be accepted as it.
  static let tokens = FuzzTarget(
    "tokens", texts: TokenSamples.texts, words: ["alg", "none", "HS256", ".", "=", "e30", "exp"]
  ) { input in
    let text = String(decoding: input, as: UTF8.self)
    let accepted = TokenSamples.isAccepted(text)
    if accepted, !TokenSamples.genuine.contains(text) { return "a forged token was accepted" }
    return nil
  }
}

/// Tokens of one secret key.
private enum TokenSamples {
  private static let made: (tokens: [String], authenticator: TokenAuthenticator) = {
    let secret = Array(String(repeating: "secret ", count: 8).utf8)
    // Anything that is neither JSON nor PEM is a secret.
    let done = Handover<(tokens: [String], authenticator: TokenAuthenticator)>()
    Task {
      do {
        let keys = try await TokenKeys.reading(secret)
        let issuer = try TokenIssuer(keys)
        let tokens = [
          try issuer.sign(user: "ann", now: 0),
          try issuer.sign(
            user: "ben", now: 0,
            claims: [
              .init("admin", .bool(true)), .init("list", .array([.integer(1), .null])),
            ]),
        ]
        done.give((tokens, TokenAuthenticator(keys)))
      } catch { preconditionFailure("a secret is a key: \(error)") }
    }
    return done.take()
  }()

  static var genuine: [String] { made.tokens }

  static var texts: [String] {
    genuine + ["eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJleHAiOjk5OTk5OTk5OTl9.", "a.b.c", "owner"]
  }

  static func isAccepted(_ text: String) -> Bool {
    (try? made.authenticator.authenticate(Credential(.user, token: text), now: 1_000)) != nil
  }
}
