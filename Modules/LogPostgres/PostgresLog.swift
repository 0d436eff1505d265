import Synchronization
public import TernCommitLog
public import TernStorage

/// A commit log in a PostgreSQL database, or in one that speaks its protocol.
///
/// Each node has one. It has three connections, made when they are first used and again after they
/// were lost: for appends and the leader's lease, for reads, and for the checkpoint. The tables are
/// created at the first use, and upgraded when they are older. `Docs/Formats/log-postgres.md`
/// describes them.
///
/// All calls are asynchronous; none blocks a thread of the caller. Each connection belongs to a
/// worker with a thread of its own, which blocks while it waits for the database. The split keeps
/// an append from waiting behind a long read, and both from waiting behind a checkpoint.
///
/// An operation that changes something is never repeated after it may have taken effect: the caller
/// gets ``CommitLogError/unknownOutcome`` and finds out by reading. Reads are repeated over another
/// connection until their time is over.
public final class PostgresLog: CommitLog {
  private let writer: PostgresWorker
  private let reader: PostgresWorker
  private let bulk: PostgresWorker
  private let closing = Closing()
  private let clock: any Clock<Duration>
  private let uptime: @Sendable () -> Int64
  private let pollInterval: Duration

  /// True once the log was closed.
  ///
  /// A class, because connections look at it from their threads while they wait.
  private final class Closing: Sendable {
    let isClosed = Mutex(false)
  }

  /// A log that connects when it is first used.
  ///
  /// - Parameters:
  ///   - clock: The clock on which ``waitForChange(in:after:under:timeout:)`` sleeps.
  ///   - uptime: Milliseconds on a clock that does not jump.
  public convenience init(
    _ options: PostgresOptions, clock: any Clock<Duration>, uptime: @escaping @Sendable () -> Int64
  ) {
    self.init(options, clock: clock, uptime: uptime, migrations: PostgresMigration.all)
  }

  init(
    _ options: PostgresOptions, clock: any Clock<Duration>, uptime: @escaping @Sendable () -> Int64,
    migrations: [PostgresMigration]
  ) {
    let closing = closing
    let context = PostgresWorker.Context(
      options: options,
      conditions: PostgresConnection.Conditions(
        uptime: uptime, isClosed: { closing.isClosed.withLock { $0 } }),
      migrations: migrations)
    writer = PostgresWorker("writer", context: context)
    reader = PostgresWorker("reader", context: context)
    bulk = PostgresWorker("bulk", context: context)
    self.clock = clock
    self.uptime = uptime
    pollInterval = options.pollInterval
  }

  public func open(_ shard: ShardID) async throws(CommitLogError) -> LogState {
    let tables = PostgresTables(shard: shard)
    return try await reader.read { connection, deadline throws(PostgresFailure) in
      try tables.open(connection, deadline)
    }
  }

  public func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    try CommitLogLimits.check(draft)
    let tables = PostgresTables(shard: shard)
    let outcome = try await writer.change { connection, deadline throws(PostgresFailure) in
      try tables.append(draft, after: position, epoch: epoch, connection, deadline)
    }
    guard let outcome else { throw .unknownShard }
    return outcome
  }

  public func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    let tables = PostgresTables(shard: shard)
    let page = try await reader.read { connection, deadline throws(PostgresFailure) in
      try tables.batches(after: position, following: id, limit: limit, connection, deadline)
    }
    return try page.get()
  }

  public func page(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> LogPage {
    let tables = PostgresTables(shard: shard)
    let page = try await reader.read { connection, deadline throws(PostgresFailure) in
      try tables.page(after: position, following: id, limit: limit, connection, deadline)
    }
    return try page.get()
  }

  /// Waits until the log has grown, or another epoch has begun.
  ///
  /// The wait polls the head of the log every ``PostgresOptions/pollInterval``, by one short
  /// statement each time.
  public func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch {
    let tables = PostgresTables(shard: shard)
    let start = uptime()
    var present = epoch
    while !Task.isCancelled {
      let head = try await reader.read { connection, deadline throws(PostgresFailure) in
        try tables.head(connection, deadline)
      }
      guard let head else { throw .unknownShard }
      present = head.epoch
      let left = timeout.milliseconds - (uptime() - start)
      guard head.position <= position, present == epoch, left > 0 else { break }
      // A task that is cancelled ends the wait.
      try? await clock.sleep(for: min(pollInterval, .milliseconds(left)))
    }
    return present
  }

  public func close() async {
    closing.isClosed.withLock { $0 = true }
    for worker in [writer, reader, bulk] { await worker.close() }
  }
}

