extension JSONReader {
  /// Reads from the first digit or the minus through the last byte of the number.
  ///
  /// Most numbers have few digits and are converted exactly with integers alone. Only the rest goes
  /// through the conversion of the standard library, which is slower and allocates.
  ///
  /// - Throws: ``JSONError/Reason/invalidNumber`` at the start of the number: for leading zeros,
  ///   missing digits, and values beyond the range of a double.
  mutating func numberBody() throws(JSONError) -> TreeScalar {
    let start = index
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    var digits = DecimalDigits()
    let whole = scanDigits(into: &digits)
    let hasLeadingZero = whole > 1 && bytes[index - whole] == UInt8(ascii: "0")
    guard whole > 0, !hasLeadingZero else { throw error(.invalidNumber, at: start) }
    var isWhole = true
    if peekByte == UInt8(ascii: ".") {
      isWhole = false
      index += 1
      let fraction = scanDigits(into: &digits)
      guard fraction > 0 else { throw error(.invalidNumber, at: start) }
      digits.exponent -= fraction
    }
    if peekByte == UInt8(ascii: "e") || peekByte == UInt8(ascii: "E") {
      isWhole = false
      digits.exponent += try scanExponent(start: start)
    }
    if isWhole, let integer = digits.integer(isNegative: isNegative) { return .integer(integer) }
    if let exact = digits.exactDouble { return .double(isNegative ? -exact : exact) }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let value = Double(text), value.isFinite else {
      throw error(.invalidNumber, at: start)
    }
    return .double(value)
  }

  private var peekByte: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Steps over digits and answers how many there were.
  private mutating func scanDigits(into digits: inout DecimalDigits) -> Int {
    let start = index
    while index < bytes.count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      if digit > 9 { break }
      digits.append(digit)
      index += 1
    }
    return index - start
  }

  /// Exponents above count as this. No text has so many zeros that they would make up for it.
  private static let exponentLimit = 1 << 48

  /// Reads `e`, an optional sign and at least one digit. Huge exponents are cut, so that adding to
  /// them cannot overflow.
  private mutating func scanExponent(start: Int) throws(JSONError) -> Int {
    index += 1
    let isNegative = peekByte == UInt8(ascii: "-")
    if isNegative || peekByte == UInt8(ascii: "+") { index += 1 }
    var value = 0
    let first = index
    while let byte = peekByte, byte &- UInt8(ascii: "0") <= 9 {
      value = min(value * 10 + Int(byte - UInt8(ascii: "0")), Self.exponentLimit)
      index += 1
    }
    guard index > first else { throw error(.invalidNumber, at: start) }
    return isNegative ? -value : value
  }
}

/// The digits of a decimal number as one integer, as long as they fit.
///
/// After an overflow the value means nothing, and only the text can tell the number.
private struct DecimalDigits {
  private var value: UInt64 = 0
  private var overflows = false
  /// The power of ten the digits are to be multiplied with.
  var exponent = 0

  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Appends one digit. Below 10¹⁸ one more digit always fits, so most digits need no check.
  @inline(__always)
  mutating func append(_ digit: UInt8) {
    if value < 1_000_000_000_000_000_000 {
      value = value * 10 + UInt64(digit)
    } else {
      let (product, high) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      overflows = overflows || high || carry
      value = sum
    }
  }

  /// The digits as 64-bit integer; `nil` for minus zero and for what does not fit.
  func integer(isNegative: Bool) -> Int64? {
    if overflows || isNegative && value == 0 { return nil }
    if isNegative { return value <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- value) : nil }
    return Int64(exactly: value)
  }

  /// The double, when one multiplication or division of exact doubles gives it.
  ///
  /// Both operands are exact up to 2^53 and 10^22, so the one rounding is the right one.
  var exactDouble: Double? {
    guard !overflows, value <= 1 << 53, exponent.magnitude < DecimalDigits.powersOfTen.count
    else { return nil }
    let power = DecimalDigits.powersOfTen[Int(exponent.magnitude)]
    return exponent < 0 ? Double(value) / power : Double(value) * power
  }
}
