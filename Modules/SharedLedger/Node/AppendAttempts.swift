import TernCommitLog

/// The attempts at one append under the epoch of a term, until its outcome is known.
struct AppendAttempts {
  let log: any CommitLog
  let shard: ShardID
  let draft: LogBatch.Draft
  /// The position behind which the batch is appended.
  let tail: LogPosition
  let epoch: LogEpoch
  let plantedFault: PlantedFault?
  /// True once the outcome of an attempt was unknown.
  private(set) var isDoubtful = false
  /// True when the batch was found in the log behind an attempt that was refused: an earlier one
  /// has appended it. The refused one renews no lease, which may be another node's since.
  private(set) var isFound = false

  init(
    _ draft: LogBatch.Draft, after tail: LogPosition, in term: Term, to log: any CommitLog,
    _ options: SharedLedgerOptions
  ) {
    (self.draft, self.tail, self.log) = (draft, tail, log)
    epoch = term.epoch
    shard = options.shard
    plantedFault = options.plantedFault
  }

  /// Appends once. A batch whose outcome was in doubt before is looked up when it is not appended
  /// now: by then it is decided.
  ///
  /// - Throws: The error of the log; the attempt may be repeated after one that is transient.
  mutating func next() async throws(CommitLogError) -> AppendOutcome {
    do throws(CommitLogError) {
      let epoch =
        plantedFault == .appendsUnderAnyEpoch ? try await log.open(shard).epoch : self.epoch
      let outcome = try await log.append(draft, to: shard, after: tail, epoch: epoch)
      guard isDoubtful, !outcome.isAppended else { return outcome }
    } catch {
      if error == .unknownOutcome { isDoubtful = true }
      if isDoubtful, plantedFault == .takesDoubtForSuccess { return .appended(tail.next) }
      throw error
    }
    if plantedFault == .appendsAgain {
      let head = try await log.open(shard).position
      return try await log.append(draft, to: shard, after: head, epoch: epoch)
    }
    let next = try await log.batches(in: shard, after: tail, limit: 1).first
    isFound = next?.id == draft.id
    return isFound ? .appended(tail.next) : .behind(head: tail.next)
  }
}
