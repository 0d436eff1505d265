import Synchronization
import TernCommitLog
import TernLogMemory
import TernStorage

/// The commit log of one node's process in a world: requests and answers take time, and may be lost
/// with the process.
final class PacedLog: CommitLog {
  /// An append that the log has confirmed.
  struct Confirmation: Sendable {
    let position: LogPosition
    let id: UInt128
    let epoch: LogEpoch
  }

  private let base: LogMemoryNode
  private let gate: NodeGate
  private let confirmed = Mutex<[Confirmation]>([])

  init(_ base: LogMemoryNode, _ gate: NodeGate) {
    self.base = base
    self.gate = gate
  }

  /// The appends that the log has confirmed since the last call.
  func takeConfirmations() -> [Confirmation] {
    confirmed.withLock { confirmed in
      defer { confirmed = [] }
      return confirmed
    }
  }

  private func perform<R>(
    _ kind: LogOperation.Kind, _ body: () async throws(CommitLogError) -> R
  ) async throws(CommitLogError) -> R {
    guard await gate.pass(.request(kind)) else { throw .closed }
    let result: Result<R, CommitLogError>
    do throws(CommitLogError) { result = .success(try await body()) } catch {
      result = .failure(error)
    }
    guard await gate.pass(.answer(kind)) else { throw .closed }
    return try result.get()
  }

  func open(_ shard: ShardID) async throws(CommitLogError) -> LogState {
    try await perform(.read) { () async throws(CommitLogError) in try await base.open(shard) }
  }

  func page(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> LogPage {
    try await perform(.read) { () async throws(CommitLogError) in
      try await base.page(in: shard, after: position, following: id, limit: limit)
    }
  }

  func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    try await perform(.append) { () async throws(CommitLogError) in
      let outcome = try await base.append(draft, to: shard, after: position, epoch: epoch)
      if case .appended(let position) = outcome {
        let confirmation = Confirmation(position: position, id: draft.id, epoch: epoch)
        confirmed.withLock { $0.append(confirmation) }
      }
      return outcome
    }
  }

  func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    try await perform(.read) { () async throws(CommitLogError) in
      try await base.batches(in: shard, after: position, following: id, limit: limit)
    }
  }

  /// Ends at once: the world decides when a process looks again.
  func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch { epoch }

  func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome {
    try await perform(.lease) { () async throws(CommitLogError) in
      try await base.renewLease(shard, request: request)
    }
  }

  func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError) {
    try await perform(.lease) { () async throws(CommitLogError) in
      try await base.releaseLease(shard, name: name, node: node)
    }
  }

  func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord] {
    try await perform(.read) { () async throws(CommitLogError) in
      try await base.leases(of: shard)
    }
  }

  func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError) {
    try await perform(.lease) { () async throws(CommitLogError) in
      try await base.removeLease(shard, name: name, mark: mark)
    }
  }

  func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage {
    try await perform(.read) { () async throws(CommitLogError) in
      try await base.checkpoint(of: shard, after: key, limit: limit)
    }
  }

  func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome {
    try await perform(.checkpoint) { () async throws(CommitLogError) in
      try await base.advanceCheckpoint(
        of: shard, from: mark, to: position, epoch: epoch, changes: changes)
    }
  }

  func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition {
    try await perform(.checkpoint) { () async throws(CommitLogError) in
      try await base.compact(shard, keeping: retention)
    }
  }

  func close() async { await base.close() }
}

/// The clock of a node's process: it sleeps until the world wakes it.
struct PacedClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  let clock: WorldClock
  let gate: NodeGate

  var now: Instant { Instant(offset: .milliseconds(clock.now)) }
  var minimumResolution: Duration { .milliseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let rest = deadline.offset - .milliseconds(clock.now)
    let milliseconds = max(0, Int64(rest / .milliseconds(1)))
    guard await gate.pass(.sleep(milliseconds)) else { throw CancellationError() }
  }
}
