/// The first byte of a frame. None is `{`, by which a link of the tree is told apart.
enum FrameKind: UInt8 {
  // From clients.
  case open = 0x01
  case openWithMessage = 0x02
  case requestMessage = 0x03
  case halfClose = 0x04
  case cancel = 0x05
  case ping = 0x06
  // From servers.
  case responseMessage = 0x11
  case answer = 0x12
  case end = 0x13
  case pong = 0x16
}

/// Reads a frame behind its first byte.
struct FrameBody {
  private let bytes: [UInt8]
  private var offset = 1

  /// - Throws: ``DocumentWireError/malformed(_:)`` for an empty frame or an unknown kind.
  static func open(_ frame: [UInt8]) throws(DocumentWireError) -> (FrameKind, FrameBody) {
    guard let first = frame.first, let kind = FrameKind(rawValue: first) else {
      throw .malformed(.frame)
    }
    return (kind, FrameBody(bytes: frame))
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Groups of seven bits, the lowest first, at most 32 bits.
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
  mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }

  /// - Throws: ``DocumentWireError/malformed(_:)`` when something is left.
  func finish() throws(DocumentWireError) {
    if offset != bytes.count { throw .malformed(.frame) }
  }
}

/// Writes a frame.
struct FrameBuilder {
  private(set) var bytes: [UInt8]

  init(_ kind: FrameKind, stream: UInt32? = nil, bodyBytes: Int = 0) {
    bytes = []
    bytes.reserveCapacity(bodyBytes + 8)
    bytes.append(kind.rawValue)
    if let stream { number(stream) }
  }

  mutating func number(_ value: UInt32) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  mutating func text(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func rest(_ content: [UInt8]) { bytes.append(contentsOf: content) }
}
