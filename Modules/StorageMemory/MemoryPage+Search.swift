import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension MemoryPage {
  /// Compares a record's key with `key` as unsigned bytes.
  @inline(__always)
  func order(_ index: Int, _ key: UnsafeRawBufferPointer) -> Int {
    let own = unsafe self.key(index)
    let order = unsafe Self.order(own, key, min(own.count, key.count))
    return order == 0 ? own.count - key.count : order
  }

  /// Compares the first `common` bytes, which both must hold; none are equal.
  @inline(__always)
  private static func order(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ common: Int
  ) -> Int {
    guard common > 0, let a = a.baseAddress, let b = b.baseAddress else { return 0 }
    return unsafe Int(memcmp(a, b, common))
  }

  /// Returns true when a record's key comes before `key`, whose head in this page is `head`.
  @inline(__always)
  private func precedes(_ index: Int, _ key: UnsafeRawBufferPointer, _ head: UInt32) -> Bool {
    let own = self.head(index)
    return unsafe own == head ? order(index, key) < 0 : own < head
  }

  /// The first record of a leaf whose key is not before `key`.
  func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
    if prefixBytes > 0, count > 0 {
      let common = min(prefixBytes, key.count)
      // Safe: `key` holds `common` bytes, and the first record's key all that keys share.
      let order = unsafe Self.order(self.key(0), key, common)
      if order < 0 { return count }
      if order > 0 || key.count < prefixBytes { return 0 }
    }
    return unsafe searchHeads(key)
  }

  /// The record of a leaf that has `key`, if there is one.
  @inline(__always)
  func find(_ key: UnsafeRawBufferPointer) -> Int? {
    // A key that does not share the prefix ends at some record and differs from it.
    let index = unsafe searchHeads(key)
    return unsafe index < count && order(index, key) == 0 ? index : nil
  }

  /// The lower bound of a key that shares the page's prefix.
  @inline(__always)
  private func searchHeads(_ key: UnsafeRawBufferPointer) -> Int {
    let head = unsafe head(of: key)
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      if unsafe precedes(middle, key, head) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The child of a branch in which `key` belongs.
  @inline(__always)
  func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
    let head = unsafe head(of: key)
    var low = 1
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      let own = self.head(middle)
      if unsafe own == head ? order(middle, key) <= 0 : own < head {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low - 1
  }
}
