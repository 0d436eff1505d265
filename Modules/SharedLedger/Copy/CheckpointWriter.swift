import TernCommitLog
import TernLedger
import TernStorage

/// Folds the log into its checkpoint.
struct CheckpointWriter {
  let log: any CommitLog
  let shard: ShardID
  /// The node's copy, which is at least as new as what is folded.
  let copy: EmbeddedLedger
  /// The place that the copy had reached; `nil` where no batch can have been lost since.
  var place: ReplicaMark?
  /// The epoch of the leader that folds.
  let epoch: LogEpoch
  /// Returns false once the copy is built again in the same store: what is read from it may then be
  /// older than what is folded.
  var isCopyCurrent: () -> Bool = { true }
  let plantedFault: PlantedFault?

  /// Advances the checkpoint by one portion of the log.
  ///
  /// - Returns: Its mark.
  func advance(
    from mark: LogPosition, upTo end: LogPosition
  ) async throws(NodeError) -> LogPosition {
    var (fold, assembler) = (CheckpointFold(plantedFault), BatchAssembler())
    var (tail, reached, id) = (mark, mark, UInt128?.none)
    reading: while tail < end, !fold.isFull {
      let (after, known) = (tail, id)
      let page = try await NodeError.log { () async throws(CommitLogError) in
        try await log.batches(
          in: shard, after: after, following: known, limit: SharedLedgerLimits.batchesPerRead)
      }
      guard let last = page.last else { break }
      for batch in page where batch.position <= end {
        let whole = try NodeError.ledger { () throws(LedgerError) in try assembler.add(batch) }
        guard let whole else { continue }
        fold.add(whole)
        reached = batch.position
        if fold.isFull { break reading }
      }
      (tail, id) = (last.position, last.id)
    }
    if reached == mark { return mark }
    let changes = fold
    let portions = try NodeError.ledger { () throws(LedgerError) in
      try copy.read { snapshot throws(StorageError) in
        try changes.portions { stream throws(StorageError) in
          try EmbeddedLedger.streamRow(stream, in: snapshot)
        }
      }
    }
    guard isCopyCurrent() else { throw Self.copyReplaced }
    if let place {
      // A log that has lost its newest batches must not get the states of writers that they made.
      _ = try await NodeError.log { () async throws(CommitLogError) in
        try await log.batches(
          in: shard, after: LogPosition(place.position), following: place.id, limit: 1)
      }
    }
    for (index, portion) in portions.enumerated() {
      let target = index == portions.count - 1 ? reached : mark
      let outcome = try await NodeError.log { () async throws(CommitLogError) in
        try await log.advanceCheckpoint(
          of: shard, from: mark, to: target, epoch: epoch, changes: portion)
      }
      switch outcome {
      case .advanced: continue
      case .elsewhere(let other): return other
      // Another node leads, and folds.
      case .fenced: return mark
      }
    }
    return reached
  }

  private static let copyReplaced = NodeError.ledger(
    .unavailable(reason: "the node builds its copy again"))
}
