/// Reads the frames that a client sends over WebSocket. Source: RFC 6455, sections 5 to 7.
///
/// It reserves memory as bytes arrive, not as they are announced, and takes text only: the dialect
/// is JSON.
struct WebSocketReader {
  /// Something the client said.
  enum Event: Equatable {
    /// A whole message, its fragments joined.
    case text([UInt8])
    /// To be answered with a pong of the same bytes.
    case ping([UInt8])
    /// The client says goodbye, for a reason it may name.
    case close(UInt16?)
  }

  /// The part of a frame that the next byte belongs to.
  private enum Stage {
    /// The first byte of a frame: FIN, reserved bits, opcode.
    case start
    /// The second byte, or one of the extended length. `second` is the second byte, 0 before
    /// it: a masked frame never has 0 there.
    case length(Head, second: UInt8)
    /// One of the 4 bytes of the key.
    case mask(Head, length: Int, key: [UInt8])
    /// A byte of the payload; `position` counts those that were read, for the key.
    case payload(Head, rest: Int, key: [UInt8], position: Int)
  }

  private struct Head {
    let isFinal: Bool
    let opcode: UInt8
    var isControl: Bool { opcode & 0x08 != 0 }
    /// The bytes of the length that have come, behind the second byte.
    var lengthBytes: [UInt8] = []
  }

  private let limitBytes: Int
  private var stage = Stage.start
  /// The payload of a control frame, at most 125 bytes; such frames may stand between fragments.
  private var control: [UInt8] = []
  /// The payload so far of a message, over all its fragments, unmasked.
  private var message: [UInt8] = []
  /// True between the first frame of a message and its final one.
  private var isInMessage = false
  /// Checks the message as it comes, so that a breach ends the connection at once.
  private var text = UTF8Checker()
  private var events: [Event] = []

  /// - Parameter limitBytes: The most bytes of one message.
  init(limitBytes: Int) {
    self.limitBytes = limitBytes
  }

  /// Bytes of a message that is not whole.
  var heldBytes: Int { message.count }

  /// Removes and returns what was read.
  mutating func takeEvents() -> [Event] {
    exchange(&events, with: [])
  }

  /// Reads the next bytes of the connection.
  ///
  /// - Throws: Why the connection must end; what was whole before can still be taken.
  /// - Complexity: O(*n*) in the bytes.
  mutating func consume(_ bytes: Span<UInt8>) throws(WebSocketFailure) {
    var index = 0
    while index < bytes.count {
      switch stage {
      case .start:
        stage = .length(try head(bytes[index]), second: 0)
        index += 1
      case .length(let head, let second):
        try readLength(bytes[index], head, second)
        index += 1
      case .mask(let head, let length, let key):
        readMask(bytes[index], head, length, key)
        index += 1
      case .payload(let head, let rest, let key, let position):
        let count = min(rest, bytes.count - index)
        let part = bytes.extracting(index..<index + count)
        try readPayload(part, head, rest, key, position)
        index += count
      }
      try finishIfWhole()
    }
  }

  /// Checks the first byte of a frame, with the state of the message.
  private func head(_ byte: UInt8) throws(WebSocketFailure) -> Head {
    if byte & 0x70 != 0 { throw .protocolError("a reserved bit is set") }
    let head = Head(isFinal: byte & 0x80 != 0, opcode: byte & 0x0F)
    switch head.opcode {
    case 0 where !isInMessage: throw .protocolError("nothing is there to be continued")
    case 1 where isInMessage: throw .protocolError("a message begins within another")
    case 2: throw .unsupportedData("only text is understood")
    case 0, 1: break
    case 8, 9, 10:
      if !head.isFinal { throw .protocolError("a control frame is fragmented") }
    default: throw .protocolError("opcode \(head.opcode) is reserved")
    }
    return head
  }

