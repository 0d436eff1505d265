import TernCommitLog
import TernLedger
import TernStorage

// The steps of an import. Source: Docs/Formats/shared-log.md, section 6.

extension ShardTransfer {
  func fill(
    from store: any OrderedStore, _ version: Version, _ lease: inout TransferLease,
    _ progress: (Progress) -> Void
  ) async throws(ShardTransferError) -> Summary {
    let (mark, head) = try await requireEmpty()
    // No copy of the empty shard fits this batch, and none is built from the empty checkpoint.
    let begin = try await append(version, after: head, lease)
    // From here on a transfer that was begun before, and statements of it that are still on their
    // way, name another mark.
    try await advance(
      from: mark, to: begin,
      [.remove(.all), .put(key: CheckpointVersion.key, value: CheckpointVersion.partial)],
      lease)
    var summary = Summary(rows: 0, bytes: 0, version: version, position: begin)
    var last: [UInt8]?
    while true {
      let rows = try rows(of: store, after: last)
      guard let key = rows.last?.key else { break }
      try await advance(
        from: begin, to: begin, rows.map { .put(key: $0.key, value: $0.value) }, lease)
      summary.add(rows)
      progress(.copied(rows: summary.rows))
      last = key
      try await lease.keep()
    }
    try await compare(store, &lease, progress)
    summary.position = try await append(version, after: begin, lease)
    try await advance(
      from: begin, to: summary.position,
      [.put(key: CheckpointVersion.key, value: CheckpointVersion.value(version))], lease)
    return summary
  }

  /// Returns the mark and the newest position of a shard without data: both 0, or where an import
  /// that did not end has left them.
  private func requireEmpty() async throws(ShardTransferError) -> (LogPosition, LogPosition) {
    let state = try await state()
    if try await !isPartial() {
      let rows = try await page(after: nil, limit: 1).rows
      guard state.mark == .start, rows.isEmpty else { throw .shardNotEmpty(state.position) }
    }
    guard try await !hasCommits(after: state.mark) else { throw .shardNotEmpty(state.position) }
    return (state.mark, state.position)
  }

  private func hasCommits(after mark: LogPosition) async throws(ShardTransferError) -> Bool {
    var (assembler, tail) = (BatchAssembler(), mark)
    while true {
      let page = try await batches(after: tail)
      guard let last = page.last else { return false }
      tail = last.position
      let found = try ShardTransferError.ledger { () throws(LedgerError) in
        for batch in page {
          if let whole = try assembler.add(batch), !whole.commits.isEmpty { return true }
        }
        return false
      }
      if found { return true }
    }
  }

  /// Appends a batch without commits.
  ///
  /// - Returns: Its position.
  private func append(
    _ version: Version, after position: LogPosition, _ lease: TransferLease
  ) async throws(ShardTransferError) -> LogPosition {
    let payload = try ShardTransferError.ledger { () throws(LedgerError) in
      try BatchParts.split(ReplicatedBatch(after: version).encode())
    }
    let draft = LogBatch.Draft(id: environment.randomID(), payload: payload[0])
    let outcome = try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.retrying(environment) { log throws(CommitLogError) in
        try await log.append(
          draft, to: shard, after: position, epoch: lease.epoch,
          attempts: SharedLedgerLimits.transferAttempts)
      }
    }
    guard outcome.isAppended else { throw .inUse(by: "another node") }
    return position.next
  }

  /// Changes the checkpoint, and moves its mark.
  private func advance(
    from mark: LogPosition, to position: LogPosition, _ changes: [Mutation], _ lease: TransferLease
  ) async throws(ShardTransferError) {
    let outcome = try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.retrying(environment) { log throws(CommitLogError) in
        try await log.advanceCheckpoint(
          of: shard, from: mark, to: position, epoch: lease.epoch, changes: changes)
      }
    }
    switch outcome {
    case .advanced: return
    // The answer to an earlier attempt was lost: no other transfer appended that batch.
    case .elsewhere(let other) where other == position: return
    case .elsewhere(let other): throw .shardNotEmpty(other)
    case .fenced: throw .inUse(by: "another node")
    }
  }
}
