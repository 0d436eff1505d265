/// Reads the JSON of a rules file: comments and strings over several lines are welcome.
///
/// Beyond RFC 8259 it skips `//` and `/* */` comments and a leading byte order mark, accepts one
/// comma after the last member or element, and takes raw control characters such as line breaks
/// inside strings. Source: realtime reference, 12.1; the Firebase console writes the comma.
struct RulesFileParser {
  private let bytes: [UInt8]
  private let depthLimit: Int
  private var index = 0

  init(bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
  }

  /// The one value of the file.
  static func parse(_ bytes: [UInt8], limits: RulesLimits) throws(SyntaxFault) -> RulesJSON {
    guard bytes.count <= limits.fileBytes else {
      throw SyntaxFault(
        "the file has \(bytes.count) bytes; at most \(limits.fileBytes) are allowed", at: 0)
    }
    if let offset = firstInvalidByte(of: bytes) {
      throw SyntaxFault("the file is not UTF-8", at: offset)
    }
    var parser = RulesFileParser(bytes: bytes, depthLimit: limits.fileDepth)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.index = 3 }
    let value = try parser.value(depth: 0)
    try parser.skipBlanks()
    guard parser.index == bytes.count else {
      throw SyntaxFault("expected the end of the file", at: parser.index)
    }
    return value
  }

  private static func firstInvalidByte(of bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    var decoder = UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.parseScalar(from: &iterator) {
      case .valid(let encoded): offset += encoded.count
      case .error: return offset
      case .emptyInput: return nil
      }
    }
  }

  private mutating func value(depth: Int) throws(SyntaxFault) -> RulesJSON {
    try skipBlanks()
    let start = index
    guard depth <= depthLimit else {
      throw SyntaxFault("more than \(depthLimit) levels of objects", at: start)
    }
    guard let byte = peek else { throw SyntaxFault("expected a value", at: start) }
    switch byte {
    case UInt8(ascii: "{"): return RulesJSON(offset: start, content: try object(depth: depth))
    case UInt8(ascii: "["): return RulesJSON(offset: start, content: try array(depth: depth))
    case UInt8(ascii: "\""): return RulesJSON(offset: start, content: .text(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      skipNumber()
      return RulesJSON(offset: start, content: .number)
    default: return RulesJSON(offset: start, content: try word())
    }
  }

  private mutating func object(depth: Int) throws(SyntaxFault) -> RulesJSON.Content {
    var members: [RulesJSON.Member] = []
    var names: Set<[UInt8]> = []
    index += 1
    try skipBlanks()
    if skip("}") { return .object([]) }
    repeat {
      try skipBlanks()
      if !members.isEmpty, peek == UInt8(ascii: "}") { break }
      let offset = index
      guard peek == UInt8(ascii: "\"") else {
        throw SyntaxFault("expected a member's name in double quotes", at: offset)
      }
      let name = try string()
      guard names.insert(name.bytes).inserted else {
        throw SyntaxFault("the member \"\(name.string)\" appears twice", at: offset)
      }
      try skipBlanks()
      guard skip(":") else { throw SyntaxFault("expected ':' after the name", at: index) }
      let value = try value(depth: depth + 1)
      members.append(RulesJSON.Member(name: name.string, nameOffset: offset, value: value))
      try skipBlanks()
    } while skip(",")
    guard skip("}") else { throw SyntaxFault("expected ',' or '}'", at: index) }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(SyntaxFault) -> RulesJSON.Content {
    var elements: [RulesJSON] = []
    index += 1
    try skipBlanks()
    if skip("]") { return .array([]) }
    repeat {
      try skipBlanks()
      if !elements.isEmpty, peek == UInt8(ascii: "]") { break }
      elements.append(try value(depth: depth + 1))
      try skipBlanks()
    } while skip(",")
    guard skip("]") else { throw SyntaxFault("expected ',' or ']'", at: index) }
    return .array(elements)
  }

  private mutating func word() throws(SyntaxFault) -> RulesJSON.Content {
    for (text, content) in [
      ("true", RulesJSON.Content.bool(true)), ("false", .bool(false)), ("null", .null),
    ] where bytes[index...].starts(with: text.utf8) {
      index += text.utf8.count
      return content
    }
    throw SyntaxFault("expected a value", at: index)
  }

  /// Numbers mean nothing in a rules file; where one ends is all that matters.
  private mutating func skipNumber() {
    while let byte = peek, byte.isASCIIDigit || "+-.eE".utf8.contains(byte) { index += 1 }
  }
}

extension RulesFileParser {
  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func skipBlanks() throws(SyntaxFault) {
    while let byte = peek {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        index += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(SyntaxFault) {
    let start = index
    let second = start + 1 < bytes.count ? bytes[start + 1] : 0
    index += 2
    if second == UInt8(ascii: "/") {
      while let byte = peek, byte != UInt8(ascii: "\n") { index += 1 }
      return
    }
    guard second == UInt8(ascii: "*") else { throw SyntaxFault("unexpected '/'", at: start) }
    while index + 1 < bytes.count {
      if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") {
        index += 2
        return
      }
      index += 1
    }
    throw SyntaxFault("the comment does not end", at: start)
  }

  private mutating func string() throws(SyntaxFault) -> RulesText {
    var text = RulesText()
    let start = index
    index += 1
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        text.end(at: index)
        index += 1
        return text
      case UInt8(ascii: "\\"): try escape(into: &text)
      default:
        text.append(byte, from: index)
        index += 1
      }
    }
    throw SyntaxFault("the string does not end", at: start)
  }

  private mutating func escape(into text: inout RulesText) throws(SyntaxFault) {
    let start = index
    index += 1
    guard let byte = peek else { throw SyntaxFault("the string does not end", at: start) }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte, from: start)
    case UInt8(ascii: "b"): text.append(0x08, from: start)
    case UInt8(ascii: "f"): text.append(0x0C, from: start)
    case UInt8(ascii: "n"): text.append(0x0A, from: start)
    case UInt8(ascii: "r"): text.append(0x0D, from: start)
    case UInt8(ascii: "t"): text.append(0x09, from: start)
    case UInt8(ascii: "u"): text.append(try escapedScalar(from: start), from: start)
    default: throw SyntaxFault("unknown escape in a string", at: start)
    }
  }

  private mutating func escapedScalar(from start: Int) throws(SyntaxFault) -> Unicode.Scalar {
    let first = try hexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(UInt16(first)), skip("\\"), skip("u") else {
      throw SyntaxFault("half of a surrogate pair", at: start)
    }
    let second = try hexDigits(from: start)
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    else { throw SyntaxFault("half of a surrogate pair", at: start) }
    return scalar
  }

  private mutating func hexDigits(from start: Int) throws(SyntaxFault) -> UInt32 {
    guard index + 4 <= bytes.count, let code = UInt32(hexDigits: bytes[index..<index + 4]) else {
      throw SyntaxFault("\\u needs four hexadecimal digits", at: start)
    }
    index += 4
    return code
  }
}
