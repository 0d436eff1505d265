extension Packed {
  /// The size of a vector beside its numbers, because it travels as a map of two fields.
  private static let vectorWrapperBytes =
    "__type__".utf8.count + 1 + "__vector__".utf8.count + 1 + "value".utf8.count + 1

  /// The bytes the value at `offset` counts for. Source: documents reference, section 1.8.
  ///
  /// These are the sizes that limits and quotas count, not those of the packed bytes.
  static func byteCount(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int {
    let tag = bytes[offset]
    switch tag {
    case Tag.null, Tag.no, Tag.yes:
      offset += 1
      return 1
    case Tag.integer...Tag.double, Tag.timestamp, Tag.geoPoint:
      skip(bytes, &offset)
      return tag == Tag.geoPoint ? 16 : 8
    default:
      offset += 1
      let size = count(bytes, &offset)
      let start = offset
      offset += size
      return byteCount(tag, bytes, start..<offset)
    }
  }

  private static func byteCount(_ tag: UInt8, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
    var offset = range.lowerBound
    var sum = 0
    switch tag {
    case Tag.string: return range.count + 1
    case Tag.bytes: return range.count
    case Tag.pending: return 8
    case Tag.vector: return range.count + vectorWrapperBytes
    case Tag.reference:
      // The name of a document counts from its first collection on.
      let name = try? DocumentName(resourceName: text(bytes, range))
      return name?.key.byteCount ?? range.count
    case Tag.array:
      while offset < range.upperBound { sum += byteCount(bytes, &offset) }
    default:
      while offset < range.upperBound {
        let length = count(bytes, &offset)
        offset += length
        sum += length + 1 + byteCount(bytes, &offset)
      }
    }
    return sum
  }
}
