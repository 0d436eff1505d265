import TernCore

/// The move of a session from long polling to a WebSocket, without I/O.
///
/// The server says `a` over the new way; the client tries it with pings, then says `a` over it and
/// `n` over the old one, after which it says nothing more there. Then the server says `n` over the
/// old way and goes on over the new one. What the client says over the new way before the old one
/// has brought everything waits. Source: realtime reference, sections 10.4 and 10.12.
struct TransportSwitch {
  /// The steps of the move, in order.
  enum Step: Equatable {
    /// Answer over the new way.
    case answer([UInt8])
    /// Hand what the client said to the session.
    case deliver([[UInt8]])
    /// Say that this was all over the old way; from now on the new one is used.
    case move
    /// The client speaks out of turn; the new way is given up.
    case giveUp(String)
  }

  /// The server's first message over the WebSocket.
  static let ready = control("a")
  /// The last that is said over the old way.
  static let ended = control("n")

  private static func control(_ name: String) -> [UInt8] {
    Array(#"{"t":"c","d":{"t":"\#(name)","d":{}}}"#.utf8)
  }

  /// The number of bytes that may wait for the end of long polling.
  let limitBytes: Int
  /// True once the client has said `a` over the new way.
  private var hasAgreed = false
  /// True once the client has said `n` over the old way.
  private var hasEnded = false
  /// Messages over the new way that wait for the end of the old one, in order.
  private var held: [[UInt8]] = []
  /// The bytes of the messages that wait for the end of long polling.
  private(set) var heldBytes = 0
  /// True once both were said: the session has moved.
  private(set) var isDone = false

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Takes a message that came over the new way.
  mutating func receive(_ message: [UInt8]) -> [Step] {
    if isDone { return [.deliver([message])] }
    switch Self.name(of: message) {
    case "p": return [.answer(Self.control("o"))]
    case "a":
      hasAgreed = true
      return finish()
    case .some: return [.giveUp("a control message out of turn")]
    case nil:
      guard hasAgreed else { return [.giveUp("data before the connection was agreed on")] }
      heldBytes += message.count
      if heldBytes > limitBytes { return [.giveUp("too much before the old connection ended")] }
      held.append(message)
      return []
    }
  }

  /// Takes a message that came over the old way.
  mutating func receiveFromOld(_ message: [UInt8]) -> [Step] {
    guard !isDone, Self.name(of: message) == "n" else { return [.deliver([message])] }
    hasEnded = true
    return finish()
  }

  /// Completes the move once both conditions hold, in either order. Messages that waited come
  /// last: those of the old way were sent before them.
  private mutating func finish() -> [Step] {
    guard hasAgreed, hasEnded, !isDone else { return [] }
    isDone = true
    heldBytes = 0
    return [.move] + (held.isEmpty ? [] : [.deliver(exchange(&held, with: []))])
  }

  /// The name of a control message; `nil` for any other.
  private static func name(of message: [UInt8]) -> String? {
    // Short ones only: data may be long, and are none of this one's business.
    guard message.count < 256, let json = try? JSONValue(parsing: message), json["t"]?.text == "c"
    else { return nil }
    return json["d"]?["t"]?.text
  }
}
