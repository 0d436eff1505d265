public import TernCommitLog
public import TernLedger
public import TernStorage

/// Moves the store of an embedded server into an empty shard of a log, and a shard into a store.
///
/// Versions, outcomes of writes, rules, settings, revocations and onDisconnect operations move with
/// the data, so clients go on with the versions and numbers that they know. A running transfer
/// holds the lease of the shard's leader. Docs/Formats/shared-log.md, section 6.
public struct ShardTransfer: Sendable {
  /// The step that a transfer is at, with the rows that it has done.
  public enum Progress: Hashable, Sendable {
    /// Rows are written.
    case copied(rows: Int)
    /// Rows are read back and compared.
    case compared(rows: Int)
  }

  /// The size of what was moved.
  public struct Summary: Hashable, Sendable {
    /// The rows, those of writers' outcomes included.
    public var rows: Int
    /// The bytes of their keys and values.
    public var bytes: Int
    /// The version at which the servers go on.
    public var version: Version
    /// The position of the log that the rows are the state at.
    public var position: LogPosition
  }

  let log: any CommitLog
  let shard: ShardID
  let environment: NodeEnvironment

  /// A transfer into or out of a shard of `log`, which stays open.
  public init(log: any CommitLog, shard: ShardID = ShardID(0), environment: NodeEnvironment) {
    self.log = log
    self.shard = shard
    self.environment = environment
  }

  /// Moves the store of a stopped embedded server into an empty shard.
  ///
  /// Until the last step the shard counts as not imported, and no node begins on it; the next
  /// transfer begins one that ended early anew. The store keeps its rows; its server must not run
  /// any more.
  ///
  /// - Throws: ``ShardTransferError``: for a shard that holds something, a store without commits, a
  ///   node that leads, and a row that is read back differently.
  @discardableResult
  public func importStore(
    _ store: any OrderedStore, progress: (Progress) -> Void = { _ in }
  ) async throws(ShardTransferError) -> Summary {
    let version = try ShardTransferError.ledger { () throws(LedgerError) in
      try MovedStore(store).settle()
    }
    guard version > 0 else { throw .emptyStore }
    var lease = try await TransferLease(of: shard, in: log, environment)
    do throws(ShardTransferError) {
      let summary = try await fill(from: store, version, &lease, progress)
      await lease.release()
      return summary
    } catch {
      await lease.release()
      throw error
    }
  }

  /// Moves a shard into an empty store, which is that of an embedded server afterwards. The shard
  /// stays as it is; its nodes must not run any more.
  ///
  /// - Throws: ``ShardTransferError``: for a store that holds something, an empty shard, a node
  ///   that leads, and a row that differs from the shard's. The store is of no use then.
  @discardableResult
  public func exportStore(
    to store: any OrderedStore, progress: (Progress) -> Void = { _ in }
  ) async throws(ShardTransferError) -> Summary {
    let found = try ShardTransferError.ledger { () throws(LedgerError) in
      try EmbeddedLedger.replicaState(of: store)
    }
    guard found == .empty || found == .partial else { throw .storeNotEmpty }
    var lease = try await TransferLease(of: shard, in: log, environment)
    do throws(ShardTransferError) {
      let summary = try await copy(into: store, &lease, progress)
      await lease.release()
      return summary
    } catch {
      await lease.release()
      throw error
    }
  }
}

extension ShardTransfer {
  // MARK: - Comparing

  /// Compares every row of the checkpoint with that of a store.
  ///
  /// - Returns: The rows and their bytes, without version and position.
  @discardableResult
  func compare(
    _ store: any OrderedStore, _ lease: inout TransferLease, _ progress: (Progress) -> Void
  ) async throws(ShardTransferError) -> Summary {
    var summary = Summary(rows: 0, bytes: 0, version: 0, position: .start)
    var (lastRead, lastStored): ([UInt8]?, [UInt8]?)
    var stored: ArraySlice<Row> = []
    while true {
      let page = try await page(after: lastRead, limit: CommitLogLimits.rowsPerPage)
      for row in page.rows where LedgerKey.isCopied(row.key) {
        if stored.isEmpty { stored = try rows(of: store, after: lastStored)[...] }
        guard let expected = stored.popFirst(), expected == row else {
          throw .differs(key: row.key)
        }
        lastStored = row.key
        summary.add([row])
      }
      progress(.compared(rows: summary.rows))
      lastRead = page.rows.last?.key ?? lastRead
      if page.isLast { break }
      try await lease.keep()
    }
    if stored.isEmpty { stored = try rows(of: store, after: lastStored)[...] }
    if let missing = stored.first { throw .differs(key: missing.key) }
    return summary
  }

  /// Returns true when an import into the shard was begun and did not end.
  func isPartial() async throws(ShardTransferError) -> Bool {
    // The key before that of the version.
    let row = try await page(after: [CheckpointVersion.key[0] - 1], limit: 1).rows.first
    return row == Row(key: CheckpointVersion.key, value: CheckpointVersion.partial)
  }

  func state() async throws(ShardTransferError) -> LogState {
    try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.open(shard)
    }
  }

  func page(
    after key: [UInt8]?, limit: Int
  ) async throws(ShardTransferError) -> CheckpointPage {
    try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.retrying(environment) { log throws(CommitLogError) in
        try await log.checkpoint(of: shard, after: key, limit: limit)
      }
    }
  }

  func batches(after position: LogPosition) async throws(ShardTransferError) -> [LogBatch] {
    try await ShardTransferError.log { () async throws(CommitLogError) in
      try await log.retrying(environment) { log throws(CommitLogError) in
        try await log.batches(
          in: shard, after: position, limit: SharedLedgerLimits.batchesPerRead)
      }
    }
  }

  func rows(
    of store: any OrderedStore, after key: [UInt8]?
  ) throws(ShardTransferError) -> [Row] {
    try ShardTransferError.ledger { () throws(LedgerError) in
      try MovedStore(store).rows(
        after: key, limit: SharedLedgerLimits.checkpointChanges,
        bytes: SharedLedgerLimits.checkpointBytes)
    }
  }
}

extension ShardTransfer.Summary {
  mutating func add(_ rows: [Row]) {
    self.rows += rows.count
    for row in rows { bytes += row.key.count + row.value.count }
  }
}
