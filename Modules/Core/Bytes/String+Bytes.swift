extension String {
  /// The same text in memory of its own, where it was bridged from elsewhere.
  ///
  /// Strings from Objective-C may be stored as UTF-16; every access to their bytes would convert
  /// them.
  @inline(__always)
  var contiguous: String {
    #if canImport(ObjectiveC)
      var copy = self
      copy.makeContiguousUTF8()
      return copy
    #else
      return self
    #endif
  }

  /// Lends the UTF-8 bytes; the string must be contiguous, as native strings are.
  @inline(__always)
  func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    if let result = unsafe utf8.withContiguousStorageIfAvailable(body) {
      return result
    }
    var copy = self
    return copy.withUTF8(body)
  }

  /// Lends the UTF-8 bytes as a span, which a string itself gives on newer systems only.
  @inline(__always)
  package func withSpan<R>(_ body: (Span<UInt8>) -> R) -> R {
    // Safe: the span is used before the bytes are given back.
    unsafe withBytes { bytes in unsafe body(bytes.span) }
  }

  /// Returns true when both texts are the same bytes, without regard to Unicode equivalence.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    return unsafe withBytes { left in
      unsafe other.withBytes { right in unsafe left.firstDifference(from: right) == left.count }
    }
  }

  /// Negative, zero or positive by the order of UTF-16 code units.
  ///
  /// The order of the Realtime Database, which JavaScript defines. Only the first byte that differs
  /// decides: its mapping puts U+E000...U+FFFF behind the surrogates that encode larger scalars.
  package func compareUTF16(_ other: String) -> Int {
    unsafe withBytes { left in
      unsafe other.withBytes { right in
        let index = unsafe left.firstDifference(from: right)
        if index == left.count || index == right.count { return left.count - right.count }
        let a = unsafe KeyOrder.utf16Ordered(left[index])
        let b = unsafe KeyOrder.utf16Ordered(right[index])
        return a < b ? -1 : 1
      }
    }
  }
}

extension String {
  /// Negative, zero or positive by the order of the UTF-8 bytes.
  package func compareUTF8(_ other: String) -> Int {
    withSpan { left in other.withSpan { left.compareBytes($0) } }
  }

  /// Feeds the UTF-8 bytes, so that texts hash alike exactly when their bytes are alike.
  package func hashBytes(into hasher: inout Hasher) {
    unsafe withBytes { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    hasher.combine(0xFF as UInt8)
  }
}

extension Span<UInt8> {
  /// The first index at which the two differ, or the shorter count.
  @inline(__always)
  package func firstDifference(from other: Span<UInt8>) -> Int {
    unsafe withUnsafeBufferPointer { left in
      unsafe other.withUnsafeBufferPointer { right in unsafe left.firstDifference(from: right) }
    }
  }

  /// Negative, zero or positive by the order of unsigned bytes; a prefix comes first.
  package func compareBytes(_ other: Span<UInt8>) -> Int {
    let index = firstDifference(from: other)
    if index == count || index == other.count { return count - other.count }
    return self[index] < other[index] ? -1 : 1
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The first index at which the two differ, or the shorter count.
  ///
  /// Compares eight bytes at a time. The lowest differing bit of a little-endian word lies in the
  /// first differing byte.
  @inline(__always)
  fileprivate func firstDifference(from other: UnsafeBufferPointer<UInt8>) -> Int {
    let shared = Swift.min(count, other.count)
    let left = UnsafeRawBufferPointer(self)
    let right = UnsafeRawBufferPointer(other)
    var index = 0
    while index + 8 <= shared {
      let a = unsafe left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let b = unsafe right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if a != b {
        return index + (a ^ b).littleEndian.trailingZeroBitCount / 8
      }
      index += 8
    }
    while index < shared, unsafe left[index] == right[index] { index += 1 }
    return index
  }
}

extension String {
  /// The first seven bytes as an integer that sorts like the text's UTF-16, at most 56 bits.
  ///
  /// Two texts whose prefixes differ sort as the prefixes do; equal prefixes decide nothing.
  package var sortingPrefix: UInt64 {
    unsafe withBytes { bytes in
      var prefix: UInt64 = 0
      for index in 0..<7 {
        let byte = unsafe index < bytes.count ? KeyOrder.utf16Ordered(bytes[index]) : 0
        prefix = prefix << 8 | UInt64(byte)
      }
      return prefix
    }
  }
}
