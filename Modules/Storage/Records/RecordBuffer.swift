/// A reused buffer in which a record is put together: checksum, then value.
@safe
public struct RecordBuffer: ~Copyable {
  /// More than this is given back after use.
  private static let keptBytes = 1024 * 1024

  // Owned by this value, freed once in `deinit`.
  private var base = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
  private var capacity = 512

  /// Creates an empty buffer.
  public init() {}

  deinit { unsafe base.deallocate() }

  /// Calls `body` with the record of `key` -> `value`; it is valid only during the call.
  public mutating func withRecord<R>(
    _ value: Span<UInt8>, for key: Span<UInt8>,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let count = value.count + RecordChecksum.bytes
    reserve(count)
    defer { if capacity > Self.keptBytes { shrink() } }
    let target = unsafe base
    let sum = unsafe value.withUnsafeBytes { value in
      if let source = value.baseAddress {
        unsafe (target + RecordChecksum.bytes).copyMemory(
          from: source, byteCount: value.count)
      }
      return unsafe key.withUnsafeBytes { unsafe RecordChecksum.of(key: $0, value: value) }
    }
    unsafe target.storeBytes(of: sum.littleEndian, as: UInt32.self)
    return unsafe try body(UnsafeRawBufferPointer(start: target, count: count))
  }

  private mutating func reserve(_ count: Int) {
    guard count > capacity else { return }
    unsafe base.deallocate()
    unsafe base = .allocate(byteCount: count, alignment: 16)
    capacity = count
  }

  private mutating func shrink() {
    unsafe base.deallocate()
    unsafe base = .allocate(byteCount: 512, alignment: 16)
    capacity = 512
  }
}
