extension UInt8 {
  /// True for `0`...`9`.
  var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// True for an ASCII letter.
  var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  /// True for a character that may occur inside a name: a letter, a digit or `_`.
  var isNameCharacter: Bool { isASCIILetter || isASCIIDigit || self == UInt8(ascii: "_") }

  /// The value of a hexadecimal digit.
  var hexValue: UInt32? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}

extension UInt32 {
  /// The number written in at most eight hexadecimal digits, nothing else.
  init?(hexDigits: some Collection<UInt8>) {
    self = 0
    for byte in hexDigits {
      guard let digit = byte.hexValue else { return nil }
      self = self << 4 | digit
    }
  }
}
