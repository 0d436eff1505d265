@testable import TernGateway

/// Bytes a client may send, and what has to come of them.
struct WebSocketCase: Sendable {
  enum Outcome: Equatable, Sendable {
    case events([WebSocketReader.Event])
    /// The status the connection is closed with.
    case closed(UInt16)
  }

  /// The most bytes of a message, in these cases.
  static let limitBytes = 70_000

  let name: String
  let bytes: [UInt8]
  let outcome: Outcome

  init(_ name: String, _ bytes: [UInt8], _ events: [WebSocketReader.Event]) {
    self.name = name
    self.bytes = bytes
    outcome = .events(events)
  }

  init(_ name: String, _ bytes: [UInt8], closed code: UInt16) {
    self.name = name
    self.bytes = bytes
    outcome = .closed(code)
  }

  /// All of them. Source: RFC 6455, sections 5 to 8.
  static let all: [WebSocketCase] = [
    reservedBits, opcodes, masks, controls, lengths, sizes, fragments, validText, invalidText,
    goodbyes,
  ].flatMap { $0 }
}

/// A frame, however wrong.
struct RawFrame {
  var first: UInt8
  var isMasked = true
  /// The number of bytes of the length: 0 for the seven bits of the second byte.
  var lengthBytes: Int?
  var payload: [UInt8] = []
  var key: [UInt8] = [0x12, 0x34, 0x56, 0x78]

  init(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0) {
    first = (isFinal ? 0x80 : 0) | reserved << 4 | opcode
    self.payload = payload
  }

  func with(_ change: (inout RawFrame) -> Void) -> RawFrame {
    var copy = self
    change(&copy)
    return copy
  }

  var bytes: [UInt8] {
    let count = payload.count
    let shortest = count < 126 ? 0 : count < 1 << 16 ? 2 : 8
    let lengthBytes = lengthBytes ?? shortest
    let mark: UInt8 = isMasked ? 0x80 : 0
    var bytes = [first]
    switch lengthBytes {
    case 0: bytes.append(mark | UInt8(count))
    case 2: bytes += [mark | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
    default:
      bytes.append(mark | 127)
      bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
    }
    if !isMasked { return bytes + payload }
    return bytes + key + payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
  }
}

// MARK: - Heads

extension WebSocketCase {
  private static let opening = RawFrame(1, [0x61], isFinal: false).bytes

  private static var reservedBits: [WebSocketCase] {
    (UInt8(1)...7).flatMap { bits in
      [UInt8(0), 1, 2, 8, 9, 10].map { opcode in
        WebSocketCase(
          "reserved bits \(bits) with opcode \(opcode)",
          (opcode == 0 ? opening : []) + RawFrame(opcode, reserved: bits).bytes, closed: 1002)
      }
    }
  }

  private static var opcodes: [WebSocketCase] {
    let reserved = ([UInt8](3...7) + [UInt8](11...15)).flatMap { opcode in
      [true, false].flatMap { isFinal in
        [
          WebSocketCase(
            "reserved opcode \(opcode), final \(isFinal)",
            RawFrame(opcode, isFinal: isFinal).bytes, closed: 1002),
          WebSocketCase(
            "reserved opcode \(opcode) within a message, final \(isFinal)",
            opening + RawFrame(opcode, [1], isFinal: isFinal).bytes, closed: 1002),
        ]
      }
    }
    let others = [
      WebSocketCase("binary", RawFrame(2, [1]).bytes, closed: 1003),
      WebSocketCase("binary in fragments", RawFrame(2, [1], isFinal: false).bytes, closed: 1003),
      WebSocketCase("nothing to continue", RawFrame(0, [0x61]).bytes, closed: 1002),
      WebSocketCase(
        "nothing to continue, not final", RawFrame(0, isFinal: false).bytes, closed: 1002),
      WebSocketCase(
        "nothing to continue behind a message", RawFrame(1).bytes + RawFrame(0).bytes, closed: 1002),
      WebSocketCase("a message within another", opening + RawFrame(1).bytes, closed: 1002),
      WebSocketCase(
        "a fragment of a message within another", opening + RawFrame(1, isFinal: false).bytes,
        closed: 1002),
    ]
    return reserved + others
  }

