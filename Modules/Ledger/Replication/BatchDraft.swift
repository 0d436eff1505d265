import TernStorage

/// The commits of a batch while they are validated, before anything of it is stored.
///
/// The results are those that an embedded ledger's commit of the same batch would have.
struct BatchDraft {
  private(set) var batch: ReplicatedBatch
  private let committer: Committer
  private let journal: Journal
  private let base: any StoreReader
  /// The states of the streams that the batch writes to.
  private var streams: [UInt128: StreamState] = [:]

  /// - Parameter base: The snapshot with the journal on top.
  init(after committer: Committer, _ journal: Journal, over base: any StoreReader) {
    self.committer = committer
    self.journal = journal
    self.base = base
    batch = ReplicatedBatch(after: committer.log.last)
  }

  /// Validates one commit, and adds it if it is to be applied.
  mutating func add(_ commit: Commit) throws(StorageError) -> CommitResult {
    var state = StreamState()
    let base = base
    if let claim = commit.claim {
      let stream = claim.id.stream
      state =
        if let known = streams[stream] { known } else {
          try journal.state(of: stream, in: Snapshot(base))
        }
      if let verdict = state.verdict(on: claim) { return verdict }
    }
    if hasConflict(commit) { return .conflict }
    if !commit.preconditions.isEmpty {
      let reader = PendingReader(over: base)
      for earlier in batch.commits { reader.apply(earlier.mutations) }
      for condition in commit.preconditions {
        guard try condition.holds(in: Snapshot(reader)) else { return .failedPrecondition }
      }
    }
    do throws(StorageError) { try commit.mutations.checkLimits() } catch {
      return .exceedsLimit(error)
    }
    batch.append(commit)
    if let claim = commit.claim {
      state.record(claim, batch.versionAfter, commit.outcome)
      streams[claim.id.stream] = state
    }
    return .committed(batch.versionAfter)
  }

  private func hasConflict(_ commit: Commit) -> Bool {
    if commit.reads.isEmpty { return false }
    if committer.hasConflict(with: commit.reads, since: commit.readVersion) { return true }
    var version = batch.versionBefore
    for earlier in batch.commits where !earlier.isOutcomeOnly {
      version += 1
      guard version > commit.readVersion else { continue }
      for mutation in earlier.mutations {
        let changed = mutation.range
        if commit.reads.contains(where: { $0.overlaps(changed) }) { return true }
      }
    }
    return false
  }
}
