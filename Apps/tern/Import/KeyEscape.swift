/// Makes a key of any text: what a key may not hold becomes `%` and two hexadecimal digits.
///
/// Escaped are `.` `#` `$` `/` `[` `]`, ASCII control characters, and `%` itself, so that two
/// different texts never become the same key: `a.b` is `a%2Eb`.
func escapedKey(_ text: String) -> String {
  var bytes: [UInt8] = []
  for byte in text.utf8 {
    if byte < 0x20 || byte == 0x7F || ".#$/[]%".utf8.contains(byte) {
      let digits = Array("0123456789ABCDEF".utf8)
      bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    } else {
      bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}
