import TernLedger

/// The numbered writes of one connection that were rejected while their writer was unknown.
///
/// An unknown writer has shown no identity and had no write accepted: its rejections are told and
/// not stored, so that it leaves nothing behind in the store. They are numbered all the same: the
/// write behind them may be accepted, and from then on the latest of them are stored with it.
struct RefusedWrites {
  /// The most rejections that are kept.
  static let kept = 16

  /// The last write that was rejected.
  private var last: CommitID?
  /// The latest rejections, ascending.
  private var outcomes: [(claim: IdempotencyKey, outcome: [UInt8])] = []

  /// A claim for which the rejected writes before it are no gap.
  func passed(by claim: IdempotencyKey) -> IdempotencyKey {
    guard let last, last.stream == claim.id.stream, claim.id.sequence > 0 else { return claim }
    var claim = claim
    claim.acknowledged = max(claim.acknowledged, min(last.sequence, claim.id.sequence - 1))
    return claim
  }

  /// Adds a rejection that is not stored; one of an earlier write was sent again.
  mutating func note(_ claim: IdempotencyKey, _ outcome: [UInt8]) {
    if last?.stream != claim.id.stream { outcomes = [] }
    outcomes.removeAll { $0.claim.id.sequence >= claim.id.sequence }
    if outcomes.count >= Self.kept { outcomes.removeFirst() }
    outcomes.append((claim, outcome))
    last = claim.id
  }

  /// Hands over the rejections before a write that is stored, and forgets all of them.
  ///
  /// - Parameter known: The last sequence of the stream that has a stored outcome.
  mutating func take(
    before claim: IdempotencyKey, behind known: UInt64
  ) -> [(claim: IdempotencyKey, outcome: [UInt8])] {
    guard last?.stream == claim.id.stream else { return [] }
    var taken = outcomes.filter {
      $0.claim.id.sequence > known && $0.claim.id.sequence < claim.id.sequence
    }
    self = RefusedWrites()
    // Those before the first one that was kept are as good as known to the writer: it was told.
    if let first = taken.first, first.claim.id.sequence > known + 1 {
      taken[0].claim.acknowledged = max(
        first.claim.acknowledged, first.claim.id.sequence - 1)
    }
    return taken
  }
}
