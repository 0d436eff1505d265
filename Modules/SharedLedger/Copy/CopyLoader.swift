import TernCommitLog
import TernLedger
import TernStorage

/// Builds a node's copy of a shard in its store.
struct CopyLoader {
  let log: any CommitLog
  let shard: ShardID
  let store: any OrderedStore
  let rowsPerPage: Int
  var plantedFault: PlantedFault?

  /// The identifier of the batch at a position; `nil` when the log does not hold it any more.
  func batchID(at position: LogPosition) async throws(NodeError) -> UInt128? {
    guard position > .start else { return nil }
    let before = LogPosition(position.number - 1)
    do throws(CommitLogError) {
      return try await log.batches(in: shard, after: before, limit: 1).first?.id
    } catch {
      switch error {
      case .truncated, .regressed: return nil
      default: throw .log(error)
      }
    }
  }

  /// Builds the copy from the checkpoint.
  ///
  /// The checkpoint may advance meanwhile. Its rows are then newer than the first page's position,
  /// and applying the log from there leads to the same state: a batch says what rows become, and a
  /// stream never goes back.
  ///
  /// - Parameter progress: Receives the number of rows copied so far.
  func load(_ progress: (Int) -> Void) async throws(NodeError) -> ReplicaMark {
    try NodeError.ledger { () throws(LedgerError) in try EmbeddedLedger.beginCopy(in: store) }
    var (first, version) = (LogPosition?.none, Version?.none)
    var (last, count) = ([UInt8]?.none, 0)
    while true {
      try Self.checkCancellation()
      let after = last
      let page = try await NodeError.log { () async throws(CommitLogError) in
        try await log.checkpoint(
          of: shard, after: after, limit: rowsPerPage)
      }
      first = plantedFault == .loadsFromLastPage ? page.position : first ?? page.position
      for row in page.rows where row.key == CheckpointVersion.key {
        if row.value == CheckpointVersion.partial { throw Self.unfinishedImport }
        version = CheckpointVersion.version(of: row) ?? version
      }
      try NodeError.ledger { () throws(LedgerError) in
        try EmbeddedLedger.addRows(page.rows, to: store)
      }
      count += page.rows.count
      progress(count)
      last = page.rows.last?.key ?? last
      if page.isLast { break }
    }
    let position = first ?? .start
    // Where the checkpoint has moved on, its version is that of a later position.
    let before = try await versionBefore(position)
    // The first batch of a shard that no import has begun on follows on version 0.
    if position == .start, version == nil, let before, before > 0 { throw Self.unfinishedImport }
    let start = before ?? version ?? 0
    let mark = ReplicaMark(position: position.number, id: try await batchID(at: position))
    try NodeError.ledger { () throws(LedgerError) in
      try EmbeddedLedger.finishCopy(in: store, at: mark, version: start)
    }
    return mark
  }

  private static let unfinishedImport = NodeError.ledger(
    .unavailable(reason: ShardTransferError.unfinishedImport.description))

  /// - Throws: An error when the node ends: the copy stays partial, and the next run begins anew.
  private static func checkCancellation() throws(NodeError) {
    if Task.isCancelled { throw .ledger(.unavailable(reason: "the node ends")) }
  }

  /// The version before the first batch behind a position; `nil` when there is none.
  private func versionBefore(_ position: LogPosition) async throws(NodeError) -> Version? {
    var assembler = BatchAssembler()
    var tail = position
    while true {
      try Self.checkCancellation()
      let after = tail
      let page = try await NodeError.log { () async throws(CommitLogError) in
        try await log.batches(
          in: shard, after: after, limit: SharedLedgerLimits.batchesPerRead)
      }
      guard let last = page.last else { return nil }
      for batch in page {
        let whole = try NodeError.ledger { () throws(LedgerError) in try assembler.add(batch) }
        if let whole { return whole.versionBefore }
      }
      tail = last.position
    }
  }
}
