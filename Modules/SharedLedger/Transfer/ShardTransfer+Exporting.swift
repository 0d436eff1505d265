import TernCommitLog
import TernLedger
import TernStorage

extension ShardTransfer {
  func copy(
    into store: any OrderedStore, _ lease: inout TransferLease, _ progress: (Progress) -> Void
  ) async throws(ShardTransferError) -> Summary {
    let state = try await state()
    if try await isPartial() { throw .unfinishedImport }
    guard state.position > .start else { throw .emptyShard }
    let loader = CopyLoader(
      log: log, shard: shard, store: store, rowsPerPage: CommitLogLimits.rowsPerPage)
    let mark = try await ShardTransferError.node { () async throws(NodeError) in
      try await loader.load { progress(.copied(rows: $0)) }
    }
    try await lease.keep()
    let copy = try ShardTransferError.ledger { () throws(LedgerError) in
      try EmbeddedLedger(store: store, uptime: environment.uptime)
    }
    let reached = try await follow(copy, after: LogPosition(mark.position), &lease)
    try await fold(copy, from: state.mark, upTo: reached, &lease)
    try ShardTransferError.ledger { () throws(LedgerError) in
      try MovedStore(store).settleCopy()
    }
    var summary = try await compare(store, &lease, progress)
    summary.position = reached
    summary.version = try ShardTransferError.ledger { () throws(LedgerError) in
      try copy.read { $0.version }
    }
    // No node has appended since the lease was taken, so the copy has everything.
    try await lease.confirm()
    try ShardTransferError.ledger { () throws(LedgerError) in
      try MovedStore(store).detach()
    }
    return summary
  }

  /// Applies the log to a copy.
  ///
  /// - Returns: The position of the last whole batch.
  private func follow(
    _ copy: EmbeddedLedger, after start: LogPosition, _ lease: inout TransferLease
  ) async throws(ShardTransferError) -> LogPosition {
    var (assembler, tail, reached) = (BatchAssembler(), start, start)
    while true {
      let page = try await batches(after: tail)
      guard let last = page.last else { return reached }
      let placed = try ShardTransferError.ledger { () throws(LedgerError) in
        let placed = try assembler.place(page)
        try copy.apply(placed)
        return placed
      }
      if let mark = placed.last?.mark { reached = LogPosition(mark.position) }
      tail = last.position
      try await lease.keep()
    }
  }

  /// Advances the shard's checkpoint to the place of a copy, so that both can be compared.
  private func fold(
    _ copy: EmbeddedLedger, from mark: LogPosition, upTo end: LogPosition,
    _ lease: inout TransferLease
  ) async throws(ShardTransferError) {
    let writer = CheckpointWriter(
      log: log, shard: shard, copy: copy, epoch: lease.epoch, plantedFault: nil)
    var mark = mark
    while mark < end {
      let from = mark
      mark = try await ShardTransferError.node { () async throws(NodeError) in
        try await writer.advance(from: from, upTo: end)
      }
      // Another node may have taken the lease.
      if mark == from { return try await lease.confirm() }
      try await lease.keep()
    }
  }
}
