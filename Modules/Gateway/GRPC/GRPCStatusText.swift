/// The text of `grpc-message`: UTF-8 in which bytes other than printable ASCII, and `%`, are
/// escaped as `%XX`.
enum GRPCStatusText {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Returns the escaped text.
  static func encode(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 2)
    for byte in text.utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 0x0F)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns true for bytes that stand for themselves: printable ASCII, the space among it,
  /// without the percent sign.
  private static func isPlain(_ byte: UInt8) -> Bool {
    0x20...0x7E ~= byte && byte != UInt8(ascii: "%")
  }
}

/// The value of `grpc-timeout`: 1 to 8 digits and a unit.
enum GRPCTimeout {
  /// Returns the time in nanoseconds; `nil` for text of another form. Times beyond 292 years are
  /// cut.
  ///
  /// The units are `n`, `u`, `m`, `S`, `M` and `H`: nanoseconds to hours.
  ///
  /// - Parameter text: The value of the field, without spaces.
  static func nanoseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    // Eight digits at the most, so the count itself never overflows.
    guard 2...9 ~= bytes.count, let unit = bytes.last.flatMap(unit) else { return nil }
    var count: Int64 = 0
    for byte in bytes.dropLast() {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      count = count * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    let (result, overflows) = count.multipliedReportingOverflow(by: unit)
    return overflows ? .max : result
  }

  /// Returns the nanoseconds of a unit; the case of the letter counts.
  private static func unit(_ byte: UInt8) -> Int64? {
    switch byte {
    case UInt8(ascii: "n"): 1
    case UInt8(ascii: "u"): 1_000
    case UInt8(ascii: "m"): 1_000_000
    case UInt8(ascii: "S"): 1_000_000_000
    case UInt8(ascii: "M"): 60_000_000_000
    case UInt8(ascii: "H"): 3_600_000_000_000
    default: nil
    }
  }
}
