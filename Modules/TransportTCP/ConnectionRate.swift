#if TCP
  import NIOCore
  import TernTransport

  /// Counts the connections that each address opens, against a rate (a token bucket each).
  ///
  /// The networks of IPv6 count as one address each, as they do in `MemoryBudget`. An address is
  /// forgotten as soon as its bucket is full.
  struct ConnectionRate {
    /// The seconds whose connections a quiet address may open at once.
    static let burstSeconds: Int64 = 50

    /// The time in nanoseconds that stands for one connection; `nil` without a limit. This is the
    /// reciprocal of the rate: a bucket gains one connection in each share.
    private let share: Int64?
    /// The time at which the bucket of each account is full. The fill level is implied: the bucket
    /// lacks `(full - now) / share` connections. No timer runs.
    private var full: [String: NIODeadline] = [:]

    /// - Parameter perSecond: The connections per second of one address; `nil` for any number.
    init(perSecond: Int?) { share = perSecond.map { 1_000_000_000 / Int64(max(1, $0)) } }

    /// The number of addresses that are remembered.
    var knownCount: Int { full.count }

    /// Counts one connection; `false`, and it is not counted, when it is beyond the rate.
    ///
    /// - Parameters:
    ///   - address: The address of the peer, without its port.
    ///   - now: The time of the event loop, which never runs backwards.
    mutating func take(_ address: String, at now: NIODeadline) -> Bool {
      guard let share else { return true }
      let account = MemoryBudget.account(of: address)
      let start = max(full[account] ?? now, now)
      let end = start + .nanoseconds(share)
      // A connection beyond the rate costs nothing more: a client that floods still gets its
      // rate, and is not locked out by its own rejected attempts.
      guard end - now <= .seconds(Self.burstSeconds) else { return false }
      full[account] = end
      return true
    }

    /// Forgets the addresses whose buckets are full.
    ///
    /// Called about once a second. O(*n*) in the addresses that opened a connection in the last
    /// ``burstSeconds``.
    mutating func forget(at now: NIODeadline) {
      full = full.filter { $0.value > now }
    }
  }
#endif
