/// A token bucket: it fills up with time, and every request takes one token.
struct TokenBucket: Equatable {
  /// Requests that may be made now, in thousandths.
  private var left: Int64
  /// The time of that level, in milliseconds of the uptime.
  private(set) var filled: Int64

  /// A full one.
  init(perSecond rate: Int, burstSeconds: Int, at uptime: Int64) {
    left = Int64(rate) * Int64(burstSeconds) * 1_000
    filled = uptime
  }

  /// Takes one request.
  ///
  /// - Returns: `nil`, or in how many milliseconds one may be made.
  mutating func take(perSecond rate: Int, burstSeconds: Int, at uptime: Int64) -> Int64? {
    // In a millisecond come as many thousandths as requests in a second.
    let full = Int64(rate) * Int64(burstSeconds) * 1_000
    let passed = max(0, uptime - filled)
    left = passed >= full ? full : min(full, left + passed * Int64(rate))
    filled = max(filled, uptime)
    if left >= 1_000 {
      left -= 1_000
      return nil
    }
    return (1_000 - left + Int64(rate) - 1) / Int64(max(1, rate))
  }
}
