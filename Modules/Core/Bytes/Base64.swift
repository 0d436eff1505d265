/// Standard base64 with padding. Source: RFC 4648, section 4.
///
/// The hash of a tree encodes one digest for each node, so that form works on words without an
/// array.
package enum Base64 {
  /// The 28 characters for the 20 bytes of a SHA-1 digest, given as words; four to a word, the
  /// first one in its most significant byte.
  /// The last word is no character's: a vector has eight.
  static func encode(
    _ digest: (UInt32, UInt32, UInt32, UInt32, UInt32)
  ) -> SIMD8<UInt32> {
    let (a, b, c, d, e) = digest
    let last = characters(e << 8 & 0xFF_FFFF) & 0xFFFF_FF00 | UInt32(UInt8(ascii: "="))
    return SIMD8(
      characters(a >> 8), characters(a << 16 & 0xFF_FFFF | b >> 16),
      characters(b << 8 & 0xFF_FFFF | c >> 24), characters(c & 0xFF_FFFF), characters(d >> 8),
      characters(d << 16 & 0xFF_FFFF | e >> 16), last, 0)
  }

  /// The four characters for 24 bits, worked out side by side in the bytes of a word.
  ///
  /// The letters are found without a table: 65 is added for `A`...`Z`, and a correction for each
  /// later range of the alphabet.
  @inline(__always)
  private static func characters(_ bits: UInt32) -> UInt32 {
    let values = bits.spread(0xFC_0000, 6) | bits.spread(0x3_F000, 4) | bits.spread(0xFC0, 2)
    let sextets = values | bits & 0x3F
    let letters = sextets &+ 65 &* 0x0101_0101 &+ sextets.bytes(from: 26) &* 6
    return letters &- sextets.bytes(from: 52) &* 75 &- sextets.bytes(from: 62) &* 15
      &+ sextets.bytes(from: 63) &* 3
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Four characters for every three bytes or part of three.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var start = 0
    while start < bytes.count {
      let length = min(bytes.count - start, 3)
      var bits: UInt32 = 0
      for index in 0..<3 { bits = bits << 8 | (index < length ? UInt32(bytes[start + index]) : 0) }
      for position in 0..<4 {
        let index = Int(bits >> UInt32(18 - 6 * position) & 63)
        text.append(position <= length ? alphabet[index] : UInt8(ascii: "="))
      }
      start += 3
    }
    return text
  }

  /// The bytes that a text stands for; `nil` when it is not base64. Padding may be left out.
  ///
  /// Both alphabets are accepted, that of URLs too, and bits that stand for nothing are ignored;
  /// tokens have a strict reader of their own.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.utf8.dropFirst(digits.count)
    guard padding.count < 3, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return count == 6 ? nil : bytes
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

extension UInt32 {
  /// The bits of `mask`, moved up.
  @inline(__always)
  func spread(_ mask: UInt32, _ shift: UInt32) -> UInt32 { (self & mask) << shift }

  /// A one in every byte that is at least `limit`; all bytes must be less than 128.
  @inline(__always)
  func bytes(from limit: UInt32) -> UInt32 {
    (self &+ (128 &- limit) &* 0x0101_0101) >> 7 & 0x0101_0101
  }
}
