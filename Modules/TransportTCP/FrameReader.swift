package import TernTransport

/// Cuts the bytes of one connection into frames: a preamble, then a length before each frame.
///
/// It keeps no byte of a frame it has handed over, so an idle connection costs nothing, and it
/// reserves memory as bytes arrive, not as they are announced.
package struct FrameReader {
  /// The first bytes of each side: a name and the version of the framing.
  static let preamble: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1]
  /// The bytes before each frame: its length, most significant byte first.
  static let lengthBytes = 4
  /// The most memory reserved on the word of a peer.
  private static let trustedBytes = 1 << 20

  private enum Stage {
    case preamble(matched: Int)
    case length(value: Int, read: Int)
    case body(expected: Int)
  }

  private let limit: FrameLimit
  private var stage = Stage.preamble(matched: 0)
  private var body: [UInt8] = []
  private var frames: [[UInt8]] = []

  /// Begins before the preamble.
  package init(limit: FrameLimit) {
    self.limit = limit
  }

  /// True when the other end has sent its preamble.
  var isIntroduced: Bool {
    if case .preamble = stage { return false }
    return true
  }

  /// True when the bytes so far end exactly behind a frame, or before the first one.
  var isBetweenFrames: Bool {
    switch stage {
    case .preamble(let matched): matched == 0
    case .length(_, let read): read == 0
    case .body: false
    }
  }

  /// The memory taken by a frame that is not whole yet.
  var heldBytes: Int { body.capacity }

  /// Removes and returns the whole frames.
  package mutating func takeFrames() -> [[UInt8]] {
    exchange(&frames, with: [])
  }

  /// Reads the next bytes of the connection.
  ///
  /// - Throws: Why the link must end; frames that were whole before can still be taken.
  package mutating func consume(_ bytes: Span<UInt8>) throws(LinkClosure) {
    var index = 0
    while index < bytes.count {
      switch stage {
      case .preamble(let matched):
        try readPreamble(bytes, &index, matched)
      case .length(let value, let read):
        try readLength(bytes[index], value, read)
        index += 1
      case .body(let expected):
        readBody(bytes, &index, expected)
      }
    }
  }

  private mutating func readPreamble(
    _ bytes: Span<UInt8>, _ index: inout Int, _ matched: Int
  ) throws(LinkClosure) {
    guard bytes[index] == Self.preamble[matched] else {
      var seen = Array(Self.preamble[..<matched])
      while index < bytes.count, seen.count < Self.preamble.count {
        seen.append(bytes[index])
        index += 1
      }
      throw .foreignPeer(seen)
    }
    index += 1
    stage =
      matched + 1 == Self.preamble.count
      ? .length(value: 0, read: 0) : .preamble(matched: matched + 1)
  }

  private mutating func readLength(
    _ byte: UInt8, _ value: Int, _ read: Int
  ) throws(LinkClosure) {
    let value = value << 8 | Int(byte)
    if read + 1 < Self.lengthBytes {
      stage = .length(value: value, read: read + 1)
      return
    }
    guard value <= limit.bytes else {
      throw .frameTooLarge(bytes: value, limitBytes: limit.bytes)
    }
    stage = .body(expected: value)
    if value == 0 { finishFrame() }
  }

  private mutating func readBody(
    _ bytes: Span<UInt8>, _ index: inout Int, _ expected: Int
  ) {
    let count = min(expected - body.count, bytes.count - index)
    if body.capacity < body.count + count {
      let wanted = max(body.count + count, 2 * body.count, Self.trustedBytes)
      body.reserveCapacity(min(expected, wanted))
    }
    let part = bytes.extracting(index..<index + count)
    unsafe part.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
    index += count
    if body.count == expected { finishFrame() }
  }

  private mutating func finishFrame() {
    frames.append(exchange(&body, with: []))
    stage = .length(value: 0, read: 0)
  }
}
