/// The first byte of a frame. None is `{`, by which a link of the tree is told apart.
///
/// The high half of the byte tells the sender: 0 for clients, 1 for servers. Behind the kind follow
/// the parts that each case lists. A *number* has at most 5 bytes, a *text* is its byte count as a
/// number and UTF-8, a *message* reaches to the end of the frame. Source:
/// Docs/Formats/document-wire.md, section 1.
enum FrameKind: UInt8 {
  // From clients.
  /// Number of the call, method (text), number of pairs, and for each pair two texts.
  case open = 0x01
  /// As ``open``, then the only message: one frame for a call that asks one question.
  case openWithMessage = 0x02
  /// Number of the call, message.
  case requestMessage = 0x03
  /// Number of the call.
  case halfClose = 0x04
  /// Number of the call.
  case cancel = 0x05
  /// Nothing follows.
  case ping = 0x06
  // From servers.
  /// Number of the call, message.
  case responseMessage = 0x11
  /// Number of the call, message; ends the call well.
  case answer = 0x12
  /// Number of the call, status code (number), text of the status.
  case end = 0x13
  /// Nothing follows.
  case pong = 0x16
}

/// Reads a frame behind its first byte.
///
/// Reads go from front to back, one part at a time, in the order that the kind prescribes. Every
/// length is compared with the bytes that are left before it is used, so a frame of an attacker
/// costs no more memory than its own bytes.
struct FrameBody {
  private let bytes: [UInt8]
  /// The index of the next unread byte; 1 is behind the kind.
  private var offset = 1

  /// Splits a frame into its kind and the reader of the rest.
  ///
  /// - Parameter frame: One whole frame.
  /// - Throws: ``DocumentWireError/malformed(_:)`` for an empty frame or an unknown kind.
  static func open(_ frame: [UInt8]) throws(DocumentWireError) -> (FrameKind, FrameBody) {
    guard let first = frame.first, let kind = FrameKind(rawValue: first) else {
      throw .malformed(.frame)
    }
    return (kind, FrameBody(bytes: frame))
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Groups of seven bits, the lowest first, at most 32 bits.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` for a number that is cut short, that has more
  ///   than 5 groups, or that exceeds 32 bits. Leading zero groups are accepted.
  mutating func number() throws(DocumentWireError) -> UInt32 {
    var result: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 35, by: 7) {
      guard offset < bytes.count else { throw .malformed(.frame) }
      let byte = bytes[offset]
      offset += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        guard let number = UInt32(exactly: result) else { throw .malformed(.frame) }
        return number
      }
    }
    throw .malformed(.frame)
  }

  /// Reads a byte count and as many bytes of UTF-8.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` when fewer bytes are left, or when they are not
  ///   UTF-8.
  mutating func text() throws(DocumentWireError) -> String {
    let length = Int(try number())
    guard length <= bytes.count - offset else { throw .malformed(.frame) }
    defer { offset += length }
    guard let text = String(validating: bytes[offset..<offset + length], as: UTF8.self) else {
      throw .malformed(.invalidText)
    }
    return text
  }

  /// Everything that is left.
  ///
  /// A message has no length of its own: the frame's end is its end.
  mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }

  /// Checks that the frame ends here. Surplus bytes mean that the two ends disagree about the
  /// format.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` when something is left.
  func finish() throws(DocumentWireError) {
    if offset != bytes.count { throw .malformed(.frame) }
  }
}

/// Writes a frame.
///
/// It checks no limits; those who make frames keep them.
struct FrameBuilder {
  private(set) var bytes: [UInt8]

  /// - Parameters:
  ///   - stream: The number of the call; `nil` for frames about the link itself.
  ///   - bodyBytes: About how many bytes follow, to allocate once. It limits nothing.
  init(_ kind: FrameKind, stream: UInt32? = nil, bodyBytes: Int = 0) {
    bytes = []
    bytes.reserveCapacity(bodyBytes + 8)
    bytes.append(kind.rawValue)
    if let stream { number(stream) }
  }

  /// Appends groups of seven bits, the lowest first.
  mutating func number(_ value: UInt32) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  /// Appends a byte count and the text in UTF-8.
  mutating func text(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends a message; nothing may follow it.
  mutating func rest(_ content: [UInt8]) { bytes.append(contentsOf: content) }
}
