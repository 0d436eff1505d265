/// Texts of bytes, as rules have them.
///
/// Source: firestore reference, section 6.5.
enum DocumentRuleBytes {
  private static let hexadecimalDigits = Array("0123456789ABCDEF".utf8)
  private static let base64Digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Two upper-case digits for each byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(hexadecimalDigits[Int(byte >> 4)])
      text.append(hexadecimalDigits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Base64 in the alphabet of URLs, padded.
  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for digit in 0..<4 {
        let index = Int(bits >> UInt32(18 - 6 * digit) & 63)
        text.append(digit <= group.count ? base64Digits[index] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The four bytes of a number, the lowest first.
  static func littleEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}

/// A cyclic redundancy check of 32 bits.
///
/// The bits are reflected, and the register is inverted at both ends, as both standards have it.
struct CRC32 {
  private let table: [UInt32]

  /// - Parameter polynomial: The generator with its bits reversed.
  private init(polynomial: UInt32) {
    table = (0..<256).map { index in
      (0..<8).reduce(UInt32(index)) { value, _ in
        value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1
      }
    }
  }

  /// The check of Ethernet and ZIP.
  static let ieee = CRC32(polynomial: 0xEDB8_8320)
  /// The check of iSCSI.
  static let castagnoli = CRC32(polynomial: 0x82F6_3B78)

  func sum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 0xFF)] }
  }
}
