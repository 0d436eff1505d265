/// Decides which denials a log is told, so that no client fills it or makes the server judge twice.
///
/// Every address has a token bucket; a denial without a token is counted, and the count is told
/// with the next denial that has one. Addresses beyond the table's limit share one bucket.
///
/// The owner protects it with a lock; ``take(_:at:)`` is constant apart from one sweep over the
/// table, at most once in ``RulesLimits/denialMilliseconds``.
struct DenialSampler {
  /// The level of detail in the report of a denial.
  enum Detail: Equatable {
    /// Every rule and what it came to.
    case explained
    /// The path and the id.
    case brief
    /// Nothing; it is counted.
    case omitted
  }

  /// The handling of one denial.
  struct Decision: Equatable {
    var detail: Detail
    /// Counts of earlier denials that were not told, to be told now.
    var summaries: [OmittedDenials] = []
  }

  /// The budget of one address: ``RulesLimits/denialBurst`` reports at once, then one in
  /// ``RulesLimits/denialMilliseconds``.
  private struct Bucket {
    var tokens = RulesLimits.denialBurst
    /// The time at which tokens were last added, in milliseconds since 1970.
    var filledAt: Int64
    /// The denials since the last report that were counted only.
    var omitted = 0

    mutating func fill(at now: Int64) {
      // A clock that went back begins again; it must not keep a bucket empty.
      if now < filledAt { filledAt = now }
      let added = (now - filledAt) / RulesLimits.denialMilliseconds
      filledAt += added * RulesLimits.denialMilliseconds
      tokens = Int(min(Int64(RulesLimits.denialBurst), Int64(tokens) + added))
    }
  }

  /// The label of the addresses beyond the table's limit.
  static let others = "other addresses"

  private var buckets: [String: Bucket] = [:]
  /// The time of the last sweep, in milliseconds since 1970.
  private var sweptAt: Int64 = .min
  /// The second that ``told`` counts in, since 1970.
  private var second: Int64 = .min
  /// The denials reported in the current second, over all addresses.
  private var told = 0

  /// The number of addresses in the table.
  var count: Int { buckets.count }

  /// Decides about a denial.
  ///
  /// - Parameters:
  ///   - address: Where the request came from; `nil` samples by the second only.
  ///   - now: Milliseconds since 1970.
  mutating func take(_ address: String?, at now: Int64) -> Decision {
    if second != now / 1_000 { (second, told) = (now / 1_000, 0) }
    guard let address else {
      told += 1
      let isExplained = told <= RulesLimits.explanationsPerSecond
      return Decision(detail: isExplained ? .explained : .brief)
    }
    var decision = Decision(detail: .omitted, summaries: sweep(at: now))
    let isKnown = buckets[address] != nil || buckets.count < RulesLimits.denialAddresses
    let name = isKnown ? address : Self.others
    var bucket = buckets[name] ?? Bucket(filledAt: now)
    bucket.fill(at: now)
    if bucket.tokens > 0, told < RulesLimits.denialsPerSecond {
      bucket.tokens -= 1
      told += 1
      decision.detail = told <= RulesLimits.explanationsPerSecond ? .explained : .brief
      if bucket.omitted > 0 {
        decision.summaries.append(OmittedDenials(count: bucket.omitted, address: name))
        bucket.omitted = 0
      }
    } else {
      bucket.omitted += 1
    }
    buckets[name] = bucket
    return decision
  }

  /// Forgets addresses that were quiet until their bucket was full, and returns what was counted
  /// of those that have been quiet since a token came back.
  private mutating func sweep(at now: Int64) -> [OmittedDenials] {
    guard sweptAt > now || sweptAt < now - RulesLimits.denialMilliseconds else { return [] }
    sweptAt = now
    var summaries: [OmittedDenials] = []
    for (address, old) in buckets {
      var bucket = old
      bucket.fill(at: now)
      if bucket.omitted > 0, bucket.tokens > 0 {
        summaries.append(OmittedDenials(count: bucket.omitted, address: address))
        bucket.omitted = 0
      }
      let isQuiet = bucket.tokens == RulesLimits.denialBurst && bucket.omitted == 0
      buckets[address] = isQuiet ? nil : bucket
    }
    // One line stands for many when a table full of addresses was quiet.
    guard summaries.count > RulesLimits.denialSummaries else {
      return summaries.sorted { $0.address < $1.address }
    }
    let count = summaries.reduce(0) { $0 + $1.count }
    return [OmittedDenials(count: count, address: "\(summaries.count) addresses")]
  }
}

/// Denials that were counted and not told one by one.
public struct OmittedDenials: Hashable, Sendable, CustomStringConvertible {
  /// The number of denials.
  public let count: Int
  /// The address of the requests.
  public let address: String

  /// One line for a log.
  public var description: String {
    "\(count) more denials of \(PrintedText.path(address).dropFirst())"
  }
}
