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
  /// The most memory reserved on the word of a peer. A peer that announces 64 MiB and sends nothing
  /// makes the reader hold 1 MiB at most.
  private static let trustedBytes = 1 << 20

  /// The part of the stream that the next byte belongs to.
  private enum Stage {
    /// So many bytes of the preamble were right.
    case preamble(matched: Int)
    /// So many of the 4 bytes of a length were read; `value` is their number so far.
    case length(value: Int, read: Int)
    /// A body of so many bytes is being collected in `body`.
    case body(expected: Int)
  }

  private let limit: FrameLimit
  private var stage = Stage.preamble(matched: 0)
  /// The bytes so far of the frame that is being read; empty between frames.
  private var body: [UInt8] = []
  /// Whole frames in their order, until ``takeFrames()``.
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
  ///   `foreignPeer` for a wrong preamble, with the bytes seen; `frameTooLarge` for a length
  ///   above the limit, before memory is reserved. After an error no further bytes may be read.
  /// - Complexity: O(*n*) in the bytes, with one copy of each.
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
    // The error shows the first bytes, at most the length of a preamble, so that a log tells
    // which protocol the peer speaks.
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
    // A frame without a body has no byte that would finish it later.
    if value == 0 { finishFrame() }
  }

  private mutating func readBody(
    _ bytes: Span<UInt8>, _ index: inout Int, _ expected: Int
  ) {
    let count = min(expected - body.count, bytes.count - index)
    if body.capacity < body.count + count {
      // Doubling keeps the copies linear; the minimum of 1 MiB avoids them for most frames; the
      // frame's own length bounds it, so that nothing is left over.
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
