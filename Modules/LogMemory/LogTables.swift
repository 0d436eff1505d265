public import TernCommitLog
public import TernStorage

/// The contents of a commit log in memory: all shards, and their rules as plain functions.
///
/// It sees no clock, no lock and no fault, so that a simulation can own one.
public struct LogTables: Sendable {
  private var shards: [ShardID: ShardTable] = [:]

  /// No shard.
  public init() {}

  /// The shards that were opened, in order.
  public var openShards: [ShardID] { shards.keys.sorted() }

  /// Opens a shard, as ``CommitLog/open(_:)`` does.
  public mutating func open(_ shard: ShardID) -> LogState {
    let table = shards[shard] ?? ShardTable()
    shards[shard] = table
    return table.state
  }

  /// Appends a batch, as ``CommitLog/append(_:to:after:epoch:)`` does.
  ///
  /// - Parameter milliseconds: The time on the log's clock.
  public mutating func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch,
    at milliseconds: Int64
  ) throws(CommitLogError) -> AppendOutcome {
    try CommitLogLimits.check(draft)
    return try change(shard) { table throws(CommitLogError) in
      table.append(draft, after: position, epoch: epoch, at: milliseconds)
    }
  }

  /// Reads batches, as ``CommitLog/batches(in:after:following:limit:)`` does.
  ///
  /// - Parameter hidden: The number of newest batches that the reader does not see yet.
  public func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128? = nil, limit: Int,
    hiding hidden: UInt64 = 0
  ) throws(CommitLogError) -> [LogBatch] {
    try table(shard).batches(after: position, following: id, limit: limit, hiding: hidden)
  }

  /// Returns the newest position of a shard.
  public func head(of shard: ShardID) throws(CommitLogError) -> LogPosition {
    try table(shard).head
  }

  /// Returns the epoch of a shard.
  public func epoch(of shard: ShardID) throws(CommitLogError) -> LogEpoch {
    try table(shard).state.epoch
  }

  /// Takes or renews a lease, as ``CommitLog/renewLease(_:request:)`` does.
  public mutating func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) throws(CommitLogError) -> LeaseOutcome {
    try CommitLogLimits.check(request)
    return try change(shard) { table throws(CommitLogError) in try table.renew(request) }
  }

  /// Gives a lease back, as ``CommitLog/releaseLease(_:name:node:)`` does.
  public mutating func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) throws(CommitLogError) {
    try change(shard) { table throws(CommitLogError) in table.release(name, node: node) }
  }

  /// Returns the leases beside the leader's, as ``CommitLog/leases(of:)`` does.
  public func leases(of shard: ShardID) throws(CommitLogError) -> [LeaseRecord] {
    try table(shard).records
  }

  /// Removes the record of a lease, as ``CommitLog/removeLease(_:name:mark:)`` does.
  public mutating func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) throws(CommitLogError) {
    try change(shard) { table throws(CommitLogError) in table.remove(name, mark: mark) }
  }

  /// Reads rows of the checkpoint, as ``CommitLog/checkpoint(of:after:limit:)`` does.
  public func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) throws(CommitLogError) -> CheckpointPage {
    try table(shard).checkpoint(after: key, limit: limit)
  }

  /// Advances the checkpoint, as ``CommitLog/advanceCheckpoint(of:from:to:epoch:changes:)`` does.
  public mutating func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) throws(CommitLogError) -> CheckpointOutcome {
    try CommitLogLimits.check(changes)
    return try change(shard) { table throws(CommitLogError) in
      try table.advance(from: mark, to: position, epoch: epoch, changes: changes)
    }
  }

  /// Drops batches, as ``CommitLog/compact(_:keeping:)`` does.
  ///
  /// - Parameter milliseconds: The time on the log's clock.
  public mutating func compact(
    _ shard: ShardID, keeping retention: LogRetention, at milliseconds: Int64
  ) throws(CommitLogError) -> LogPosition {
    try change(shard) { table throws(CommitLogError) in
      table.compact(keeping: retention, at: milliseconds)
    }
  }

  /// Drops the newest batches of a shard, up to the checkpoint's mark.
  public mutating func dropNewest(_ count: Int, of shard: ShardID) {
    shards[shard]?.dropNewest(count)
  }

  private func table(_ shard: ShardID) throws(CommitLogError) -> ShardTable {
    guard let table = shards[shard] else { throw .unknownShard }
    return table
  }

  /// Changes a shard in place.
  private mutating func change<R>(
    _ shard: ShardID, _ body: (inout ShardTable) throws(CommitLogError) -> R
  ) throws(CommitLogError) -> R {
    guard let index = shards.index(forKey: shard) else { throw .unknownShard }
    return try body(&shards.values[index])
  }
}
