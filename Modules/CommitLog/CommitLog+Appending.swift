extension CommitLog {
  /// Returns batches like ``batches(in:after:following:limit:)``, whichever batch is at `position`.
  public func batches(
    in shard: ShardID, after position: LogPosition, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    try await batches(in: shard, after: position, following: nil, limit: limit)
  }

  /// Appends like ``append(_:to:after:epoch:)``, and recognizes a batch that an earlier attempt
  /// appended, of this call or of one that threw.
  ///
  /// A batch that cannot be read may still become durable while the log works on it. So the same
  /// batch is appended again: at most one of both takes effect, and the answer of the second
  /// proves that the first is decided.
  ///
  /// - Parameter attempts: The most appends that are tried, at least one.
  /// - Returns: ``AppendOutcome/appended(_:)`` also when an earlier attempt did it, even if another
  ///   node has taken the lease since.
  /// - Throws: ``CommitLogError/unknownOutcome`` when the attempts do not suffice: nothing may be
  ///   concluded, and no other batch may be appended behind this position. Try again later.
  ///   ``CommitLogError/truncated(first:)`` when the batch at that position was dropped: the state
  ///   from the checkpoint on tells what is in it.
  public func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch,
    attempts: Int
  ) async throws(CommitLogError) -> AppendOutcome {
    var isDoubtful = false
    for _ in 0..<max(1, attempts) {
      do throws(CommitLogError) {
        let outcome = try await append(draft, to: shard, after: position, epoch: epoch)
        return try await holds(draft, in: shard, after: position, despite: outcome)
          ? .appended(position.next) : outcome
      } catch {
        switch error {
        case .unknownOutcome: isDoubtful = true
        case .unavailable where isDoubtful: continue
        case .closed where isDoubtful: throw .unknownOutcome
        default: throw error
        }
      }
    }
    throw .unknownOutcome
  }

  /// Returns true when the batch right after `position` is `draft`. The outcome of an append proves
  /// that no earlier attempt is under way.
  private func holds(
    _ draft: LogBatch.Draft, in shard: ShardID, after position: LogPosition,
    despite outcome: AppendOutcome
  ) async throws(CommitLogError) -> Bool {
    // A log that ends before `position` was restored, and holds nothing behind it.
    if case .behind(let head) = outcome, head <= position { return false }
    if outcome.isAppended { return true }
    return try await batches(in: shard, after: position, limit: 1).first?.id == draft.id
  }
}