  /// Reads the second byte and the extended length behind it.
  ///
  /// - Throws: For a frame without a mask, a long control frame, or a length that is not in its
  ///   shortest form.
  private mutating func readLength(
    _ byte: UInt8, _ head: Head, _ second: UInt8
  ) throws(WebSocketFailure) {
    var head = head
    guard second != 0 else {
      if byte & 0x80 == 0 { throw .protocolError("a frame is not masked") }
      if head.isControl, byte & 0x7F > 125 { throw .protocolError("a control frame is too long") }
      if byte & 0x7F >= 126 {
        stage = .length(head, second: byte)
      } else {
        try begin(head, UInt64(byte & 0x7F))
      }
      return
    }
    head.lengthBytes.append(byte)
    let needed = second & 0x7F == 126 ? 2 : 8
    guard head.lengthBytes.count == needed else {
      stage = .length(head, second: second)
      return
    }
    let length = head.lengthBytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let least: UInt64 = needed == 2 ? 126 : 1 << 16
    if length < least { throw .protocolError("a length is not in its shortest form") }
    if length >> 63 != 0 { throw .protocolError("a length has its first bit set") }
    try begin(head, length)
  }

  /// Begins a frame whose length is known. The limit holds for all fragments of a message
  /// together, and is checked before a byte is kept.
  private mutating func begin(_ head: Head, _ length: UInt64) throws(WebSocketFailure) {
    let held = head.isControl ? 0 : UInt64(message.count)
    if length > UInt64(limitBytes) || held + length > UInt64(limitBytes) {
      throw .tooLarge(limitBytes: limitBytes)
    }
    stage = .mask(head, length: Int(length), key: [])
  }

  private mutating func readMask(_ byte: UInt8, _ head: Head, _ length: Int, _ key: [UInt8]) {
    let key = key + CollectionOfOne(byte)
    if key.count < 4 {
      stage = .mask(head, length: length, key: key)
      return
    }
    if !head.isControl { isInMessage = true }
    stage = .payload(head, rest: length, key: key, position: 0)
  }

  private mutating func readPayload(
    _ part: Span<UInt8>, _ head: Head, _ rest: Int, _ key: [UInt8], _ position: Int
  ) throws(WebSocketFailure) {
    stage = .payload(
      head, rest: rest - part.count, key: key, position: position + part.count)
    let mask = WebSocketMask(key, from: position)
    if head.isControl {
      mask.append(part, to: &control)
    } else {
      let start = message.count
      mask.append(part, to: &message)
      var checker = text
      let isText = checker.accept(message.span.extracting(start..<message.count))
      text = checker
      guard isText else { throw .invalidText }
    }
  }

  /// Ends a frame whose payload is complete. Called after each step, because an empty payload
  /// has no byte to end it.
  private mutating func finishIfWhole() throws(WebSocketFailure) {
    guard case .payload(let head, 0, _, _) = stage else { return }
    stage = .start
    if head.isControl { return try finishControl(head.opcode) }
    guard head.isFinal else { return }
    if !text.isWhole { throw .invalidText }
    isInMessage = false
    events.append(.text(exchange(&message, with: [])))
  }

  /// Makes an event of a close or a ping; a pong means nothing here.
  private mutating func finishControl(_ opcode: UInt8) throws(WebSocketFailure) {
    let payload = exchange(&control, with: [])
    switch opcode {
    case 8: events.append(.close(try WebSocketCloseCode.read(payload)))
    case 9: events.append(.ping(payload))
    default: break
    }
  }
}

/// The reason a WebSocket connection is ended from this side.
enum WebSocketFailure: Error, Equatable {
  /// Bytes that break the framing.
  case protocolError(String)
  /// A binary message.
  case unsupportedData(String)
  /// A text that is not UTF-8.
  case invalidText
  /// A message beyond the limit, all its fragments together.
  case tooLarge(limitBytes: Int)
  /// All connections together hold too much.
  case overloaded

  /// The status that says so. Source: RFC 6455, section 7.4.1.
  var code: UInt16 {
    switch self {
    case .protocolError: 1002
    case .unsupportedData: 1003
    case .invalidText: 1007
    case .tooLarge: 1009
    case .overloaded: 1013
    }
  }

