/// Values as bytes that sort like the values: what indexes are made of.
///
/// Plain byte order of two encodings is the order of the values across all types, and equivalent
/// values (`1` and `1.0`, `-0.0` and `0`) have one encoding. No encoding is the beginning of
/// another, so encodings written one behind the other sort like lists. The bytes of a descending
/// encoding are the complements of the ascending one's, and the two may follow each other.
/// They cannot be read back: keep the value beside them where it is needed.
/// Source: Docs/Formats/document-values.md, section 3.
package enum OrderedBytes {
  /// Ends an array or a map; below the first byte of every value and of every name.
  static let end: UInt8 = 0x01
  /// Opens the name of a field in a map.
  static let name: UInt8 = 0x02
  /// Opens a segment of a path that is a number from an older store.
  static let numberSegment: UInt8 = 0x04
  /// Opens any other segment of a path.
  static let segment: UInt8 = 0x05

  /// The first byte of every value of a rank, but for `true`, which follows that of `false`.
  ///
  /// - Parameter rank: That of the type, 0...11, as ``PackedValue/rank`` says; 12 gives the end
  ///   of all values.
  package static func firstByte(ofRank rank: UInt8) -> UInt8 { (rank + 1) << 4 }

  /// Appends the encoding of a value.
  package static func append(
    _ value: DocumentValue, isDescending: Bool = false, to out: inout [UInt8]
  ) {
    append(PackedValue(value), isDescending: isDescending, to: &out)
  }

  /// Appends the encoding of a packed value.
  package static func append(
    _ value: PackedValue, isDescending: Bool = false, to out: inout [UInt8]
  ) {
    append(value.bytes.span, at: 0, isDescending: isDescending, to: &out)
  }

  /// Appends the encoding of the value that begins at an offset of well-formed packed bytes.
  package static func append(
    _ bytes: Span<UInt8>, at offset: Int, isDescending: Bool = false, to out: inout [UInt8]
  ) {
    let start = out.count
    var next = offset
    Packed.appendOrdered(bytes, &next, to: &out)
    if isDescending { complement(&out, from: start) }
  }

  /// Appends the encoding of a key: byte order is the order of keys.
  package static func append(
    _ key: DocumentKey, isDescending: Bool = false, to out: inout [UInt8]
  ) {
    key.text.withSpan { append(path: $0, isDescending: isDescending, to: &out) }
  }

  /// Appends the encoding of a path, segments joined by `/`.
  package static func append(
    path: Span<UInt8>, isDescending: Bool = false, to out: inout [UInt8]
  ) {
    let start = out.count
    appendSegments(of: path, to: &out)
    out.append(end)
    if isDescending { complement(&out, from: start) }
  }

  /// Appends the segments of a path without its end, so that what lies below extends the bytes.
  package static func appendSegments(of path: Span<UInt8>, to out: inout [UInt8]) {
    if path.isEmpty { return }
    var start = 0
    for index in 0...path.count where index == path.count || path[index] == UInt8(ascii: "/") {
      if let number = PathOrder.number(in: path, from: start) {
        out.append(numberSegment)
        appendBigEndian(UInt64(bitPattern: number) ^ 1 << 63, to: &out)
      } else {
        out.append(segment)
      }
      // Two spellings of one number differ as their bytes do.
      appendEscaped(path.extracting(start..<index), to: &out)
      start = index + 1
    }
  }

  /// Appends bytes and their end: a zero is followed by `FF`, the end is `00 01`.
  static func appendEscaped(_ bytes: Span<UInt8>, to out: inout [UInt8]) {
    for index in bytes.indices {
      let byte = bytes[index]
      out.append(byte)
      if byte == 0 { out.append(0xFF) }
    }
    out.append(0)
    out.append(1)
  }

  /// Appends a number, most significant byte first.
  package static func appendBigEndian(_ bits: UInt64, to out: inout [UInt8]) {
    for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
      out.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  private static func complement(_ bytes: inout [UInt8], from start: Int) {
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }
}
