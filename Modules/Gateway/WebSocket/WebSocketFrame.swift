/// Frames that the server sends: whole, and never masked. Source: RFC 6455, section 5.2.
enum WebSocketFrame {
  /// The opcode of text.
  static let text: UInt8 = 0x1
  static let close: UInt8 = 0x8
  static let pong: UInt8 = 0xA

  /// Returns the header of a payload of `count` bytes.
  ///
  /// The length takes the shortest of three forms: 7 bits, 16 or 64, most significant byte first.
  static func header(_ opcode: UInt8, count: Int) -> [UInt8] {
    let first = 0x80 | opcode
    switch count {
    case ..<126: return [first, UInt8(count)]
    case ..<(1 << 16): return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)]
    default:
      let length = stride(from: 56, through: 0, by: -8)
      return [first, 127] + length.map { UInt8(truncatingIfNeeded: count >> $0) }
    }
  }

  /// A goodbye with its reason, which is cut to what a control frame holds.
  ///
  /// - Parameters:
  ///   - code: The status, as in RFC 6455, section 7.4.1.
  ///   - reason: Any text; at most 123 bytes are sent, and no character is cut.
  static func goodbye(_ code: UInt16, _ reason: String) -> [UInt8] {
    var text = reason
    while text.utf8.count > 123 { text.removeLast() }
    let payload = [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(text.utf8)
    return header(close, count: payload.count) + payload
  }
}

#if TCP
  import NIOCore
  import TernTransport

  /// Messages as text frames on the wire. A server masks nothing, so the bytes are the same for
  /// every client, and one copy serves all.
  struct WebSocketBuffers: Sendable {
    /// The most bytes of one buffer, about: far below what a buffer can hold.
    static let bufferBytes = 1 << 20

    private(set) var buffers: [ByteBuffer] = []

    /// Puts messages into frames.
    ///
    /// A message beyond one part travels as several frames; see ``MessageParts``. Small
    /// messages share a buffer, so that many of them are few writes.
    init(_ messages: [[UInt8]]) {
      var missing = messages.reduce(0) { $0 + Self.wireBytes($1.count) }
      for message in messages {
        for part in MessageParts.cut(message) {
          if buffers.last.map({ $0.readableBytes >= Self.bufferBytes }) ?? true {
            var next = ByteBuffer()
            // The last part may go beyond the size of a buffer; its bytes are reserved with it.
            next.reserveCapacity(min(missing, Self.bufferBytes + MessageParts.partBytes + 16))
            buffers.append(next)
          }
          let head = WebSocketFrame.header(WebSocketFrame.text, count: part.count)
          buffers[buffers.count - 1].writeBytes(head)
          buffers[buffers.count - 1].writeBytes(part)
          missing -= head.count + part.count
        }
      }
    }

    /// The bytes a message of `count` bytes takes at the most, frame heads included.
    private static func wireBytes(_ count: Int) -> Int {
      count + 10 * (count / MessageParts.partBytes + 2)
    }
  }

  /// Frames for a client of the endpoints, in order.
  enum GatewayFrames: Sendable {
    /// Frames for this client alone.
    case own([[UInt8]])
    /// Frames that other clients are sent as well.
    case shared(SharedFrames)

    /// The frames themselves.
    var frames: [[UInt8]] {
      switch self {
      case .own(let frames): frames
      case .shared(let shared): shared.frames
      }
    }

    /// The frames as they travel over a WebSocket.
    var webSocketBuffers: [ByteBuffer] {
      switch self {
      case .own(let frames): WebSocketBuffers(frames).buffers
      case .shared(let shared): shared.form(WebSocketBuffers.init).buffers
      }
    }
  }
#endif

/// The form of messages too long for one frame of the dialect: a number, then as many parts.
///
/// Source: realtime reference, section 10.2.
enum MessageParts {
  /// The most bytes of one part.
  static let partBytes = 16_384

  /// Cuts a message, never within a character; one that fits stays whole, without a number.
  static func cut(_ message: [UInt8]) -> [ArraySlice<UInt8>] {
    if message.count <= partBytes { return [message[...]] }
    var parts: [ArraySlice<UInt8>] = []
    var start = 0
    while start < message.count {
      var end = min(start + partBytes, message.count)
      // A byte `10xxxxxx` continues a character: the cut moves before it.
      while end < message.count, message[end] & 0xC0 == 0x80 { end -= 1 }
      parts.append(message[start..<end])
      start = end
    }
    return [Array(String(parts.count).utf8)[...]] + parts
  }
}

/// Joins the parts of messages again.
struct MessageJoiner {
  /// The most bytes of a joined message.
  private let limitBytes: Int
  /// The most parts of one message.
  private let limitParts: Int
  /// The parts of the present message that have not come; 0 between messages.
  private var missing = 0
  private var joined: [UInt8] = []

  init(limitBytes: Int, limitParts: Int) {
    self.limitBytes = limitBytes
    self.limitParts = limitParts
  }

  /// Bytes of a message of which parts are missing.
  var heldBytes: Int { joined.count }

  /// Takes the next text; answers the message it completes.
  ///
  /// - Throws: `tooLarge` or `protocolError`, which end the connection.
  mutating func take(_ text: [UInt8]) throws(WebSocketFailure) -> [UInt8]? {
    if missing > 0 {
      if joined.count + text.count > limitBytes { throw .tooLarge(limitBytes: limitBytes) }
      joined += text
      missing -= 1
      return missing == 0 ? exchange(&joined, with: []) : nil
    }
    guard let count = Self.count(text), count > 0 else { return text }
    if count > limitParts { throw .protocolError("a message of \(count) parts") }
    missing = count
    return nil
  }

  /// A short text of digits announces parts; `0` is the sign of life and stands for itself.
  ///
  /// More than six digits are an ordinary text: no count may be that large.
  private static func count(_ text: [UInt8]) -> Int? {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard (1...6).contains(text.count), text.allSatisfy({ digits.contains($0) }) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 - digits.lowerBound) }
  }
}