  private static var masks: [WebSocketCase] {
    let missing = [UInt8(1), 8, 9, 10].flatMap { opcode in
      [0, 2, 125].map { count in
        WebSocketCase(
          "no mask, opcode \(opcode), \(count) bytes",
          RawFrame(opcode, [UInt8](repeating: 0x61, count: count)).with { $0.isMasked = false }
            .bytes,
          closed: 1002)
      }
    }
    let later = WebSocketCase(
      "no mask on a continuation",
      opening + RawFrame(0, [0x61]).with { $0.isMasked = false }.bytes, closed: 1002)
    let keys: [[UInt8]] = [
      [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0x61, 0x62, 0x63, 0x64], [0, 0xFF, 0, 0xFF],
    ]
    let any = keys.flatMap { key in
      [1, 3, 4, 5, 8].map { count in
        let text = [UInt8](repeating: 0x61, count: count)
        return WebSocketCase(
          "mask \(key) over \(count) bytes", RawFrame(1, text).with { $0.key = key }.bytes,
          [.text(text)])
      }
    }
    return missing + [later] + any
  }

  private static var controls: [WebSocketCase] {
    let names: [UInt8] = [8, 9, 10]
    let long = names.flatMap { opcode in
      [126, 127, 65_535].map { count in
        WebSocketCase(
          "control \(opcode) of \(count) bytes",
          RawFrame(opcode, [UInt8](repeating: 0, count: count)).bytes, closed: 1002)
      }
    }
    let wide = names.flatMap { opcode in
      [2, 8].map { (width: Int) -> WebSocketCase in
        WebSocketCase(
          "control \(opcode) with a length in \(width) bytes",
          RawFrame(opcode, [1]).with { $0.lengthBytes = width }.bytes, closed: 1002)
      }
    }
    let cut = names.map {
      WebSocketCase("control \($0) in fragments", RawFrame($0, isFinal: false).bytes, closed: 1002)
    }
    let pings = [0, 1, 124, 125].map { count in
      let payload = (0..<count).map { UInt8($0 * 2 + 1) }
      return WebSocketCase("a ping of \(count) bytes", RawFrame(9, payload).bytes, [.ping(payload)])
    }
    let pongs = [0, 1, 125].map { count in
      WebSocketCase(
        "a pong of \(count) bytes that nobody waits for",
        RawFrame(10, [UInt8](repeating: 0xFF, count: count)).bytes, [])
    }
    return long + wide + cut + pings + pongs
  }

  private static var lengths: [WebSocketCase] {
    let sizes: [(count: Int, width: Int)] = [
      (0, 2), (1, 2), (125, 2), (0, 8), (1, 8), (125, 8), (126, 8), (65_535, 8),
    ]
    let long = sizes.map { count, width in
      WebSocketCase(
        "\(count) bytes with a length in \(width)",
        RawFrame(1, [UInt8](repeating: 0x61, count: count)).with { $0.lengthBytes = width }.bytes,
        closed: 1002)
    }
    let negative = [UInt8(0x80), 0xC0, 0xFF].map { first in
      WebSocketCase(
        "a length that begins with \(first)",
        [0x81, 0xFF, first, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4], closed: 1002)
    }
    return long + negative
  }

  private static var sizes: [WebSocketCase] {
    let fitting = [0, 1, 125, 126, 127, 65_535, 65_536, limitBytes].map { count in
      let text = [UInt8](repeating: 0x7A, count: count)
      return WebSocketCase("\(count) bytes", RawFrame(1, text).bytes, [.text(text)])
    }
    let half = [UInt8](repeating: 0x7A, count: limitBytes / 2)
    let announced: [UInt8] = [
      0x81, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4,
    ]
    return fitting + [
      WebSocketCase(
        "one byte too many", RawFrame(1, half + half + [0x7A]).bytes, closed: 1009),
      WebSocketCase("a length nobody has room for", announced, closed: 1009),
      WebSocketCase(
        "too much in fragments",
        RawFrame(1, half, isFinal: false).bytes + RawFrame(0, half, isFinal: false).bytes
          + RawFrame(0, [0x7A]).bytes, closed: 1009),
      WebSocketCase(
        "as much as may be, in fragments",
        RawFrame(1, half, isFinal: false).bytes + RawFrame(0, half).bytes, [.text(half + half)]),
      WebSocketCase(
        "too much announced within a message", opening + [0x80] + announced.dropFirst(),
        closed: 1009),
    ]
  }
}
