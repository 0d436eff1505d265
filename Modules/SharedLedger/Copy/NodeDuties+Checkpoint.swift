import Synchronization
import TernCommitLog
import TernLedger
import TernStorage

/// The part of a leader's duties that concerns the checkpoint.
struct CheckpointDuty {
  /// The checkpoint's mark; `nil` until it was asked for.
  var mark: LogPosition?
  /// The uptime, in milliseconds, at which it last was advanced to the copy's place.
  var advanced: Int64?
}

extension NodeDuties {
  /// Moves the checkpoint towards the place of the copy when enough has gathered behind it, and
  /// lets the log drop what it need not keep.
  ///
  /// - Returns: Whether more is to be done at once.
  func advanceCheckpoint(under epoch: LogEpoch) async throws(NodeError) -> Bool {
    let now = ledger.uptime()
    let place = ledger.state.withLock { $0.mark }
    let reached = LogPosition(place.position)
    let (known, isDue) = ledger.duty.withLock { duty in
      let advanced = duty.advanced ?? now
      duty.advanced = advanced
      let isLate = now - advanced >= ledger.options.checkpointInterval.wholeMilliseconds
      let lag = reached.number - min(reached.number, duty.mark?.number ?? 0)
      return (duty.mark, lag >= ledger.options.checkpointBatches || isLate && lag > 0)
    }
    guard isDue else { return false }
    var mark = known ?? .start
    if known == nil {
      mark = try await NodeError.log { () async throws(CommitLogError) in
        try await ledger.log.open(ledger.options.shard)
      }.mark
    }
    let copy = try NodeError.ledger { () throws(LedgerError) in try ledger.openCopy() }
    let writer = CheckpointWriter(
      log: ledger.log, shard: ledger.options.shard, copy: copy, place: place, epoch: epoch,
      isCopyCurrent: { ledger.copy === copy },
      plantedFault: ledger.options.plantedFault)
    let next = try await writer.advance(from: mark, upTo: reached)
    let isDone = next >= reached || next == mark
    ledger.duty.withLock { duty in
      duty.mark = next
      if isDone { duty.advanced = now }
    }
    if isDone {
      _ = try await NodeError.log { () async throws(CommitLogError) in
        try await ledger.log.compact(ledger.options.shard, keeping: ledger.options.retention)
      }
    }
    ledger.state.withLock { $0.noteCheckpoint(nil) }
    return !isDone
  }
}
