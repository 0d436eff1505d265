import TernStorage

/// A key that is longer than databases index: its first bytes, its head, and the rest.
///
/// Keys that share their head are in one bucket, in the order of their rests.
struct LongKey {
  /// The bytes of a head. A rest has at most as many.
  static let headBytes = 2_048

  let head: [UInt8]
  let rest: [UInt8]

  /// - Returns: `nil` for a key that is no longer than a head.
  init?(_ key: [UInt8]) {
    guard key.count > Self.headBytes else { return nil }
    self.init(splitting: key)
  }

  /// The place of any key among the long ones.
  init(splitting key: [UInt8]) {
    head = Array(key.prefix(Self.headBytes))
    rest = Array(key.dropFirst(Self.headBytes))
  }

  /// True when the head is whole, so that a bucket may have it.
  var isWhole: Bool { head.count == Self.headBytes }

  /// A key behind all heads and all rests.
  static let end = [UInt8](repeating: 0xFF, count: headBytes + 1)
}
