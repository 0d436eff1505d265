/// The checksum stored with every record on disk: 32 bits over the key and the value.
///
/// Source: Docs/Formats/storage-record.md, which gives the steps and a worked example.
public enum RecordChecksum {
  /// The bytes a checksum takes in a record, before the value.
  public static let bytes = 4

  /// The checksum of the record `key` -> `value`.
  public static func of(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> UInt32 {
    var state = start ^ (UInt64(key.count) << 32 | UInt64(value.count))
    unsafe absorb(key, into: &state)
    unsafe absorb(value, into: &state)
    let mixed = fold(state ^ finishA, finishB)
    return UInt32(truncatingIfNeeded: mixed ^ (mixed >> 32))
  }

  private static let start: UInt64 = 0x9E37_79B9_7F4A_7C15
  private static let blockKey: UInt64 = 0xD1B5_4A32_D192_ED03
  private static let finishA: UInt64 = 0x8CB9_2BA7_2F3D_8DD7
  private static let finishB: UInt64 = 0xABC9_8388_FB8F_AC03

  /// Multiplies to 128 bits and combines the halves with exclusive or.
  @inline(__always)
  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64, into state: inout UInt64) {
    state = fold(a ^ blockKey, b ^ state)
  }

  // Safe: every load below lies in `0..<count`, as the branches show.
  @inline(__always)
  private static func absorb(_ bytes: UnsafeRawBufferPointer, into state: inout UInt64) {
    let count = bytes.count
    guard count > 0, let base = bytes.baseAddress else { return }
    if count >= 16 {
      var offset = 0
      while offset < count - 16 {
        unsafe mix(word(base, offset), word(base, offset + 8), into: &state)
        offset += 16
      }
      unsafe mix(word(base, count - 16), word(base, count - 8), into: &state)
    } else if count >= 8 {
      unsafe mix(word(base, 0), word(base, count - 8), into: &state)
    } else if count >= 4 {
      unsafe mix(half(base, 0), half(base, count - 4), into: &state)
    } else {
      let first = unsafe UInt64(base.load(as: UInt8.self))
      let middle = unsafe UInt64(base.load(fromByteOffset: count / 2, as: UInt8.self))
      let last = unsafe UInt64(base.load(fromByteOffset: count - 1, as: UInt8.self))
      mix(first << 16 | middle << 8 | last, 0, into: &state)
    }
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func half(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(
      UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}

extension RecordChecksum {
  /// Returns the value of `record`, or `nil` when its checksum is wrong.
  @inline(__always)
  public static func checkedValue(
    of record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    guard record.count >= bytes, let base = record.baseAddress else { return nil }
    let stored = unsafe UInt32(littleEndian: base.loadUnaligned(as: UInt32.self))
    let value = unsafe UnsafeRawBufferPointer(start: base + bytes, count: record.count - bytes)
    return unsafe of(key: key, value: value) == stored ? value : nil
  }

  /// Returns the record of `key` -> `value`: the checksum, then the value.
  ///
  /// It copies the value; ``RecordBuffer`` and ``checkedValue(of:key:)`` do without a copy.
  public static func record(of value: [UInt8], key: [UInt8]) -> [UInt8] {
    // Safe: both buffers live through the call.
    let sum = unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { unsafe of(key: key, value: $0) }
    }
    return (0..<bytes).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) } + value
  }

  /// Returns the value of `record`, or `nil` when its checksum is wrong.
  public static func value(of record: [UInt8], key: [UInt8]) -> [UInt8]? {
    // Safe: both buffers live through the call, and the value is copied in it.
    unsafe key.withUnsafeBytes { key in
      unsafe record.withUnsafeBytes { record in
        unsafe checkedValue(of: record, key: key).map { unsafe [UInt8]($0) }
      }
    }
  }
}
