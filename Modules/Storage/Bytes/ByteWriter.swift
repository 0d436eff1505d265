/// Writes numbers and byte strings one behind the other.
package struct ByteWriter {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []

  /// A writer that has written nothing.
  package init() {}

  /// Appends one byte.
  package mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Appends bytes as they are.
  package mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

  /// Appends a number in the fixed width of its type, most significant byte first.
  ///
  /// The type has at most 16 bytes.
  @inlinable
  package mutating func append(bigEndian number: some FixedWidthInteger) {
    let count = number.bitWidth / 8
    if count > 8 { append(bits: UInt64(truncatingIfNeeded: number >> 64), count - 8) }
    append(bits: UInt64(truncatingIfNeeded: number), min(count, 8))
  }

  /// Appends the last bytes of a number.
  @usableFromInline
  mutating func append(bits: UInt64, _ count: Int) {
    for index in stride(from: count - 1, through: 0, by: -1) {
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)))
    }
  }

  /// Appends a number in groups of seven bits, least significant first: 1...10 bytes.
  package mutating func append(variable number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a count of bytes, then the bytes.
  package mutating func append(counted other: [UInt8]) {
    append(variable: UInt64(other.count))
    bytes.append(contentsOf: other)
  }
}

/// Reads what a ``ByteWriter`` wrote; every reading is `nil` when the bytes end too early.
package struct ByteReader {
  private let bytes: [UInt8]
  private var offset: Int

  /// A reader of `bytes` from `offset` on.
  package init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// True when everything was read.
  package var isAtEnd: Bool { offset >= bytes.count }

  /// Reads one byte.
  package mutating func byte() -> UInt8? {
    guard offset < bytes.count else { return nil }
    offset += 1
    return bytes[offset - 1]
  }

  /// Reads a number of fixed width, of at most 16 bytes.
  @inlinable
  package mutating func bigEndian<Number: FixedWidthInteger>(
    _: Number.Type = Number.self
  ) -> Number? {
    let count = Number.bitWidth / 8
    guard count > 8 else { return bits(count).map { Number(truncatingIfNeeded: $0) } }
    guard let high = bits(count - 8), let low = bits(8) else { return nil }
    return Number(truncatingIfNeeded: high) << 64 | Number(truncatingIfNeeded: low)
  }

  /// Reads a number of at most 8 bytes.
  @usableFromInline
  mutating func bits(_ count: Int) -> UInt64? {
    guard offset + count <= bytes.count else { return nil }
    var bits: UInt64 = 0
    for index in offset..<offset + count { bits = bits << 8 | UInt64(bytes[index]) }
    offset += count
    return bits
  }

  /// Reads a number in groups of seven bits; `nil` also for one of more than 64 bits.
  package mutating func variable() -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = byte() {
      guard shift < 63 || shift == 63 && byte <= 1 else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }

  /// Reads a count of bytes, then the bytes.
  package mutating func counted() -> [UInt8]? {
    guard let count = variable(), count <= UInt64(bytes.count) else { return nil }
    return take(Int(count)).map(Array.init)
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard offset + count <= bytes.count else { return nil }
    offset += count
    return bytes[offset - count..<offset]
  }
}
