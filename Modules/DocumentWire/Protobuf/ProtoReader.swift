import TernCore

/// Reads the fields of one protobuf message, in place.
///
/// `while let number = try reader.next()` and then one reading call for each field, or
/// ``skip()``. Bytes are never trusted: every length is checked against what is there.
struct ProtoReader {
  /// The greatest depth of messages in messages.
  static let depthLimit = 100

  /// The layout of a field's value.
  enum Form: UInt8 {
    case varint = 0
    case eightBytes = 1
    case lengthDelimited = 2
    case groupStart = 3
    case groupEnd = 4
    case fourBytes = 5
  }

  /// The bytes that hold the message and those around it.
  let bytes: [UInt8]
  private(set) var offset: Int
  private(set) var end: Int
  private var depth: Int
  /// The form of the field that ``next()`` moved to.
  private(set) var form = Form.varint

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
  mutating func skip() throws(DocumentWireError) {
    switch form {
    case .varint: _ = try rawVarint()
    case .eightBytes: try advance(8)
    case .fourBytes: try advance(4)
    case .lengthDelimited: _ = try range()
    case .groupStart, .groupEnd: throw .malformed(.wrongForm)
    }
  }

  @inline(__always)
  mutating func varint() throws(DocumentWireError) -> UInt64 {
    if form != .varint { throw .malformed(.wrongForm) }
    return try rawVarint()
  }

  mutating func int64() throws(DocumentWireError) -> Int64 { Int64(bitPattern: try varint()) }

  mutating func int32() throws(DocumentWireError) -> Int32 {
    Int32(truncatingIfNeeded: try varint())
  }

  mutating func bool() throws(DocumentWireError) -> Bool { try varint() != 0 }

  mutating func double() throws(DocumentWireError) -> Double {
    if form != .eightBytes { throw .malformed(.wrongForm) }
    let start = offset
    try advance(8)
    var bits: UInt64 = 0
    for index in 0..<8 { bits |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return Double(bitPattern: bits)
  }

  /// Reads the position of the content of a text, of bytes or of a message.
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
  mutating func text() throws(DocumentWireError) -> Range<Int> {
    let range = try range()
    try ProtoReader.checkText(bytes.span.extracting(range))
    return range
  }

  mutating func string() throws(DocumentWireError) -> String {
    let range = try range()
    let text = unsafe bytes.span.extracting(range).withUnsafeBufferPointer {
      unsafe String(validating: $0, as: UTF8.self)
    }
    guard let text else { throw .malformed(.invalidText) }
    return text
  }

  mutating func data() throws(DocumentWireError) -> [UInt8] { Array(bytes[try range()]) }

  /// The message in a field.
  mutating func message() throws(DocumentWireError) -> ProtoReader {
    let range = try range()
    if depth == ProtoReader.depthLimit { throw .malformed(.tooDeep) }
    return ProtoReader(bytes, range, depth: depth + 1)
  }

  /// The rest of a message, while a message in it is read.
  struct Rest {
    fileprivate let offset: Int
    fileprivate let end: Int
    fileprivate let depth: Int
  }

  /// Moves into the message in a field. Unlike ``message()`` this copies nothing; ``leave(for:)``
  /// goes back.
  mutating func enter() throws(DocumentWireError) -> Rest {
    let range = try range()
    let rest = Rest(offset: offset, end: end, depth: depth)
    try enter(range)
    return rest
  }

  /// Moves into a message that ``range()`` found, for good.
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
  mutating func int32s(into numbers: inout [Int32]) throws(DocumentWireError) {
    if form == .varint { return numbers.append(try int32()) }
    var packed = try message()
    while packed.offset < packed.end {
      numbers.append(Int32(truncatingIfNeeded: try packed.rawVarint()))
    }
  }

  private static func checkText(_ text: Span<UInt8>) throws(DocumentWireError) {
    for index in 0..<text.count where text[index] >= 0x80 {
      let isValid = unsafe text.withUnsafeBufferPointer {
        unsafe String(validating: $0, as: UTF8.self) != nil
      }
      if !isValid { throw .malformed(.invalidText) }
      return
    }
  }

  private mutating func advance(_ count: Int) throws(DocumentWireError) {
    guard count <= end - offset else { throw .malformed(.truncated) }
    offset += count
  }

  @inline(__always)
  private mutating func rawVarint() throws(DocumentWireError) -> UInt64 {
    guard offset < end else { throw .malformed(.truncated) }
    let first = bytes[offset]
    offset += 1
    return first < 0x80 ? UInt64(first) : try longVarint(UInt64(first & 0x7F))
  }

  private mutating func longVarint(_ start: UInt64) throws(DocumentWireError) -> UInt64 {
    var result = start
    for shift in stride(from: UInt64(7), to: 70, by: 7) {
      guard offset < end else { throw .malformed(.truncated) }
      let byte = bytes[offset]
      offset += 1
      if shift == 63, byte > 1 { throw .malformed(.overlongNumber) }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    throw .malformed(.overlongNumber)
  }
}
