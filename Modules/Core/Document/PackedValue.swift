/// One value as flat bytes that can be compared without being read.
///
/// Equality is exact, as that of ``DocumentValue`` is: one value has one spelling.
package struct PackedValue: Hashable, Sendable {
  /// The bytes, as Docs/Formats/document-values.md spells them.
  package let bytes: [UInt8]

  /// Packs a value.
  package init(_ value: DocumentValue) {
    var bytes: [UInt8] = []
    Packed.append(value, to: &bytes)
    self.bytes = bytes
  }

  /// Copies the value that begins at an offset of well-formed bytes.
  package init(copying bytes: Span<UInt8>, at offset: Int) {
    var end = offset
    Packed.skip(bytes, &end)
    var copy: [UInt8] = []
    copy.append(bytes.extracting(offset..<end))
    self.bytes = copy
  }

  /// The value.
  package var value: DocumentValue {
    var offset = 0
    return Packed.value(bytes.span, &offset)
  }

  /// Negative, zero or positive in the order across all types.
  package func compare(_ other: PackedValue) -> Int {
    compare(other.bytes.span, at: 0)
  }

  /// Negative, zero or positive as this sorts before, with or after the value at an offset.
  package func compare(_ other: Span<UInt8>, at offset: Int) -> Int {
    var (i, j) = (0, offset)
    return PackedOrder.compare(bytes.span, &i, other, &j)
  }

  /// The rank of the value's type.
  package var rank: UInt8 { bytes[0] >> 4 }

  /// The bytes the value counts for in a document.
  package var byteCount: Int {
    var offset = 0
    return Packed.byteCount(bytes.span, &offset)
  }
}
