import Synchronization
public import TernCommitLog
public import TernStorage

/// The commit log of one node over a ``LogMemory``, with the faults of its connection.
public final class LogMemoryNode: CommitLog {
  private let name: String
  private let memory: LogMemory
  private let faults: LogFaultSource
  private let isClosed = Mutex(false)

  init(name: String, memory: LogMemory, faults: @escaping LogFaultSource) {
    self.name = name
    self.memory = memory
    self.faults = faults
  }

  public func open(_ shard: ShardID) async throws(CommitLogError) -> LogState {
    var state = try change(shard, .read) { $0.open(shard) }
    state.time = memory.time()
    return state
  }

  public func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    let now = memory.now
    return try change(shard, .append) { tables throws(CommitLogError) in
      try tables.append(draft, to: shard, after: position, epoch: epoch, at: now)
    }
  }

  public func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    try read(shard) { tables, hidden throws(CommitLogError) in
      try tables.batches(
        in: shard, after: position, following: id, limit: limit, hiding: hidden)
    }
  }

  public func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch {
    _ = try read(shard) { tables, _ throws(CommitLogError) in try tables.head(of: shard) }
    await memory.wait(for: shard, after: position, under: epoch, timeout: timeout)
    if isClosed.withLock({ $0 }) { throw .closed }
    return try memory.read { tables throws(CommitLogError) in try tables.epoch(of: shard) }
  }

  public func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome {
    try change(shard, .lease) { tables throws(CommitLogError) in
      try tables.renewLease(shard, request: request)
    }
  }

  public func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError) {
    try change(shard, .lease) { tables throws(CommitLogError) in
      try tables.releaseLease(shard, name: name, node: node)
    }
  }

  public func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord] {
    try read(shard) { tables, _ throws(CommitLogError) in try tables.leases(of: shard) }
  }

  public func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError) {
    try change(shard, .lease) { tables throws(CommitLogError) in
      try tables.removeLease(shard, name: name, mark: mark)
    }
  }

  public func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage {
    try read(shard) { tables, _ throws(CommitLogError) in
      try tables.checkpoint(of: shard, after: key, limit: limit)
    }
  }

  public func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome {
    try change(shard, .checkpoint) { tables throws(CommitLogError) in
      try tables.advanceCheckpoint(
        of: shard, from: mark, to: position, epoch: epoch, changes: changes)
    }
  }

  public func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition {
    let now = memory.now
    return try change(shard, .checkpoint) { tables throws(CommitLogError) in
      try tables.compact(shard, keeping: retention, at: now)
    }
  }

  public func close() async {
    isClosed.withLock { $0 = true }
  }
}

extension LogMemoryNode {
  private func fault(_ shard: ShardID, _ kind: LogOperation.Kind) throws(CommitLogError)
    -> LogFault?
  {
    if isClosed.withLock({ $0 }) { throw .closed }
    return faults(LogOperation(node: name, shard: shard, kind: kind))
  }

  /// Reads the contents; the body also gets the number of batches that it may not see.
  private func read<R: Sendable>(
    _ shard: ShardID, _ body: (borrowing LogTables, UInt64) throws(CommitLogError) -> R
  ) throws(CommitLogError) -> R {
    var hidden: UInt64 = 0
    switch try fault(shard, .read) {
    case .cut, .lostBefore, .lostAfter, .lostUnderway: throw Self.cut
    case .delayed(let batches): hidden = batches
    case nil: break
    }
    return try memory.read { tables throws(CommitLogError) in try body(tables, hidden) }
  }

  private func change<R: Sendable>(
    _ shard: ShardID, _ kind: LogOperation.Kind,
    _ body: @escaping @Sendable (inout LogTables) throws(CommitLogError) -> R
  ) throws(CommitLogError) -> R {
    switch try fault(shard, kind) {
    case .cut: throw Self.cut
    case .lostBefore: throw .unknownOutcome
    case .lostAfter:
      _ = try memory.perform(body)
      throw .unknownOutcome
    case .lostUnderway:
      // A change that is refused changes nothing, and no node is there to hear it.
      memory.postpone { _ = try? body(&$0) }
      throw .unknownOutcome
    case .delayed, nil: return try memory.perform(body)
    }
  }

  private static var cut: CommitLogError { .unavailable(reason: "the connection was cut") }
}
