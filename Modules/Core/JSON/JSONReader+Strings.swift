extension JSONReader {
  /// Reads from the opening quote through the closing one.
  ///
  /// A string without escapes is found by one scan and decoded at once; the first escape switches
  /// to the slower way, which copies.
  ///
  /// - Throws: An error at the offending byte, and for invalid UTF-8 at the string's first byte.
  mutating func stringBody() throws(JSONError) -> String {
    let start = index + 1
    var next = start
    var isASCII = true
    while next < bytes.count {
      let byte = bytes[next]
      if byte == UInt8(ascii: "\"") {
        index = next + 1
        return try text(start..<next, isASCII: isASCII)
      }
      if byte == UInt8(ascii: "\\") {
        return try escapedBody(from: start, firstEscape: next)
      }
      if byte < 0x20, !options.allowsControlCharacters { throw error(.controlCharacter, at: next) }
      if byte >= 0x80 { isASCII = false }
      next += 1
    }
    throw error(.unfinishedString, at: bytes.count)
  }

  /// Moves behind the closing quote without looking at what the string says.
  ///
  /// Neither escapes nor UTF-8 are checked, because the string is not used.
  mutating func skipString() throws(JSONError) {
    var next = index + 1
    while next < bytes.count {
      let byte = bytes[next]
      next += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") {
        endString(at: next)
        return
      }
    }
    throw error(.unfinishedString, at: bytes.count)
  }

  /// Reads a string, and for each of its bytes the offset in the text of what wrote it; one more
  /// for the closing quote.
  ///
  /// Used for files whose strings contain a language of their own, so that messages name a place in
  /// the file. The bytes may be invalid UTF-8; the caller has checked the whole text.
  package mutating func stringWithOrigins() throws(JSONError) -> (bytes: [UInt8], origins: [Int]) {
    guard try nextByte(.string) == UInt8(ascii: "\"") else { throw unexpected(.string) }
    var decoded: [UInt8] = []
    var origins: [Int] = []
    index += 1
    while index < bytes.count {
      let (byte, origin) = (bytes[index], offset)
      switch byte {
      case UInt8(ascii: "\""):
        endString(at: index + 1)
        return (decoded, origins + [origin])
      case UInt8(ascii: "\\"):
        for byte in String(Character(try escape())).utf8 {
          decoded.append(byte)
          origins.append(origin)
        }
      default:
        if byte < 0x20, !options.allowsControlCharacters {
          throw error(.controlCharacter, at: index)
        }
        decoded.append(byte)
        origins.append(origin)
        index += 1
      }
    }
    throw error(.unfinishedString, at: bytes.count)
  }

  /// Decodes bytes without escapes. ASCII needs no validation.
  private func text(_ range: Range<Int>, isASCII: Bool) throws(JSONError) -> String {
    if isASCII { return String(decoding: bytes[range], as: UTF8.self) }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw error(.invalidUTF8, at: range.lowerBound)
    }
    return text
  }

  /// Reads a string from its first escape on.
  ///
  /// - Parameters:
  ///   - start: The index of the first byte behind the opening quote.
  ///   - firstEscape: The index of the first backslash; everything before it is plain.
  private mutating func escapedBody(
    from start: Int, firstEscape: Int
  ) throws(JSONError) -> String {
    var decoded = Array(bytes[start..<firstEscape])
    index = firstEscape
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        index += 1
        guard let text = String(validating: decoded, as: UTF8.self) else {
          throw error(.invalidUTF8, at: start)
        }
        return text
      }
      if byte < 0x20, !options.allowsControlCharacters { throw error(.controlCharacter, at: index) }
      if byte == UInt8(ascii: "\\") {
        decoded.append(contentsOf: String(Character(try escape())).utf8)
      } else {
        index += 1
        decoded.append(byte)
      }
    }
    throw error(.unfinishedString, at: bytes.count)
  }

  /// Reads a backslash and what follows it. A lone surrogate is counted and becomes U+FFFD, unless
  /// it is rejected.
  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    guard start + 1 < bytes.count else { throw error(.unfinishedString, at: bytes.count) }
    let byte = bytes[start + 1]
    index += 2
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(from: start)
    default: throw error(.invalidEscape, at: start)
    }
  }

  /// Reads `\uXXXX`, and the second escape of a surrogate pair.
  ///
  /// A high half that is not followed by a low one is lone; the reader goes back, because what
  /// follows may be an escape of its own.
  private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
    let first = try codeUnit(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return try loneSurrogate(from: start) }
    let mark = index
    index += 2
    let second = try codeUnit(from: mark)
    guard (0xDC00...0xDFFF).contains(second) else {
      index = mark
      return try loneSurrogate(from: start)
    }
    let value = 0x10000 + ((UInt32(first) & 0x3FF) << 10 | (UInt32(second) & 0x3FF))
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  /// Handles half of a surrogate pair. Swift strings cannot hold one, so it becomes U+FFFD unless
  /// the options reject it.
  private mutating func loneSurrogate(from start: Int) throws(JSONError) -> Unicode.Scalar {
    if options.rejectsLoneSurrogates { throw error(.loneSurrogate, at: start) }
    loneSurrogates += 1
    return "\u{FFFD}"
  }

  /// Reads four hexadecimal digits.
  private mutating func codeUnit(from start: Int) throws(JSONError) -> UInt16 {
    guard index + 4 <= bytes.count else { throw error(.unfinishedString, at: bytes.count) }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else {
        throw error(.invalidEscape, at: start)
      }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }
}
