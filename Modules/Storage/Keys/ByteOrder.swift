#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Compares two byte strings as unsigned bytes; a prefix comes before its extensions.
///
/// - Returns: A negative number, zero or a positive number, as `a` is less, equal or greater.
public func compareBytes(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
  let common = min(a.count, b.count)
  if common > 0 {
    // Safe: both spans hold at least `common` bytes, and `memcmp` keeps no pointer.
    let order = unsafe a.withUnsafeBytes { left in
      unsafe b.withUnsafeBytes { right in
        guard let left = left.baseAddress, let right = right.baseAddress else {
          return Int32(0)
        }
        return unsafe memcmp(left, right, common)
      }
    }
    if order != 0 { return Int(order) }
  }
  return a.count - b.count
}

/// Returns true when `a` comes before `b` as unsigned bytes.
public func bytesPrecede(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  compareBytes(a.span, b.span) < 0
}

extension [UInt8] {
  /// A copy of the bytes of `span`.
  public init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { unsafe [UInt8]($0) }
  }
}
