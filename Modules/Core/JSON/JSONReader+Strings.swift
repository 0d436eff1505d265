extension JSONReader {
  /// Reads from the opening quote through the closing one.
  mutating func stringBody() throws(JSONError) -> String {
    let start = offset + 1
    var index = start
    var isASCII = true
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        offset = index + 1
        return try text(start..<index, isASCII: isASCII)
      }
      if byte == UInt8(ascii: "\\") {
        return try escapedBody(from: start, firstEscape: index)
      }
      if byte < 0x20 { throw JSONError(.invalidString, at: index) }
      if byte >= 0x80 { isASCII = false }
      index += 1
    }
    throw JSONError(.unexpectedEnd, at: bytes.count)
  }

  /// Moves behind the closing quote without looking at what the string says.
  mutating func skipString() throws(JSONError) {
    var index = offset + 1
    while index < bytes.count {
      let byte = bytes[index]
      index += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") {
        endString(at: index)
        return
      }
    }
    throw JSONError(.unexpectedEnd, at: bytes.count)
  }

  private func text(_ range: Range<Int>, isASCII: Bool) throws(JSONError) -> String {
    if isASCII { return String(decoding: bytes[range], as: UTF8.self) }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw JSONError(.invalidString, at: range.lowerBound)
    }
    return text
  }

  private mutating func escapedBody(
    from start: Int, firstEscape: Int
  ) throws(JSONError) -> String {
    var decoded = Array(bytes[start..<firstEscape])
    offset = firstEscape
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        offset += 1
        guard let text = String(validating: decoded, as: UTF8.self) else {
          throw JSONError(.invalidString, at: start)
        }
        return text
      }
      if byte < 0x20 { throw JSONError(.invalidString, at: offset) }
      offset += 1
      if byte == UInt8(ascii: "\\") {
        decoded.append(contentsOf: String(Character(try escape())).utf8)
      } else {
        decoded.append(byte)
      }
    }
    throw JSONError(.unexpectedEnd, at: bytes.count)
  }

  /// Reads what follows a backslash. A lone surrogate is counted and becomes U+FFFD.
  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
    let byte = bytes[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw JSONError(.invalidString, at: offset - 1)
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { return loneSurrogate() }
    let mark = offset
    offset += 2
    let second = try codeUnit()
    guard (0xDC00...0xDFFF).contains(second) else {
      offset = mark
      return loneSurrogate()
    }
    let value = 0x10000 + ((UInt32(first) & 0x3FF) << 10 | (UInt32(second) & 0x3FF))
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  private mutating func loneSurrogate() -> Unicode.Scalar {
    loneSurrogates += 1
    return "\u{FFFD}"
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    guard offset + 4 <= bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue else {
        throw JSONError(.invalidString, at: offset)
      }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    return unit
  }
}
