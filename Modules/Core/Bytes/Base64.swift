/// Standard base64 with padding. Source: RFC 4648, section 4.
package enum Base64 {
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
}
