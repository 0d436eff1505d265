extension Packed {
  /// Appends a value.
  ///
  /// Every NaN is written with one bit pattern, and integers in the fewest bytes, so that equal
  /// values have equal bytes.
  static func append(_ value: DocumentValue, to out: inout [UInt8]) {
    switch value {
    case .null: out.append(Tag.null)
    case .boolean(let flag): out.append(flag ? Tag.yes : Tag.no)
    case .integer(let number): append(number, to: &out)
    case .double(let number):
      out.append(Tag.double)
      append(bits: (number.isNaN ? .nan : number).bitPattern, to: &out)
    case .timestamp(let time):
      out.append(Tag.timestamp)
      append(bits: UInt64(bitPattern: time.microseconds), to: &out)
    case .string(let text): text.withSpan { append(Tag.string, $0, to: &out) }
    case .bytes(let bytes): append(Tag.bytes, bytes.span, to: &out)
    case .reference(let name): name.resourceName.withSpan { append(Tag.reference, $0, to: &out) }
    case .geoPoint(let point):
      out.append(Tag.geoPoint)
      append(bits: point.latitude.bitPattern, to: &out)
      append(bits: point.longitude.bitPattern, to: &out)
    case .array, .vector, .map, .pendingTimestamp: appendContainer(value, to: &out)
    }
  }

  /// Writes the content first, because its count of bytes stands in front of it.
  private static func appendContainer(_ value: DocumentValue, to out: inout [UInt8]) {
    var content: [UInt8] = []
    var tag = Tag.array
    switch value {
    case .array(let elements):
      for element in elements { append(element, to: &content) }
    case .vector(let numbers):
      tag = Tag.vector
      for number in numbers {
        append(bits: (number.isNaN ? .nan : number).bitPattern, to: &content)
      }
    case .map(let map):
      tag = Tag.map
      for entry in map.entries {
        append(name: entry.name, to: &content)
        append(entry.value, to: &content)
      }
    case .pendingTimestamp(let pending):
      tag = Tag.pending
      append(bits: UInt64(bitPattern: pending.localWriteTime.microseconds), to: &content)
      if let previous = pending.previous { append(previous, to: &content) }
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .reference, .geoPoint:
      return
    }
    append(tag, content.span, to: &out)
  }

  /// The fewest bytes that hold the number.
  static func append(_ number: Int64, to out: inout [UInt8]) {
    // One bit more than the magnitude needs, for the sign.
    let magnitude = number < 0 ? ~number : number
    let size = number == 0 ? 0 : (64 - magnitude.leadingZeroBitCount) / 8 + 1
    out.append(Tag.integer + UInt8(size))
    let bits = UInt64(bitPattern: number)
    for index in 0..<size { out.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
  }

  /// Appends eight bytes, the lowest first.
  static func append(bits: UInt64, to out: inout [UInt8]) {
    for index in 0..<8 { out.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
  }

  /// Appends a tag, the count of the content, and the content.
  static func append(_ tag: UInt8, _ content: Span<UInt8>, to out: inout [UInt8]) {
    out.append(tag)
    append(content, to: &out)
  }

  /// Appends the name of a field.
  static func append(name: String, to out: inout [UInt8]) {
    name.withSpan { append($0, to: &out) }
  }

  /// Appends a count in groups of seven bits, the lowest first, and the content.
  static func append(_ content: Span<UInt8>, to out: inout [UInt8]) {
    var count = content.count
    while count >= 0x80 {
      out.append(UInt8(count & 0x7F) | 0x80)
      count >>= 7
    }
    out.append(UInt8(count))
    out.append(content)
  }
}

extension [UInt8] {
  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
