extension Packed {
  /// Reads the value that begins at `offset` and moves behind it.
  ///
  /// Builds the whole value, containers with all they hold. Functions that need one field look it
  /// up in the bytes instead.
  static func value(_ bytes: Span<UInt8>, _ offset: inout Int) -> DocumentValue {
    let tag = bytes[offset]
    offset += 1
    switch tag {
    case Tag.no: return .boolean(false)
    case Tag.yes: return .boolean(true)
    case Tag.integer..<Tag.double:
      return .integer(integer(bytes, &offset, size: Int(tag - Tag.integer)))
    case Tag.double: return .double(double(bytes, &offset))
    case Tag.timestamp: return .timestamp(time(bytes, &offset))
    case Tag.geoPoint:
      let latitude = double(bytes, &offset)
      let longitude = double(bytes, &offset)
      return .geoPoint(DocumentGeoPoint(uncheckedLatitude: latitude, longitude: longitude))
    case Tag.null: return .null
    default:
      let size = count(bytes, &offset)
      let end = offset + size
      defer { offset = end }
      return sized(tag, bytes, offset, end)
    }
  }

  /// Reads a value whose content is `start..<end`. A reference that cannot be parsed, which checked
  /// bytes do not contain, becomes null.
  private static func sized(
    _ tag: UInt8, _ bytes: Span<UInt8>, _ start: Int, _ end: Int
  ) -> DocumentValue {
    var offset = start
    switch tag {
    case Tag.string: return .string(text(bytes, start..<end))
    case Tag.bytes:
      var copy: [UInt8] = []
      copy.append(bytes.extracting(start..<end))
      return .bytes(copy)
    case Tag.reference:
      let name = try? DocumentName(resourceName: text(bytes, start..<end))
      return name.map(DocumentValue.reference) ?? .null
    case Tag.array:
      var elements: [DocumentValue] = []
      while offset < end { elements.append(value(bytes, &offset)) }
      return .array(elements)
    case Tag.vector:
      var numbers: [Double] = []
      while offset < end { numbers.append(double(bytes, &offset)) }
      return .vector(numbers)
    case Tag.map: return .map(map(bytes, offset, end))
    case Tag.pending:
      let local = time(bytes, &offset)
      let previous = offset < end ? value(bytes, &offset) : nil
      return .pendingTimestamp(
        DocumentPendingTimestamp(localWriteTime: local, replacing: previous))
    default: preconditionFailure("a packed value begins with a known tag")
    }
  }

  /// Reads the fields of a map, which ascend in the bytes as they do in a ``DocumentMap``.
  private static func map(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> DocumentMap {
    var entries: [DocumentMap.Entry] = []
    var offset = start
    while offset < end {
      let length = count(bytes, &offset)
      let name = text(bytes, offset..<offset + length)
      offset += length
      entries.append(DocumentMap.Entry(name: name, value: value(bytes, &offset)))
    }
    return DocumentMap(sorted: entries)
  }

  static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    unsafe bytes.extracting(range).withUnsafeBufferPointer {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }

  private static func time(_ bytes: Span<UInt8>, _ offset: inout Int) -> DocumentTimestamp {
    DocumentTimestamp(
      uncheckedMicroseconds: Int64(bitPattern: bits(bytes, &offset, size: 8)))
  }
}
