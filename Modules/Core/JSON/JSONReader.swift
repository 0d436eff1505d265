/// Reads JSON text piece by piece from a buffer of bytes, without building values.
///
/// The caller walks the structure: ``nextKey()`` until `nil` after ``beginObject()``,
/// ``nextElement()`` until `false` after ``beginArray()``, and one read or ``skip()`` for each
/// value. Offsets count from the start of the text, also where parts of it have been dropped by
/// ``append(_:)``.
///
/// Copies are cheap as long as neither side appends, which makes going back to an earlier state
/// possible. Depth and duplicates are bounded by ``JSONOptions``; size is the caller's concern.
package struct JSONReader: Sendable {
  /// The kind of the next value, told by its first byte.
  package enum Kind: Sendable {
    case object, array, string, number, bool, null
  }

  let options: JSONOptions

  /// The part of the text in memory; ``append(_:)`` drops what was read and adds more.
  private(set) var bytes: [UInt8]

  /// The index in ``bytes`` of the next unread byte.
  var index: Int

  /// Bytes of the text that were dropped before those in the buffer.
  private var droppedBytes = 0
  /// The place of the first byte in the buffer.
  private var start = TextPosition()

  /// The number of lone surrogates read so far. Each became U+FFFD, so that strings which hold any
  /// may be equal here although they differ in the text.
  package internal(set) var loneSurrogates = 0

  /// The offset of the name that ``nextKey()`` read last.
  package private(set) var nameOffset = 0

  /// True if the next member or element is the first of its object or array.
  private var isFirst = true
  /// The objects and arrays open, at most the limit of the options.
  private var depth = 0
  /// The names of each open object, if duplicates are rejected.
  ///
  /// Kept as bytes, because strings that are canonically equivalent are different names.
  private var names: [Set<[UInt8]>] = []

  package init(_ bytes: [UInt8], _ options: JSONOptions = .standard) {
    self.bytes = bytes
    self.options = options
    index = 0
  }

  /// The offset of the next unread byte.
  package var offset: Int { droppedBytes + index }

  /// The number of unread bytes in the buffer.
  package var unreadBytes: Int { bytes.count - index }

  /// Moves to the next byte that belongs to the structure and looks at it without reading it.
  ///
  /// - Throws: ``JSONError/Reason/expected(_:found:)`` where no value begins, also at the end of
  ///   the text.
  package mutating func peek() throws(JSONError) -> Kind {
    switch try nextByte(.value) {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw unexpected(.value)
    }
  }

  package mutating func beginObject() throws(JSONError) {
    try open(UInt8(ascii: "{"), .object)
    if options.rejectsDuplicates { names.append([]) }
  }

  package mutating func beginArray() throws(JSONError) { try open(UInt8(ascii: "["), .array) }

  /// Reads the name of the next member, or the end of the object: `nil`.
  ///
  /// Each name must be followed by exactly one read of its value before the next call.
  ///
  /// - Throws: ``JSONError/Reason/duplicateName``, if the options reject duplicates; the offset is
  ///   that of the second name.
  package mutating func nextKey() throws(JSONError) -> String? {
    guard try advance(until: UInt8(ascii: "}"), .name, .commaOrBrace) else {
      if options.rejectsDuplicates { names.removeLast() }
      return nil
    }
    guard try nextByte(.name) == UInt8(ascii: "\"") else { throw unexpected(.name) }
    nameOffset = offset
    let name = try stringBody()
    if options.rejectsDuplicates, !names[names.count - 1].insert(Array(name.utf8)).inserted {
      throw JSONError(.duplicateName, at: nameOffset)
    }
    guard try nextByte(.colon) == UInt8(ascii: ":") else { throw unexpected(.colon) }
    index += 1
    return name
  }

  /// Returns the name that begins at an offset that is still in the buffer; empty for none.
  package func name(at offset: Int) -> String {
    var reader = self
    reader.index = offset - droppedBytes
    return (try? reader.stringBody()) ?? ""
  }

  /// Returns true when another element follows; reads the end of the array when none does.
  package mutating func nextElement() throws(JSONError) -> Bool {
    try advance(until: UInt8(ascii: "]"), .value, .commaOrBracket)
  }

  /// Reads `null`, `true` or `false`; `null` is `nil`.
  ///
  /// A word that only begins like one of the three is an error at its first wrong byte.
  package mutating func boolOrNull() throws(JSONError) -> Bool? {
    isFirst = false
    switch try nextByte(.literal) {
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
  ///
  /// Structure, names and numbers are checked, but the contents of string values are not.
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
  ///
  /// The range must still be in the buffer: no ``append(_:)`` may lie between.
  package func text(in range: Range<Int>) -> [UInt8] {
    Array(bytes[(range.lowerBound - droppedBytes)..<(range.upperBound - droppedBytes)])
  }

  /// Steps over the byte order mark with which some editors begin every text.
  package mutating func skipByteOrderMark() {
    if offset == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  /// Checks that nothing follows.
  package mutating func finish() throws(JSONError) {
    try skipSpace()
    if index < bytes.count { throw unexpected(.end) }
  }
}

extension JSONReader {
  /// Reads a string.
  package mutating func string() throws(JSONError) -> String {
    guard try nextByte(.string) == UInt8(ascii: "\"") else { throw unexpected(.string) }
    isFirst = false
    return try stringBody()
  }

  /// Reads a number: an `integer` when it is whole and fits 64 bits, else a `double`.
  ///
  /// Doubles are rounded to the nearest; `-0` stays a double.
  package mutating func number() throws(JSONError) -> TreeScalar {
    _ = try nextByte(.value)
    isFirst = false
    return try numberBody()
  }

  /// Notes that a string ended before the byte at `index`.
  mutating func endString(at index: Int) {
    self.index = index
    isFirst = false
  }

  /// Moves to the next byte that is neither white space nor in a comment.
  @inline(__always)
  mutating func nextByte(_ expectation: JSONError.Expectation) throws(JSONError) -> UInt8 {
    try skipSpace()
    guard index < bytes.count else { throw unexpected(expectation) }
    return bytes[index]
  }

  /// The error about the next byte, or about the end of the text.
  func unexpected(_ expectation: JSONError.Expectation) -> JSONError {
    JSONError(
      .expected(expectation, found: index < bytes.count ? bytes[index] : nil), at: offset)
  }

  /// An error about the byte at `index` of the buffer.
  func error(_ reason: JSONError.Reason, at index: Int) -> JSONError {
    JSONError(reason, at: droppedBytes + index)
  }

  @inline(__always)
  private mutating func skipSpace() throws(JSONError) {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      case UInt8(ascii: "/") where options.allowsComments: try skipComment()
      default: return
      }
    }
  }

  /// Skips `//` to the end of the line, or `/* */` without nesting; a single slash is no value.
  private mutating func skipComment() throws(JSONError) {
    let begin = index
    let second = begin + 1 < bytes.count ? bytes[begin + 1] : 0
    switch second {
    case UInt8(ascii: "/"):
      index = bytes[begin...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    case UInt8(ascii: "*"):
      index = begin + 2
      while index + 1 < bytes.count {
        index += 1
        if bytes[index] == UInt8(ascii: "/"), bytes[index - 1] == UInt8(ascii: "*"),
          index > begin + 2
        {
          index += 1
          return
        }
      }
      throw error(.unfinishedComment, at: begin)
    default: throw unexpected(.value)
    }
  }

  /// - Throws: ``JSONError/Reason/tooDeep(limit:)`` at the bracket that is one too many.
  private mutating func open(
    _ bracket: UInt8, _ expectation: JSONError.Expectation
  ) throws(JSONError) {
    guard try nextByte(expectation) == bracket else { throw unexpected(expectation) }
    guard depth < options.depthLimit else {
      throw error(.tooDeep(limit: options.depthLimit), at: index)
    }
    index += 1
    depth += 1
    isFirst = true
  }

  /// Steps over the comma before the next item, or over the closing bracket: `false`.
  private mutating func advance(
    until bracket: UInt8, _ item: JSONError.Expectation, _ separator: JSONError.Expectation
  ) throws(JSONError) -> Bool {
    if try nextByte(isFirst ? item : separator) == bracket { return close() }
    if isFirst {
      isFirst = false
      return true
    }
    guard bytes[index] == UInt8(ascii: ",") else { throw unexpected(separator) }
    index += 1
    guard try nextByte(item) == bracket else { return true }
    guard options.allowsTrailingCommas else { throw unexpected(item) }
    return close()
  }

  private mutating func close() -> Bool {
    index += 1
    depth -= 1
    isFirst = false
    return false
  }

  /// Reads a word byte by byte, so that the error names the byte that differs.
  private mutating func literal(_ word: StaticString) throws(JSONError) {
    for position in 0..<word.utf8CodeUnitCount {
      guard index < bytes.count, unsafe bytes[index] == word.utf8Start[position] else {
        throw unexpected(.literal)
      }
      index += 1
    }
  }
}

// MARK: - Texts in parts

extension JSONReader {
  /// Adds a part of the text, and drops what was read from the buffer.
  ///
  /// A read that throws may have met the end of the buffer instead of that of the text: the caller
  /// goes back to a copy of the reader that was made before, adds a part and reads again.
  package mutating func append(_ part: [UInt8]) {
    start.advance(over: bytes[..<index])
    droppedBytes += index
    bytes.removeSubrange(..<index)
    index = 0
    bytes += part
  }

  /// The place of a byte that is still in the buffer.
  package func position(at offset: Int) -> TextPosition {
    var position = start
    position.advance(over: bytes.prefix(max(0, offset - droppedBytes)))
    return position
  }
}
