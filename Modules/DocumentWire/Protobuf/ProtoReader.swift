import TernCore

/// Reads the fields of one protobuf message, in place.
///
/// `while let number = try reader.next()` and then one reading call for each field, or
/// ``skip()``. Bytes are never trusted: every length is checked against what is there.
///
/// A reader is a value over a shared array: ``message()`` makes a second reader over a part of the
/// same bytes and copies none of them. Fields come in any order and may repeat; what that means is
/// up to the caller, which keeps the last value of a single field. Unknown fields are skipped, so
/// newer clients are understood. Groups are not supported: no message of the dialect has one.
struct ProtoReader {
  /// The greatest depth of messages in messages.
  ///
  /// The bound keeps the recursion of a hostile message within the stack.
  static let depthLimit = 100

  /// The layout of a field's value.
  enum Form: UInt8 {
    case varint = 0
    case eightBytes = 1
    case lengthDelimited = 2
    /// Read only to be refused.
    case groupStart = 3
    case groupEnd = 4
    case fourBytes = 5
  }

  /// The bytes that hold the message and those around it.
  let bytes: [UInt8]
  /// The index of the next unread byte.
  private(set) var offset: Int
  /// The index behind the last byte of the message that is being read.
  private(set) var end: Int
  /// The number of messages around the current one.
  private var depth: Int
  /// The form of the field that ``next()`` moved to.
  private(set) var form = Form.varint

