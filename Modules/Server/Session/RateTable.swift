import TernCore
import TernSecurity
import TernTransport
import TernTreeWire

/// The request counts of all clients.
///
/// Each address and each user has a token bucket. A request takes one token of both; one that
/// exceeds the address is not counted for the user. The networks of IPv6 count as one address each,
/// as they do in `MemoryBudget`.
struct RateTable {
  /// A counted address or identity.
  private enum Asker: Hashable {
    case address(ExactText)
    case user(namespace: ExactText, id: ExactText)
  }

  private let limits: RateLimits
  private var buckets: [Asker: TokenBucket] = [:]

  init(_ limits: RateLimits) { self.limits = limits }

  /// The number of remembered buckets.
  var count: Int { buckets.count }

  /// True when there is nothing to count.
  var isIdle: Bool { limits.requestsPerAddress == nil && limits.requestsPerIdentity == nil }

  /// Counts a request.
  ///
  /// - Parameter user: Who asks, if it is a user.
  /// - Returns: `nil`, or the excess to report to the client.
  mutating func count(
    address: String, user: String?, in namespace: String, at uptime: Int64
  ) -> RateExcess? {
    if let rate = limits.requestsPerAddress,
      let wait = take(.address(ExactText(MemoryBudget.account(of: address))), rate, at: uptime)
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

  /// Counts a request of a session; answers what it is told when it asks too much.
  mutating func count(
    _ session: Session, _ namespace: String, at uptime: Int64
  ) -> RateExcess? {
    if isIdle { return nil }
    return count(
      address: session.address, user: session.identity.userID, in: namespace, at: uptime)
  }

  /// Counts a request without a session; not one that this server makes for a client.
  mutating func count(
    _ request: DirectRequest, by identity: Identity, at uptime: Int64
  ) -> RateExcess? {
    if isIdle { return nil }
    switch request.operation {
    case .review, .mayWrite, .mayPush:
      if !request.isOverLink { return nil }
    default: break
    }
    return count(
      address: request.address, user: identity.userID, in: request.namespace, at: uptime)
  }

  private mutating func take(_ asker: Asker, _ rate: Int, at uptime: Int64) -> Int64? {
    if buckets[asker] == nil, buckets.count >= RateLimits.mostKnown { forgetQuiet(at: uptime) }
    let fresh = TokenBucket(perSecond: rate, burstSeconds: limits.burstSeconds, at: uptime)
    return buckets[asker, default: fresh].take(
      perSecond: rate, burstSeconds: limits.burstSeconds, at: uptime)
  }

  /// Forgets the buckets that are full again; or all of them, when there are none.
  ///
  /// A full bucket is the same as none, so forgetting it changes nothing. Without a full one,
  /// forgetting all of them bounds the memory, in favor of the clients.
  private mutating func forgetQuiet(at uptime: Int64) {
    let limit = uptime - Int64(limits.burstSeconds) * 1_000
    buckets = buckets.filter { $0.value.filled > limit }
    if buckets.count >= RateLimits.mostKnown { buckets = [:] }
  }
}

/// A rate above its limit.
package struct RateExcess: Hashable, Sendable {
  /// True when the address exceeds its rate, false for the user.
  package var isOfAddress: Bool
  /// The permitted requests in a second.
  package var perSecond: Int
  /// The time until the next permitted request.
  package var waitMilliseconds: Int64

  /// The message for the client.
  package var text: String {
    let who = isOfAddress ? "one address" : "one user"
    return "Too many requests: \(who) may make \(perSecond) a second. "
      + "Try again in \(waitMilliseconds) ms."
  }
}

extension TreeRequest {
  /// True when the request takes something from its session and gives it nothing. It counts, and
  /// is never refused for a rate: its client must not go on as the user that it was, and clients
  /// take the end of a listen for granted.
  var onlyTakesAway: Bool {
    switch self {
    case .unauth, .unlisten: true
    default: false
    }
  }
}
