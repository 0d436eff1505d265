/// Reads the fields of one message of protobuf's binary form, groups included.
struct EntityReader {
  /// The value of a field.
  enum Value {
    case number(UInt64)
    case bits(UInt64)
    case bytes(ArraySlice<UInt8>)
    case group(ArraySlice<UInt8>)
  }

  private let whole: ArraySlice<UInt8>
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    whole = bytes
    rest = bytes
  }

  private static let damaged = Failure(.usage, "the export holds a record that is no entity")

  /// The most groups in one another.
  private static let depthLimit = 100

  /// Returns the next field; `nil` at the end.
  mutating func next() throws(Failure) -> (field: Int, value: Value)? {
    if rest.isEmpty { return nil }
    let tag = try varint()
    let field = Int(tag >> 3)
    switch tag & 7 {
    case 0: return (field, .number(try varint()))
    case 1: return (field, .bits(try fixed(8)))
    case 2: return (field, .bytes(try take(try length())))
    case 3: return (field, .group(try group(field, depth: 0)))
    case 5: return (field, .bits(try fixed(4)))
    default: throw Self.damaged
    }
  }

  private mutating func varint() throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw Self.damaged }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw Self.damaged
  }

  private mutating func length() throws(Failure) -> Int {
    let count = try varint()
    guard count <= UInt64(rest.count) else { throw Self.damaged }
    return Int(count)
  }

  private mutating func take(_ count: Int) throws(Failure) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw Self.damaged }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private mutating func fixed(_ count: Int) throws(Failure) -> UInt64 {
    try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns what lies in a group, and moves behind its end.
  private mutating func group(_ number: Int, depth: Int) throws(Failure) -> ArraySlice<UInt8> {
    if depth > Self.depthLimit { throw Self.damaged }
    let begin = rest.startIndex
    while true {
      let end = rest.startIndex
      let tag = try varint()
      switch tag & 7 {
      case 0: _ = try varint()
      case 1: _ = try take(8)
      case 2: _ = try take(try length())
      case 3: _ = try group(Int(tag >> 3), depth: depth + 1)
      case 4:
        guard Int(tag >> 3) == number else { throw Self.damaged }
        return whole[begin..<end]
      case 5: _ = try take(4)
      default: throw Self.damaged
      }
    }
  }
}
