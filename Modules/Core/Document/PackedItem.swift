/// One packed value, looked at in place: what an encoder walks over.
///
/// Ranges are offsets into the bytes that the value was read from. Containers are not entered: the
/// encoder walks their ranges itself.
package enum PackedItem {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case timestamp(DocumentTimestamp)
  /// The position of the text, in UTF-8.
  case string(Range<Int>)
  case bytes(Range<Int>)
  /// The position of the resource name.
  case reference(Range<Int>)
  case geoPoint(DocumentGeoPoint)
  /// The position of the elements, one after the other.
  case array(Range<Int>)
  /// The position of the numbers, eight bytes each; see ``Packed/number(_:_:)``.
  case vector(Range<Int>)
  /// The position of the fields: each its name, see ``Packed/name(_:_:)``, then its value.
  case map(Range<Int>)
  /// A server timestamp that is still to come.
  case pending
}

extension Packed {
  /// The value that begins at `offset`, which moves behind it.
  package static func item(_ bytes: Span<UInt8>, _ offset: inout Int) -> PackedItem {
    let tag = bytes[offset]
    switch tag {
    case Tag.null, Tag.no, Tag.yes:
      offset += 1
      return tag == Tag.null ? .null : .boolean(tag == Tag.yes)
    case Tag.integer..<Tag.double:
      offset += 1
      return .integer(integer(bytes, &offset, size: Int(tag - Tag.integer)))
    case Tag.double:
      offset += 1
      return .double(double(bytes, &offset))
    case Tag.timestamp:
      offset += 1
      let microseconds = Int64(bitPattern: bits(bytes, &offset, size: 8))
      return .timestamp(DocumentTimestamp(uncheckedMicroseconds: microseconds))
    case Tag.geoPoint:
      offset += 1
      let latitude = double(bytes, &offset)
      let longitude = double(bytes, &offset)
      return .geoPoint(DocumentGeoPoint(uncheckedLatitude: latitude, longitude: longitude))
    default:
      offset += 1
      let size = count(bytes, &offset)
      defer { offset += size }
      return item(tag, offset..<offset + size)
    }
  }

  private static func item(_ tag: UInt8, _ range: Range<Int>) -> PackedItem {
    switch tag {
    case Tag.string: .string(range)
    case Tag.bytes: .bytes(range)
    case Tag.reference: .reference(range)
    case Tag.array: .array(range)
    case Tag.vector: .vector(range)
    case Tag.map: .map(range)
    default: .pending
    }
  }

  /// Reads the position of the name of the field that begins at `offset`; its value follows.
  package static func name(_ bytes: Span<UInt8>, _ offset: inout Int) -> Range<Int> {
    let length = count(bytes, &offset)
    defer { offset += length }
    return offset..<offset + length
  }

  /// The number of a vector that begins at `offset`.
  package static func number(_ bytes: Span<UInt8>, _ offset: inout Int) -> Double {
    double(bytes, &offset)
  }
}
