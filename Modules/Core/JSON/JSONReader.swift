/// Reads JSON text piece by piece from a buffer of bytes, without building values.
///
/// The caller walks the structure: ``nextKey()`` until `nil` after ``beginObject()``,
/// ``nextElement()`` until `false` after ``beginArray()``, and one read or ``skip()`` for each
/// value.
package struct JSONReader: Sendable {
  /// What the next value is, told by its first byte.
  package enum Kind: Sendable {
    case object, array, string, number, bool, null
  }

  /// The most levels of nesting.
  package static let maximumDepth = 128

  let bytes: [UInt8]

  /// The offset of the next unread byte.
  package internal(set) var offset: Int

  /// How many lone surrogates were read so far; each became U+FFFD, so that strings which hold any
  /// may be equal here although they differ in the text.
  package internal(set) var loneSurrogates = 0

  /// Whether the next member or element is the first of its object or array.
  private var isFirst = true
  private var depth = 0

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    offset = 0
  }

  /// Looks at the next value without reading it.
  package mutating func peek() throws(JSONError) -> Kind {
    switch try nextByte() {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case let byte: throw JSONError(.unexpectedByte(byte), at: offset)
    }
  }

  package mutating func beginObject() throws(JSONError) { try open(UInt8(ascii: "{")) }

  package mutating func beginArray() throws(JSONError) { try open(UInt8(ascii: "[")) }

  /// Reads the name of the next member, or the end of the object: `nil`.
  package mutating func nextKey() throws(JSONError) -> String? {
    guard try advance(until: UInt8(ascii: "}")) else { return nil }
    let name = try string()
    try expect(UInt8(ascii: ":"))
    return name
  }

  /// Whether another element follows; reads the end of the array when none does.
  package mutating func nextElement() throws(JSONError) -> Bool {
    try advance(until: UInt8(ascii: "]"))
  }

  /// Reads `null`, `true` or `false`; `null` is `nil`.
  package mutating func boolOrNull() throws(JSONError) -> Bool? {
    isFirst = false
    switch try nextByte() {
    case UInt8(ascii: "t"):
      try literal("true")
      return true
    case UInt8(ascii: "f"):
      try literal("false")
      return false
    default:
      try literal("null")
      return nil
    }
  }

  /// Reads a value of any kind and forgets it; answers where its text lies.
  @discardableResult
  package mutating func skip() throws(JSONError) -> Range<Int> {
    let kind = try peek()
    let start = offset
    switch kind {
    case .object:
      try beginObject()
      while try nextKey() != nil { try skip() }
    case .array:
      try beginArray()
      while try nextElement() { try skip() }
    case .string: try skipString()
    case .number: _ = try number()
    case .bool, .null: _ = try boolOrNull()
    }
    return start..<offset
  }

  /// The text that ``skip()`` stepped over.
  package func text(in range: Range<Int>) -> [UInt8] {
    Array(bytes[range])
  }

  /// Checks that nothing follows.
  package mutating func finish() throws(JSONError) {
    skipSpace()
    if offset < bytes.count { throw JSONError(.trailingBytes, at: offset) }
  }
}

extension JSONReader {
  /// Reads a string.
  package mutating func string() throws(JSONError) -> String {
    guard try nextByte() == UInt8(ascii: "\"") else {
      throw JSONError(.unexpectedType, at: offset)
    }
    isFirst = false
    return try stringBody()
  }

  /// Reads a number: an `integer` when it is whole and fits 64 bits, else a `double`.
  ///
  /// Doubles are rounded to the nearest; `-0` stays a double.
  package mutating func number() throws(JSONError) -> TreeScalar {
    _ = try nextByte()
    isFirst = false
    return try numberBody()
  }

  /// Notes that a string ended before `index`.
  mutating func endString(at index: Int) {
    offset = index
    isFirst = false
  }

  /// Moves to the next byte that is no white space.
  @inline(__always)
  mutating func nextByte() throws(JSONError) -> UInt8 {
    skipSpace()
    guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
    return bytes[offset]
  }

  @inline(__always)
  private mutating func skipSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    let found = try nextByte()
    guard found == byte else { throw JSONError(.unexpectedByte(found), at: offset) }
    offset += 1
  }

  private mutating func open(_ bracket: UInt8) throws(JSONError) {
    guard try nextByte() == bracket else { throw JSONError(.unexpectedType, at: offset) }
    guard depth < JSONReader.maximumDepth else { throw JSONError(.tooDeep, at: offset) }
    offset += 1
    depth += 1
    isFirst = true
  }

  /// Steps over the comma before the next item, or over the closing bracket: `false`.
  private mutating func advance(until bracket: UInt8) throws(JSONError) -> Bool {
    let byte = try nextByte()
    if byte == bracket {
      offset += 1
      depth -= 1
      isFirst = false
      return false
    }
    if isFirst {
      isFirst = false
    } else {
      try expect(UInt8(ascii: ","))
      if try nextByte() == bracket { throw JSONError(.unexpectedByte(bracket), at: offset) }
    }
    return true
  }

  private mutating func literal(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
      guard unsafe bytes[offset] == word.utf8Start[index] else {
        throw JSONError(.unexpectedByte(bytes[offset]), at: offset)
      }
      offset += 1
    }
  }
}
