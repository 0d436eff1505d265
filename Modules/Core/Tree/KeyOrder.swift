/// The mapping of a key's position in key order to one integer.
///
/// Integer-like keys become 0..<2^32. All others become 2^56 plus their first seven bytes,
/// mapped so that unsigned order of bytes is UTF-16 order; only ties need the text itself.
enum KeyOrder {
  /// The smallest order of a key that is not integer-like.
  static let firstText: UInt64 = 1 << 56

  /// Added to an integer-like key's value to make it unsigned.
  static let integerBias: Int64 = 2_147_483_648

  private static let prefixLength = 7

  /// Returns the order of a key given as UTF-8.
  ///
  /// Keys of equal order may still differ.
  static func order(of bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    if let value = unsafe integerValue(of: bytes) { return UInt64(value + integerBias) }
    var order: UInt64 = 1
    for index in 0..<prefixLength {
      let byte = unsafe index < bytes.count ? utf16Ordered(bytes[index]) : 0
      order = order << 8 | UInt64(byte)
    }
    return order
  }

  /// Moves the lead bytes of U+E000...U+FFFF behind those of the supplementary planes.
  ///
  /// UTF-8 puts U+FFFF before U+10000; UTF-16 code units put it after.
  @inline(__always)
  static func utf16Ordered(_ byte: UInt8) -> UInt8 {
    byte == 0xEE || byte == 0xEF ? byte | 0xF0 : byte
  }

  /// Returns true for a byte that no key may contain. All of them are ASCII, so bytes of longer
  /// characters never match.
  static func isForbidden(_ byte: UInt8) -> Bool {
    switch byte {
    case 0..<0x20, 0x7F: true
    case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "/"): true
    case UInt8(ascii: "["), UInt8(ascii: "]"): true
    default: false
    }
  }

  /// The value of an optional minus, zeros, and one to ten digits, if it fits 32 bits.
  ///
  /// Leading zeros are accepted: `007` sorts as 7, and the length decides between the two.
  private static func integerValue(of bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let first = unsafe bytes.first, first <= UInt8(ascii: "9") else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    guard bytes.count > (isNegative ? 1 : 0) else { return nil }
    var value: Int64 = 0
    for index in (isNegative ? 1 : 0)..<bytes.count {
      let digit = unsafe bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int64(digit)
      guard value <= integerBias else { return nil }
    }
    if isNegative { value = -value }
    return value < integerBias ? value : nil
  }
}
