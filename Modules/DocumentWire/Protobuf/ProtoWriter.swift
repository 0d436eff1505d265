import TernCore

/// Writes one protobuf message, fields in any order, into one run of bytes.
///
/// Functions named after a type leave out what the type's default says anyway, as proto3 does;
/// those that begin with `put` always write.
///
/// A writer appends and never reads. It is deterministic: equal calls give equal bytes, on which
/// the hash of a numbered batch rests. The caller keeps the size limits of messages.
struct ProtoWriter {
  /// The message so far; complete once every ``begin(_:)`` has its ``end(_:)``.
  private(set) var bytes: [UInt8] = []

  /// The start of a message in a message.
  struct Mark {
    /// The index of the first byte of the inner message, behind its one-byte length.
    fileprivate let start: Int
  }

  /// Reserves memory for so many bytes, to allocate once.
  mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

  /// Writes a number, or nothing for 0. A negative number takes 10 bytes, as `int32` and `int64`
  /// do.
  mutating func int(_ field: Int, _ value: some FixedWidthInteger) {
    if value != 0 { putInt(field, value) }
  }

  /// Writes a number, also 0: for members of a choice and for fields with presence.
  mutating func putInt(_ field: Int, _ value: some FixedWidthInteger) {
    key(field, .varint)
    varint(UInt64(truncatingIfNeeded: value))
  }

  /// Writes true, or nothing.
  mutating func bool(_ field: Int, _ value: Bool) { if value { putBool(field, true) } }

  /// Writes a truth value, also false.
  mutating func putBool(_ field: Int, _ value: Bool) {
    key(field, .varint)
    bytes.append(value ? 1 : 0)
  }

  /// Writes a number, or nothing for +0. -0 is written, because it is another value.
  mutating func double(_ field: Int, _ value: Double) {
    if value.bitPattern != 0 { putDouble(field, value) }
  }

  /// Writes a number as 8 bytes, the lowest first, also 0.
  mutating func putDouble(_ field: Int, _ value: Double) {
    key(field, .eightBytes)
    for index in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * index)))
    }
  }

  /// Writes a text, or nothing for an empty one.
  mutating func string(_ field: Int, _ value: String) {
    if !value.isEmpty { put(field, value) }
  }

  /// Writes bytes, or nothing when there are none.
  mutating func data(_ field: Int, _ value: [UInt8]) {
    if !value.isEmpty { put(field, value.span) }
  }

  /// A text, bytes, or a message that is encoded already.
  mutating func put(_ field: Int, _ text: String) {
    text.withSpan { put(field, $0) }
  }

  /// Writes a field of one run of bytes, also an empty one.
  mutating func put(_ field: Int, _ content: Span<UInt8>) {
    key(field, .lengthDelimited)
    varint(UInt64(content.count))
    append(content)
  }

  /// Writes one content in two pieces, which saves joining them.
  ///
  /// The name of a document is the case in point: the prefix of its database, and its path.
  mutating func put(_ field: Int, _ first: Span<UInt8>, _ second: Span<UInt8>) {
    key(field, .lengthDelimited)
    varint(UInt64(first.count + second.count))
    append(first)
    append(second)
  }

  /// Writes numbers packed into one field, or nothing when there are none.
  mutating func int32s(_ field: Int, _ values: [Int32]) {
    if values.isEmpty { return }
    let mark = begin(field)
    for value in values { varint(UInt64(truncatingIfNeeded: value)) }
    end(mark)
  }

  /// Begins a message in this one; what is written until ``end(_:)`` belongs to it.
  ///
  /// Messages nest; they end in reverse order.
  ///
  /// - Returns: The mark to end it with.
  mutating func begin(_ field: Int) -> Mark {
    key(field, .lengthDelimited)
    // Room for a length below 128, which most messages get by with.
    bytes.append(0)
    return Mark(start: bytes.count)
  }

  /// Writes the length of the message in front of it.
  ///
  /// - Complexity: O(1) below 128 bytes. A longer message moves by the missing bytes of its length:
  ///   O(*n*) in its size, once for each level around it.
  mutating func end(_ mark: Mark) {
    let size = bytes.count - mark.start
    if size < 0x80 {
      bytes[mark.start - 1] = UInt8(size)
      return
    }
    bytes[mark.start - 1] = UInt8(size & 0x7F) | 0x80
    var rest: [UInt8] = []
    var count = size >> 7
    while count >= 0x80 {
      rest.append(UInt8(count & 0x7F) | 0x80)
      count >>= 7
    }
    rest.append(UInt8(count))
    bytes.insert(contentsOf: rest, at: mark.start)
  }

  /// Writes the number and the form of a field.
  @inline(__always)
  private mutating func key(_ field: Int, _ form: ProtoReader.Form) {
    varint(UInt64(field << 3) | UInt64(form.rawValue))
  }

  /// Writes groups of seven bits, the lowest first.
  @inline(__always)
  private mutating func varint(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  private mutating func append(_ content: Span<UInt8>) {
    unsafe content.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }
}
