import TernCore

/// Counts what everybody asks.
struct RateTable {
  /// Somebody who is counted.
  private enum Asker: Hashable {
    case address(ExactText)
    case user(namespace: ExactText, id: ExactText)
  }

  private let limits: RateLimits
  private var buckets: [Asker: TokenBucket] = [:]

  init(_ limits: RateLimits) { self.limits = limits }

  /// How many are remembered.
  var count: Int { buckets.count }

  /// Whether nobody is counted.
  var isIdle: Bool { limits.requestsPerAddress == nil && limits.requestsPerIdentity == nil }

  /// Counts a request.
  ///
  /// - Parameter user: Who asks, if it is a user.
  /// - Returns: `nil`, or what whoever asks is told.
  mutating func count(
    address: String, user: String?, in namespace: String, at uptime: Int64
  ) -> RateExcess? {
    if let rate = limits.requestsPerAddress,
      let wait = take(.address(ExactText(address)), rate, at: uptime)
    {
      return RateExcess(isOfAddress: true, perSecond: rate, waitMilliseconds: wait)
    }
    if let rate = limits.requestsPerIdentity, let user,
      let wait = take(
        .user(namespace: ExactText(namespace), id: ExactText(user)), rate, at: uptime)
    {
      return RateExcess(isOfAddress: false, perSecond: rate, waitMilliseconds: wait)
    }
    return nil
  }

  private mutating func take(_ asker: Asker, _ rate: Int, at uptime: Int64) -> Int64? {
    if buckets[asker] == nil, buckets.count >= RateLimits.mostKnown { forgetQuiet(at: uptime) }
    let fresh = TokenBucket(perSecond: rate, burstSeconds: limits.burstSeconds, at: uptime)
    return buckets[asker, default: fresh].take(
      perSecond: rate, burstSeconds: limits.burstSeconds, at: uptime)
  }

  /// Forgets who was quiet for so long that nothing is owed to them; or, if nobody was, everybody.
  private mutating func forgetQuiet(at uptime: Int64) {
    let limit = uptime - Int64(limits.burstSeconds) * 1_000
    buckets = buckets.filter { $0.value.filled > limit }
    if buckets.count >= RateLimits.mostKnown { buckets = [:] }
  }
}

/// Somebody asks for too much.
package struct RateExcess: Hashable, Sendable {
  /// Whether it is the address that asks too much, and not the user.
  package var isOfAddress: Bool
  /// What may be asked, in a second.
  package var perSecond: Int
  /// When one more may be asked.
  package var waitMilliseconds: Int64

  /// What the client is told.
  package var text: String {
    let who = isOfAddress ? "one address" : "one user"
    return "Too many requests: \(who) may make \(perSecond) a second. "
      + "Try again in \(waitMilliseconds) ms."
  }
}
