/// A ledger's knowledge of the writes of one stream.
public struct StreamState: Hashable, Sendable {
  /// The outcome of one write.
  public struct Outcome: Hashable, Sendable {
    /// The hash of the write's payload.
    public var payloadHash: UInt64
    /// The version it was committed as.
    public var version: Version
    /// The answer to retries.
    public var detail: [UInt8]

    /// The bytes that count towards ``LedgerLimits/streamBytes``.
    var byteCount: Int { LedgerLimits.outcomeHeadBytes + detail.count }
  }

  /// The sequence of the last write that has an outcome; 0 before the first.
  public private(set) var last: UInt64 = 0
  /// Outcomes of consecutive writes, the last one being that of ``last``.
  public private(set) var outcomes: [Outcome] = []
  /// The bytes of the outcomes, as ``LedgerLimits/streamBytes`` counts them.
  package private(set) var byteCount = 0

  /// Creates the state of a stream without writes.
  public init() {}

  init(last: UInt64, outcomes: [Outcome]) {
    self.last = last
    self.outcomes = outcomes
    byteCount = outcomes.reduce(0) { $0 + $1.byteCount }
  }

  /// Returns the outcome of a write under `claim`: `nil` when it is the next one.
  public func verdict(on claim: IdempotencyKey) -> CommitResult? {
    let sequence = claim.id.sequence
    if sequence > last {
      // A writer that knows more outcomes than we do has lost nothing by our forgetting them.
      let expected = max(last, claim.acknowledged) &+ 1
      // The greatest number has no successor, so no write may have it.
      return sequence == expected && sequence < .max ? nil : .gap(expected: expected)
    }
    guard let outcome = self[sequence] else { return .forgotten }
    guard outcome.payloadHash == claim.payloadHash else { return .mismatch }
    return .duplicate(outcome.version, outcome: outcome.detail)
  }

  /// The outcome of the write numbered `sequence`, if it is still kept.
  public subscript(sequence: UInt64) -> Outcome? {
    guard sequence >= first, sequence <= last else { return nil }
    return outcomes[Int(sequence - first)]
  }

  /// The sequence of the oldest outcome kept; ``last`` + 1 when none is.
  public var first: UInt64 { last &- UInt64(outcomes.count) &+ 1 }

  /// Records the outcome of the next write and forgets what its writer knows, then what is more
  /// than the limits of a stream allow, oldest first.
  package mutating func record(_ claim: IdempotencyKey, _ version: Version, _ detail: [UInt8]) {
    if claim.id.sequence != last &+ 1 { forget(outcomes.count) }
    last = claim.id.sequence
    let outcome = Outcome(
      payloadHash: claim.payloadHash, version: version,
      detail: Array(detail.prefix(LedgerLimits.outcomeBytes)))
    outcomes.append(outcome)
    byteCount += outcome.byteCount
    let known = claim.acknowledged >= first ? claim.acknowledged - first + 1 : 0
    var surplus = max(0, outcomes.count - LedgerLimits.outcomesPerStream)
    surplus = max(surplus, Int(clamping: known))
    // The write's own outcome is never known before it is made.
    let most = outcomes.count - 1
    surplus = min(surplus, most)
    var kept = byteCount - outcomes[..<surplus].reduce(0) { $0 + $1.byteCount }
    while kept > LedgerLimits.streamBytes, surplus < most {
      kept -= outcomes[surplus].byteCount
      surplus += 1
    }
    forget(surplus)
  }

  private mutating func forget(_ count: Int) {
    if count == 0 { return }
    byteCount -= outcomes[..<count].reduce(0) { $0 + $1.byteCount }
    outcomes.removeFirst(count)
  }
}
