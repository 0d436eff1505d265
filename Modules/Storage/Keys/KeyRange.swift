/// The keys from `lower` up to, not including, `upper`.
public struct KeyRange: Hashable, Sendable {
  /// The first key that may be in the range.
  public var lower: [UInt8]

  /// The first key past the range; `nil` when nothing ends it.
  public var upper: [UInt8]?

  /// The keys `k` with `lower <= k < upper`.
  public init(from lower: [UInt8] = [], to upper: [UInt8]? = nil) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key.
  public static let all = KeyRange()

  /// The range that holds `key` alone.
  public init(only key: [UInt8]) {
    self.init(from: key, to: key + [0])
  }

  /// `prefix` itself and every key that extends it.
  public init(prefix: [UInt8]) {
    self.init(from: prefix, to: Self.successor(ofPrefix: prefix))
  }

  /// True when no key can be in the range.
  public var isEmpty: Bool {
    guard let upper else { return false }
    return compareBytes(lower.span, upper.span) >= 0
  }

  /// Returns true when `key` is in the range.
  public func contains(_ key: Span<UInt8>) -> Bool {
    guard compareBytes(lower.span, key) <= 0 else { return false }
    guard let upper else { return true }
    return compareBytes(key, upper.span) < 0
  }

  /// Returns true when some key could be in both ranges.
  public func overlaps(_ other: KeyRange) -> Bool {
    guard !isEmpty, !other.isEmpty else { return false }
    if let upper, compareBytes(upper.span, other.lower.span) <= 0 { return false }
    if let end = other.upper, compareBytes(end.span, lower.span) <= 0 { return false }
    return true
  }

  /// The first key after all extensions of `prefix`; `nil` when there is none (all bytes 0xFF).
  public static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    var end = prefix
    while let last = end.popLast() {
      if last < 0xFF {
        end.append(last + 1)
        return end
      }
    }
    return nil
  }
}
