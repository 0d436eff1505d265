/// Values as flat bytes: what documents keep, and what filters and sorting read in place.
///
/// Functions that take bytes and an offset trust them to be well formed, which
/// ``PackedCheck/isWellFormed(_:)`` establishes; bytes that are not are stopped by bounds checks,
/// never read past. Source: Docs/Formats/document-values.md.
///
/// A value is a tag byte and its content. Scalars have a fixed size or one given by the tag; texts,
/// references and containers have a count of bytes in front, so that any value is skipped without
/// reading it. Fields of a map ascend by the bytes of their names.
package enum Packed {
  /// The first byte of a value. The high half is the rank of its type in the order.
  ///
  /// Tags are part of the format on disk; their high halves must keep the order of the types.
  enum Tag {
    static let null: UInt8 = 0x00
    static let no: UInt8 = 0x10
    static let yes: UInt8 = 0x11
    /// Plus the number of bytes that follow, 0...8.
    static let integer: UInt8 = 0x20
    static let double: UInt8 = 0x29
    static let timestamp: UInt8 = 0x30
    static let pending: UInt8 = 0x40
    static let string: UInt8 = 0x50
    static let bytes: UInt8 = 0x60
    static let reference: UInt8 = 0x70
    static let geoPoint: UInt8 = 0x80
    static let array: UInt8 = 0x90
    static let vector: UInt8 = 0xA0
    static let map: UInt8 = 0xB0
  }

  /// The greatest depth of values from disk or wire; deeper ones count as corrupt.
  ///
  /// Data written by clients is at most ``DocumentLimits/depth`` deep; the limit here only protects
  /// the stack from corrupt bytes.
  static let depthLimit = 100

  /// The rank of the type of a value, 0...11: two values of one rank can be told apart by
  /// range filters.
  package static func rank(_ bytes: Span<UInt8>, at offset: Int) -> UInt8 { bytes[offset] >> 4 }

  /// Reads a count in groups of seven bits, the lowest first.
  ///
  /// The bytes were checked: a count has at most five groups.
  @inline(__always)
  static func count(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int {
    let first = bytes[offset]
    offset += 1
    if first < 0x80 { return Int(first) }
    var result = Int(first & 0x7F)
    var shift = 7
    while true {
      let byte = bytes[offset]
      offset += 1
      result |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
  }

  /// Reads `size` bytes, the lowest first, as an unsigned number.
  @inline(__always)
  static func bits(_ bytes: Span<UInt8>, _ offset: inout Int, size: Int) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<size { result |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    offset += size
    return result
  }

  /// Reads a whole number of `size` bytes, two's complement.
  @inline(__always)
  static func integer(_ bytes: Span<UInt8>, _ offset: inout Int, size: Int) -> Int64 {
    if size == 0 { return 0 }
    let unused = UInt64(64 - 8 * size)
    return Int64(bitPattern: bits(bytes, &offset, size: size) << unused) >> Int64(unused)
  }

  static func double(_ bytes: Span<UInt8>, _ offset: inout Int) -> Double {
    Double(bitPattern: bits(bytes, &offset, size: 8))
  }

  /// Moves `offset` behind the value that begins there.
  @inline(__always)
  package static func skip(_ bytes: Span<UInt8>, _ offset: inout Int) {
    let tag = bytes[offset]
    offset += 1
    switch tag {
    case Tag.null, Tag.no, Tag.yes: break
    case Tag.integer..<Tag.double: offset += Int(tag - Tag.integer)
    case Tag.double, Tag.timestamp: offset += 8
    case Tag.geoPoint: offset += 16
    default:
      let size = count(bytes, &offset)
      offset += size
    }
  }

  /// Returns the place of a field's value in a map, found by its name; `nil` when there is none.
  static func field(named name: String, in bytes: Span<UInt8>, at offset: Int) -> Int? {
    name.withSpan { field($0, in: bytes, at: offset) }
  }

  /// Finds a field in the map that begins at `offset`.
  ///
  /// - Returns: Where its value begins; `nil` when the value at `offset` is no map or the map
  ///   has no such field.
  /// - Complexity: O(fields); no allocation.
  package static func field(_ name: Span<UInt8>, in bytes: Span<UInt8>, at offset: Int) -> Int? {
    guard bytes[offset] == Tag.map else { return nil }
    var next = offset + 1
    let size = count(bytes, &next)
    let end = next + size
    while next < end {
      let length = count(bytes, &next)
      let start = next
      next += length
      if length == name.count, matches(name, bytes, start) { return next }
      skip(bytes, &next)
    }
    return nil
  }

  /// Returns the position of the elements of the array at `offset`; `nil` when there is no array.
  package static func elements(of bytes: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard bytes[offset] == Tag.array else { return nil }
    var start = offset + 1
    let size = count(bytes, &start)
    return start..<start + size
  }

  @inline(__always)
  private static func matches(_ name: Span<UInt8>, _ bytes: Span<UInt8>, _ start: Int) -> Bool {
    for index in 0..<name.count where bytes[start + index] != name[index] { return false }
    return true
  }
}
