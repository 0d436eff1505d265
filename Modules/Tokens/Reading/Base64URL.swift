/// Base64 as tokens are written: with `-` and `_`, without padding, each byte string one way only.
/// Source: RFC 7515, section 2; RFC 4648, section 3.5.
///
/// The one-way rule matters for ``TokenAuthenticator``: two texts of one token would be two entries
/// in its cache.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes a text stands for; `nil` when it is written in any other way.
  ///
  /// `bits` holds the digits not yet emitted; the mask drops bits that were, so that long input
  /// cannot overflow it.
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for digit in text {
      guard let value = value(of: digit) else { return nil }
      bits = (bits << 6 | value) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    // Six bits left are half a byte too few; bits that stand for nothing must be zero.
    guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