extension PostgresLog {
  public func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome {
    try CommitLogLimits.check(request)
    let leases = PostgresLeases(shard: shard, name: request.name)
    // The leader renews its lease over the connection that it appends with: a node that cannot
    // append does not keep the lead.
    let worker = request.name == .leader ? writer : reader
    let answer = try await worker.change { connection, deadline throws(PostgresFailure) in
      try leases.renew(request, connection, deadline)
    }
    return try answer.get()
  }

  public func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError) {
    let leases = PostgresLeases(shard: shard, name: name)
    let worker = name == .leader ? writer : reader
    try await worker.change { connection, deadline throws(PostgresFailure) in
      try leases.release(node: node, connection, deadline)
    }
  }

  public func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord] {
    try await reader.read { connection, deadline throws(PostgresFailure) in
      try PostgresLeases.all(of: shard, connection, deadline)
    }
  }

  public func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError) {
    let leases = PostgresLeases(shard: shard, name: name)
    try await reader.change { connection, deadline throws(PostgresFailure) in
      try leases.remove(mark: mark, connection, deadline)
    }
  }

  public func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage {
    let checkpoint = PostgresCheckpoint(shard: shard)
    let page = try await bulk.read { connection, deadline throws(PostgresFailure) in
      try checkpoint.page(after: key, limit: limit, connection, deadline)
    }
    return try page.get()
  }

  /// Moves the checkpoint's mark and applies the changes up to it.
  ///
  /// An advance is one transaction. If it has to remove too many rows for that, the ranges are
  /// first removed piece by piece, while the mark stays; then the advance is tried again. A crash
  /// in between leaves a checkpoint in which rows are missing or newer than the mark. The log from
  /// the mark on restores them, because applying its changes again is idempotent.
  public func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome {
    try CommitLogLimits.check(changes)
    let checkpoint = PostgresCheckpoint(shard: shard)
    let steps = CheckpointStep.steps(of: changes)
    while true {
      let answer = try await bulk.change {
        connection, deadline throws(PostgresFailure) -> Answer<CheckpointOutcome>? in
        do throws(PostgresFailure) {
          return try checkpoint.advance(
            from: mark, to: position, epoch: epoch, steps: steps, connection, deadline)
        } catch {
          guard error == .tooManyRows else { throw error }
          return nil
        }
      }
      if let answer { return try answer.get() }
      let refusal = try await remove(
        steps.flatMap(\.ranges), of: checkpoint, from: mark, epoch: epoch)
      if let refusal { return refusal }
    }
  }

  /// Removes ranges of a checkpoint, each piece in an operation of its own.
  ///
  /// - Parameters:
  ///   - ranges: All ranges of the advance, also those that a later step puts rows into.
  ///   - mark: The mark at which the checkpoint must still be.
  /// - Returns: What keeps them from being removed, or `nil`.
  private func remove(
    _ ranges: [KeyRange], of checkpoint: PostgresCheckpoint, from mark: LogPosition,
    epoch: LogEpoch
  ) async throws(CommitLogError) -> CheckpointOutcome? {
    var removal = CheckpointRemoval(ranges, limit: PostgresLimits.rowsPerRemoval)
    while !removal.isDone {
      if Task.isCancelled { throw .unavailable(reason: "the call was cancelled") }
      let answer = try await bulk.change { [removal] connection, deadline throws(PostgresFailure) in
        try checkpoint.remove(removal, from: mark, epoch: epoch, connection, deadline)
      }
      switch try answer.get() {
      case .left(let rest): removal = rest
      case .refused(let outcome): return outcome
      }
    }
    return nil
  }

  /// Drops batches that need not be kept, piece by piece.
  ///
  /// - Returns: The oldest position that is left. A cancelled task returns early, with less
  ///   compacted.
  public func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition {
    let compaction = PostgresCompaction(shard: shard, retention: retention)
    while true {
      // Each piece is an operation of its own; a piece that was lost is found again.
      let piece = try await bulk.read { connection, deadline throws(PostgresFailure) in
        try compaction.dropPiece(connection, deadline)
      }
      guard let piece else { throw .unknownShard }
      if piece.isLast || Task.isCancelled { return piece.oldest }
    }
  }
}