  /// Reads a message that the bytes hold as a whole.
  init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count, depth: 0) }

  private init(_ bytes: [UInt8], _ range: Range<Int>, depth: Int) {
    self.bytes = bytes
    offset = range.lowerBound
    end = range.upperBound
    self.depth = depth
  }

  /// Moves to the next field; its value must be read or skipped.
  ///
  /// - Returns: The number of the field; `nil` behind the last one.
  /// - Throws: ``DocumentWireError/malformed(_:)`` for the field number 0, for a number that takes
  ///   more than 29 bits, for an unknown form, and for a key that is cut short.
  @inline(__always)
  mutating func next() throws(DocumentWireError) -> Int? {
    if offset == end { return nil }
    let key = try rawVarint()
    guard key >> 3 > 0, key >> 32 == 0 else { throw .malformed(.fieldNumber) }
    guard let form = Form(rawValue: UInt8(key & 7)) else { throw .malformed(.wrongForm) }
    self.form = form
    return Int(key >> 3)
  }

  /// Moves behind a field that is not needed.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` for a group, or when the field reaches behind
  ///   the end of its message.
  mutating func skip() throws(DocumentWireError) {
    switch form {
    case .varint: _ = try rawVarint()
    case .eightBytes: try advance(8)
    case .fourBytes: try advance(4)
    case .lengthDelimited: _ = try range()
    case .groupStart, .groupEnd: throw .malformed(.wrongForm)
    }
  }

  /// Reads an unsigned number.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` when the field has another form, as do all
  ///   readings below.
  @inline(__always)
  mutating func varint() throws(DocumentWireError) -> UInt64 {
    if form != .varint { throw .malformed(.wrongForm) }
    return try rawVarint()
  }

  /// Reads an `int64`: two's complement, not zigzag.
  mutating func int64() throws(DocumentWireError) -> Int64 { Int64(bitPattern: try varint()) }

  /// Reads an `int32` or an enum. A number of more than 32 bits is cut, as protobuf prescribes.
  mutating func int32() throws(DocumentWireError) -> Int32 {
    Int32(truncatingIfNeeded: try varint())
  }

  /// Reads a `bool`; every number other than 0 is true.
  mutating func bool() throws(DocumentWireError) -> Bool { try varint() != 0 }

  /// Reads a `double`: 8 bytes, the lowest first.
  mutating func double() throws(DocumentWireError) -> Double {
    if form != .eightBytes { throw .malformed(.wrongForm) }
    let start = offset
    try advance(8)
    var bits: UInt64 = 0
    for index in 0..<8 { bits |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return Double(bitPattern: bits)
  }

  /// Reads the position of the content of a text, of bytes or of a message.
  ///
  /// - Returns: Indexes into ``bytes``, within the message that is read. The content is not
  ///   checked.
  @inline(__always)
  mutating func range() throws(DocumentWireError) -> Range<Int> {
    if form != .lengthDelimited { throw .malformed(.wrongForm) }
    let length = try rawVarint()
    let start = offset
    guard length <= UInt64(end - start) else { throw .malformed(.truncated) }
    offset = start + Int(length)
    return start..<offset
  }

  /// Reads the position of a text that is known to be UTF-8.
  ///
  /// The caller can read the text out of ``bytes`` without a copy. An ASCII text costs one pass.
  mutating func text() throws(DocumentWireError) -> Range<Int> {
    let range = try range()
    try ProtoReader.checkText(bytes.span.extracting(range))
    return range
  }

  /// Reads a text.
  mutating func string() throws(DocumentWireError) -> String {
    let range = try range()
    let text = unsafe bytes.span.extracting(range).withUnsafeBufferPointer {
      unsafe String(validating: $0, as: UTF8.self)
    }
    guard let text else { throw .malformed(.invalidText) }
    return text
  }

  /// Reads a copy of bytes.
  mutating func data() throws(DocumentWireError) -> [UInt8] { Array(bytes[try range()]) }

  /// The message in a field.
  ///
  /// - Returns: A reader of the inner message; this one already stands behind it.
  /// - Throws: ``DocumentWireError/malformed(_:)`` below ``depthLimit`` messages.
  mutating func message() throws(DocumentWireError) -> ProtoReader {
    let range = try range()
    if depth == ProtoReader.depthLimit { throw .malformed(.tooDeep) }
    return ProtoReader(bytes, range, depth: depth + 1)
  }

  /// The rest of a message, while a message in it is read.
  ///
  /// It holds the state that ``enter()`` replaces. A caller gives it back to ``leave(for:)`` after
  /// it has read the inner message to its end.
  struct Rest {
    fileprivate let offset: Int
    fileprivate let end: Int
    fileprivate let depth: Int
  }

  /// Moves into the message in a field. Unlike ``message()`` this copies nothing; ``leave(for:)``
  /// goes back.
  ///
  /// The state of this reader is replaced, so that no second reader shares ``bytes``.
  mutating func enter() throws(DocumentWireError) -> Rest {
    let range = try range()
    let rest = Rest(offset: offset, end: end, depth: depth)
    try enter(range)
    return rest
  }

  /// Moves into a message that ``range()`` found, for good.
  ///
  /// - Parameter range: A range that this reader has returned; it is not checked again.
  mutating func enter(_ range: Range<Int>) throws(DocumentWireError) {
    if depth == ProtoReader.depthLimit { throw .malformed(.tooDeep) }
    offset = range.lowerBound
    end = range.upperBound
    depth += 1
  }

  /// Moves behind the message that ``enter()`` moved into.
  mutating func leave(for rest: Rest) {
    offset = rest.offset
    end = rest.end
    depth = rest.depth
  }

  /// Appends numbers, which may come one a field or many.
  ///
  /// - Parameter numbers: Gets the numbers in their order, behind those that it holds.
  mutating func int32s(into numbers: inout [Int32]) throws(DocumentWireError) {
    if form == .varint { return numbers.append(try int32()) }
    // Encoders of proto3 pack repeated numbers into one field; decoders must take both.
    var packed = try message()
    while packed.offset < packed.end {
      numbers.append(Int32(truncatingIfNeeded: try packed.rawVarint()))
    }
  }

  /// Checks that bytes are UTF-8. The common text is ASCII and needs no validation of the whole.
  private static func checkText(_ text: Span<UInt8>) throws(DocumentWireError) {
    for index in 0..<text.count where text[index] >= 0x80 {
      let isValid = unsafe text.withUnsafeBufferPointer {
        unsafe String(validating: $0, as: UTF8.self) != nil
      }
      if !isValid { throw .malformed(.invalidText) }
      return
    }
  }

  /// Moves on by so many bytes.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` when fewer bytes are left in the message.
  private mutating func advance(_ count: Int) throws(DocumentWireError) {
    guard count <= end - offset else { throw .malformed(.truncated) }
    offset += count
  }

  /// Reads a number. Most have one byte, for which this is inlined.
  @inline(__always)
  private mutating func rawVarint() throws(DocumentWireError) -> UInt64 {
    guard offset < end else { throw .malformed(.truncated) }
    let first = bytes[offset]
    offset += 1
    return first < 0x80 ? UInt64(first) : try longVarint(UInt64(first & 0x7F))
  }

  /// - Parameter start: The seven bits of the first byte.
  /// - Throws: ``DocumentWireError/malformed(_:)`` for more than 10 bytes or more than 64 bits.
  private mutating func longVarint(_ start: UInt64) throws(DocumentWireError) -> UInt64 {
    var result = start
    for shift in stride(from: UInt64(7), to: 70, by: 7) {
      guard offset < end else { throw .malformed(.truncated) }
      let byte = bytes[offset]
      offset += 1
      // The tenth byte holds the highest bit alone.
      if shift == 63, byte > 1 { throw .malformed(.overlongNumber) }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    throw .malformed(.overlongNumber)
  }
}
