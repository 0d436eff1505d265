@testable import TernGateway

// MARK: - Messages

extension WebSocketCase {
  static var fragments: [WebSocketCase] {
    let counts = [2, 3, 10, 100].flatMap { count in
      [0, 1, 200].map { size in
        let part = [UInt8](repeating: 0x62, count: size)
        let frames = (0..<count).flatMap { index in
          RawFrame(index == 0 ? 1 : 0, part, isFinal: index == count - 1).bytes
        }
        return WebSocketCase(
          "\(count) fragments of \(size) bytes", frames,
          [.text([UInt8](repeating: 0x62, count: size * count))])
      }
    }
    let between = [UInt8(9), 10].flatMap { opcode in
      [0, 1, 125].flatMap { size in
        [1, 3].map { count in
          let payload = [UInt8](repeating: 0xFE, count: size)
          let controls = (0..<count).flatMap { _ in RawFrame(opcode, payload).bytes }
          let pings =
            opcode == 9 ? (0..<count).map { _ in WebSocketReader.Event.ping(payload) } : []
          return WebSocketCase(
            "\(count) of opcode \(opcode) with \(size) bytes between fragments",
            RawFrame(1, [0x61], isFinal: false).bytes + controls + RawFrame(0, [0x62]).bytes,
            pings + [.text([0x61, 0x62])])
        }
      }
    }
    let goodbye = WebSocketCase(
      "a goodbye between fragments",
      RawFrame(1, [0x61], isFinal: false).bytes + RawFrame(8, [3, 0xE8]).bytes, [.close(1000)])
    return counts + between + [goodbye]
  }

  private static let texts = [
    "é", "ß", "€", "한", "\u{FFFD}", "\u{E000}", "😀", "\u{10FFFF}", "a\u{301}", "x€y😀z", "\u{0}",
    "\u{7F}\u{80}", "\u{7FF}\u{800}", "\u{FFFF}\u{10000}",
  ]

  /// Every text, cut by fragments wherever it can be.
  static var validText: [WebSocketCase] {
    texts.flatMap { text in
      let bytes = Array(text.utf8)
      return (0...bytes.count).map { cut in
        WebSocketCase(
          "\(text.debugDescription) cut at \(cut)",
          RawFrame(1, Array(bytes[..<cut]), isFinal: false).bytes
            + RawFrame(0, Array(bytes[cut...])).bytes, [.text(bytes)])
      }
    }
  }

  /// Bytes that no text has.
  private static let noTexts: [[UInt8]] = [
    [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xC3, 0xC3],
    [0xE0, 0x80, 0x80],
    [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xE1, 0x80, 0x41], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
    [0xEF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80],
    [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC],
    [0xFE],
    [0xFF], [0x61, 0xFF, 0x61], [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0, 0x80],
  ]

  static var invalidText: [WebSocketCase] {
    noTexts.flatMap { bytes in
      [
        WebSocketCase("\(bytes) as a text", RawFrame(1, bytes).bytes, closed: 1007),
        WebSocketCase(
          "\(bytes) in single bytes",
          RawFrame(1, isFinal: false).bytes
            + bytes.flatMap { RawFrame(0, [$0], isFinal: false).bytes } + RawFrame(0).bytes,
          closed: 1007),
        WebSocketCase(
          "\(bytes) behind a text",
          RawFrame(1, [0x61], isFinal: false).bytes
            + RawFrame(0, bytes).bytes, closed: 1007),
      ]
    }
  }

  static var goodbyes: [WebSocketCase] {
    let good: [UInt16] = [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000,
      4999,
    ]
    let bad: [UInt16] = [
      0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 9999, 65_535,
    ]
    func payload(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
      [UInt8(code >> 8), UInt8(code & 0xFF)] + reason
    }
    let reasons = ["", "bye", "grüße", String(repeating: "x", count: 123)].map { reason in
      WebSocketCase(
        "a goodbye with the reason \(reason.debugDescription)",
        RawFrame(8, payload(1000, Array(reason.utf8))).bytes, [.close(1000)])
    }
    let taken = good.map {
      WebSocketCase("goodbye \($0)", RawFrame(8, payload($0)).bytes, [.close($0)])
    }
    let refused = bad.map {
      WebSocketCase("goodbye \($0)", RawFrame(8, payload($0)).bytes, closed: 1002)
    }
    let unreadable = noTexts.filter { $0 != [0xC2] }.prefix(8).map {
      WebSocketCase(
        "a goodbye whose reason is \($0)", RawFrame(8, payload(1000, $0)).bytes, closed: 1007)
    }
    let short = [
      WebSocketCase("a goodbye without a status", RawFrame(8).bytes, [.close(nil)]),
      WebSocketCase("half a status", RawFrame(8, [3]).bytes, closed: 1002),
    ]
    return taken + refused + reasons + unreadable + short
  }
}