  var text: String {
    switch self {
    case .protocolError(let what), .unsupportedData(let what): what
    case .invalidText: "a text is not UTF-8"
    case .tooLarge(let limit): "a message is larger than \(limit) bytes"
    case .overloaded: "too many messages are being read; try again"
    }
  }
}

/// The status in a goodbye.
enum WebSocketCloseCode {
  static let normal: UInt16 = 1000

  /// Reads the payload of a close frame: nothing, or a status and a text.
  static func read(_ payload: [UInt8]) throws(WebSocketFailure) -> UInt16? {
    if payload.isEmpty { return nil }
    guard payload.count >= 2 else { throw .protocolError("half a status in a goodbye") }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    switch code {
    // 1004 to 1006 are reserved, and those above 1014 and below 3000 are not assigned.
    case 1000...1003, 1007...1014, 3000...4999: break
    default: throw .protocolError("there is no status \(code)")
    }
    guard String(validating: payload.dropFirst(2), as: UTF8.self) != nil else {
      throw .invalidText
    }
    return code
  }
}

/// The key of a frame, turned to where in the frame bytes lie. Source: RFC 6455, section 5.3.
private struct WebSocketMask {
  /// The key twice, its first byte in the lowest place in memory.
  private let word: UInt64

  /// - Parameter position: The offset in the payload of the first byte that is to be unmasked.
  init(_ key: [UInt8], from position: Int) {
    var word: UInt64 = 0
    for index in (0..<8).reversed() { word = word << 8 | UInt64(key[(position + index) & 3]) }
    self.word = UInt64(littleEndian: word)
  }

  /// Appends what masked bytes stand for.
  func append(_ part: Span<UInt8>, to bytes: inout [UInt8]) {
    let start = bytes.count
    // Safe: every load and store lies within the bytes that were appended.
    unsafe part.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var index = start
      while index + 8 <= bytes.count {
        let masked = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        unsafe bytes.storeBytes(of: masked ^ word, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      let rest = UInt64(littleEndian: word)
      for (offset, place) in (index..<bytes.count).enumerated() {
        unsafe bytes[place] ^= UInt8(truncatingIfNeeded: rest >> UInt64(8 * offset))
      }
    }
  }
}

/// Checks text byte by byte, wherever it is cut.
struct UTF8Checker {
  /// The number of bytes of the character still to come; 0 between characters.
  private var missing = 0
  /// The values that the next of them may have.
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF

  /// True when no character is cut.
  var isWhole: Bool { missing == 0 }

  /// Takes the next bytes; `false` when no text has them there.
  mutating func accept(_ bytes: Span<UInt8>) -> Bool {
    // Safe: every load lies within the bytes.
    unsafe bytes.withUnsafeBytes { bytes in
      var index = 0
      while index < bytes.count {
        if missing == 0 {
          // Eight characters of ASCII at once.
          while index + 8 <= bytes.count,
            unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
              & 0x8080_8080_8080_8080 == 0
          { index += 8 }
          if index == bytes.count { break }
        }
        guard unsafe accept(bytes[index]) else { return false }
        index += 1
      }
      return true
    }
  }

  /// Takes the next byte; `false` when no text has it there.
  private mutating func accept(_ byte: UInt8) -> Bool {
    if missing > 0 {
      guard allowed.contains(byte) else { return false }
      missing -= 1
      allowed = 0x80...0xBF
      return true
    }
    switch byte {
    case 0x00...0x7F: return true
    // C0 and C1 would only begin overlong forms. Below, the range of the second byte excludes
    // overlong forms (E0, F0), surrogates (ED) and values beyond U+10FFFF (F4).
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
    case 0xED: (missing, allowed) = (2, 0x80...0x9F)
    case 0xE1...0xEC, 0xEE...0xEF: missing = 2
    case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
    default: return false
    }
    return true
  }
}
