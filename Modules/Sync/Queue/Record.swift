extension [UInt8] {
  /// Appends an integer, most significant byte first.
  package mutating func append<I: FixedWidthInteger>(integer: I) {
    for shift in stride(from: I.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: integer >> I(shift)))
    }
  }

  /// Appends a byte string behind its length in four bytes.
  package mutating func append(counted bytes: [UInt8]) {
    append(integer: UInt32(bytes.count))
    append(contentsOf: bytes)
  }

  /// Appends a text in UTF-8 behind its length in four bytes.
  package mutating func append(text: String) {
    append(integer: UInt32(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}

/// Takes the parts of a record from its front; answers `nil` when there is not enough left.
package struct RecordReader: Sendable {
  private var remaining: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { remaining = bytes[...] }

  package var isAtEnd: Bool { remaining.isEmpty }

  package mutating func byte() -> UInt8? { remaining.popFirst() }

  package mutating func integer<I: FixedWidthInteger>() -> I? {
    let count = I.bitWidth / 8
    guard remaining.count >= count else { return nil }
    defer { remaining.removeFirst(count) }
    return remaining.prefix(count).reduce(0) { $0 << 8 | I(truncatingIfNeeded: $1) }
  }

  package mutating func counted() -> [UInt8]? {
    guard let count: UInt32 = integer(), remaining.count >= Int(count) else { return nil }
    defer { remaining.removeFirst(Int(count)) }
    return Array(remaining.prefix(Int(count)))
  }

  package mutating func text() -> String? {
    counted().flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Everything that is left.
  package func rest() -> [UInt8] { Array(remaining) }
}
