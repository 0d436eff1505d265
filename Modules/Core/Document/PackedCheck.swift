/// The check of bytes from disk or wire before functions of ``Packed`` may trust them.
///
/// It rejects unknown tags, counts that lead past their container, invalid UTF-8, names that do not
/// ascend, times out of range, references that are no names, and nesting beyond
/// ``Packed/depthLimit``. It does not require integers in the fewest bytes. Source:
/// Docs/Formats/document-values.md.
enum PackedCheck {
  private typealias Tag = Packed.Tag

  /// Returns true when bytes from disk or wire are exactly one map, in every detail.
  static func isWellFormed(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0, bytes[0] == Tag.map else { return false }
    var offset = 0
    return check(bytes, &offset, end: bytes.count, depth: 0) && offset == bytes.count
  }

  /// Walks over one value; `false` at the first thing that is wrong.
  ///
  /// - Parameters:
  ///   - bytes: All bytes.
  ///   - offset: The position of the value; behind it when the answer is true.
  ///   - end: The end of the container, which the value must not exceed.
  ///   - depth: The number of containers around the value.
  private static func check(
    _ bytes: Span<UInt8>, _ offset: inout Int, end: Int, depth: Int
  ) -> Bool {
    guard offset < end, depth <= Packed.depthLimit else { return false }
    let tag = bytes[offset]
    offset += 1
    switch tag {
    case Tag.null, Tag.no, Tag.yes: return true
    case Tag.integer..<Tag.double:
      offset += Int(tag - Tag.integer)
      return offset <= end
    case Tag.double: offset += 8
    case Tag.timestamp: return checkTime(bytes, &offset, end: end)
    case Tag.geoPoint: offset += 16
    case Tag.string, Tag.bytes, Tag.reference, Tag.array, Tag.vector, Tag.map, Tag.pending:
      guard let inner = checkedCount(bytes, &offset, end: end), inner <= end - offset else {
        return false
      }
      return checkSized(tag, bytes, &offset, end: offset + inner, depth: depth)
    default: return false
    }
    return offset <= end
  }

  /// Checks the content of a value whose count was read; it must fill its range exactly.
  private static func checkSized(
    _ tag: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, end: Int, depth: Int
  ) -> Bool {
    switch tag {
    case Tag.string: return checkText(bytes, &offset, end: end) != nil
    case Tag.reference:
      guard let name = checkText(bytes, &offset, end: end) else { return false }
      return (try? DocumentName(resourceName: name)) != nil
    case Tag.vector where (end - offset) % 8 != 0: return false
    case Tag.array:
      while offset < end {
        guard check(bytes, &offset, end: end, depth: depth + 1) else { return false }
      }
    case Tag.map: return checkMap(bytes, &offset, end: end, depth: depth)
    case Tag.pending:
      guard checkTime(bytes, &offset, end: end) else { return false }
      if offset < end, bytes[offset] == Tag.pending { return false }
      return offset == end
        || check(bytes, &offset, end: end, depth: depth + 1) && offset == end
    default: offset = end
    }
    return offset == end
  }

  private static func checkMap(
    _ bytes: Span<UInt8>, _ offset: inout Int, end: Int, depth: Int
  ) -> Bool {
    var previous: String?
    while offset < end {
      guard let length = checkedCount(bytes, &offset, end: end), length <= end - offset,
        let name = checkText(bytes, &offset, end: offset + length)
      else { return false }
      if let previous, previous.compareUTF8(name) >= 0 { return false }
      previous = name
      guard check(bytes, &offset, end: end, depth: depth + 1) else { return false }
    }
    return offset == end
  }

  private static func checkTime(_ bytes: Span<UInt8>, _ offset: inout Int, end: Int) -> Bool {
    guard end - offset >= 8 else { return false }
    return DocumentTimestamp.range.contains(Int64(bitPattern: Packed.bits(bytes, &offset, size: 8)))
  }

  private static func checkText(
    _ bytes: Span<UInt8>, _ offset: inout Int, end: Int
  ) -> String? {
    let result = unsafe bytes.extracting(offset..<end).withUnsafeBufferPointer {
      unsafe String(validating: $0, as: UTF8.self)
    }
    offset = end
    return result
  }

  /// Reads a count of at most five groups; `nil` beyond, so that it cannot overflow.
  private static func checkedCount(
    _ bytes: Span<UInt8>, _ offset: inout Int, end: Int
  ) -> Int? {
    var result = 0
    for shift in stride(from: 0, to: 35, by: 7) {
      guard offset < end else { return nil }
      let byte = bytes[offset]
      offset += 1
      result |= Int(byte & 0x7F) << shift
      if byte < 0x80 { return result }
    }
    return nil
  }
}
