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
    let common = min(own.count, key.count)
    if common > 0 {
      // Safe: both hold `common` bytes.
      let order = unsafe memcmp(own.baseAddress!, key.baseAddress!, common)
      if order != 0 { return Int(order) }
    }
    return own.count - key.count
  }

  /// The first record of a leaf whose key is not before `key`.
  @inline(__always)
  func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      if unsafe order(middle, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The record of a leaf that has `key`, if there is one.
  @inline(__always)
  func find(_ key: UnsafeRawBufferPointer) -> Int? {
    let index = unsafe lowerBound(key)
    return unsafe index < count && order(index, key) == 0 ? index : nil
  }

  /// The child of a branch in which `key` belongs.
  @inline(__always)
  func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
    var low = 1
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      if unsafe order(middle, key) <= 0 { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }
}
