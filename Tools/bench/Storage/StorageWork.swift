import TernStorage

/// The rows every store is measured with: keys of 16 bytes, values of 100.
struct StorageWork {
  let rows: Int
  let value = [UInt8](repeating: 0x5A, count: 100)

  /// Key number `number`: 16 bytes that look random, for numbers far past `rows` too.
  static func key(_ number: Int) -> [UInt8] {
    let high = mix(UInt64(number))
    let low = mix(high)
    return (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (8 * UInt64($0 % 8))) }
  }

  /// The keys of the rows, in order.
  func sortedKeys() -> [[UInt8]] { (0..<rows).map(Self.key).sorted(by: bytesPrecede) }

  /// Keys of rows to read, the same for every store.
  func readKeys(_ count: Int) -> [[UInt8]] {
    (0..<count).map { Self.key(Int(Self.mix(UInt64($0) + 77) % UInt64(rows))) }
  }

  private static func mix(_ number: UInt64) -> UInt64 {
    var mixed = (number &+ 1) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The operations that are measured, on a store of ours or on the bare C library.
protocol StorageSubject: AnyObject {
  func load(_ keys: [[UInt8]], _ value: [UInt8]) throws
  /// Gets every key in one snapshot and uses the values.
  func get(_ keys: [[UInt8]]) throws
  /// Walks `count` rows from each key in one snapshot.
  func scan(from keys: [[UInt8]], count: Int) throws
  /// Puts the keys, `batch` to a transaction.
  func put(_ keys: ArraySlice<[UInt8]>, _ value: [UInt8], batch: Int) throws
}

/// Keeps the optimiser from removing what only measures.
@inline(never)
func use(_ number: Int) {}

/// A step that did not do what it measures.
struct BenchFailure: Error {
  var reason: String
}
