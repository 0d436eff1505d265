import Synchronization
import TernCommitLog
import TernLogMemory
import TernStorage
import Testing

/// A log that breaks one promise of the contract.
final class LyingLog: CommitLog {
  /// The promise that is broken.
  enum Lie: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// Every third batch is missing when the log is read.
    case leavesGaps
    /// A page of batches comes newest first.
    case reversesPages
    /// A reader that has another batch is given those behind it.
    case ignoresHistory
    /// A page is one batch longer than asked for.
    case exceedsLimit
    /// Every third append is confirmed and not made.
    case losesAppends
    /// Every third batch is appended twice.
    case doublesAppends
    /// A batch is appended behind whatever is there.
    case ignoresPosition
    /// A batch is appended under an epoch that is over.
    case ignoresEpoch
    /// A lease is given to every node that asks.
    case sharesLeases
    /// A lease is taken over although its holder has renewed it.
    case ignoresRenewals
    /// A lease that is given back stays with its node.
    case keepsReleasedLeases
    /// A wait tells the epoch that it was asked about, whatever the present one is.
    case hidesEpochs
    /// An advance of the checkpoint stores the first half of its changes, and moves the mark.
    case halvesAdvances
    /// An advance of the checkpoint takes effect under an epoch that is over.
    case foldsWhenDeposed
    /// An advance of the checkpoint takes effect whatever the mark is.
    case ignoresMark
    /// The mark of the checkpoint stays where it is.
    case keepsMark
    /// A compaction drops what the retention keeps.
    case dropsTooMuch
    /// All shards are one log.
    case mixesShards
    /// A log that was closed goes on.
    case neverCloses

    var testDescription: String { rawValue }
  }

  private let base: LogMemoryNode
  private let lie: Lie
  private let appends = Mutex(0)

  init(_ base: LogMemoryNode, _ lie: Lie) {
    self.base = base
    self.lie = lie
  }

  private func real(_ shard: ShardID) -> ShardID { lie == .mixesShards ? ShardID(1) : shard }

  func open(_ shard: ShardID) async throws(CommitLogError) -> LogState {
    try await base.open(real(shard))
  }

  func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    let shard = real(shard)
    let count = appends.withLock { count in
      count += 1
      return count
    }
    var (position, epoch) = (position, epoch)
    switch lie {
    case .losesAppends where count % 3 == 0: return .appended(position.next)
    case .ignoresPosition: position = try await base.open(shard).position
    case .ignoresEpoch: epoch = try await base.open(shard).epoch
    default: break
    }
    let outcome = try await base.append(draft, to: shard, after: position, epoch: epoch)
    if lie == .doublesAppends, count % 3 == 0, case .appended(let last) = outcome {
      return try await base.append(draft, to: shard, after: last, epoch: epoch)
    }
    return outcome
  }

  func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    let limit = lie == .exceedsLimit ? limit + 1 : limit
    let id = lie == .ignoresHistory ? nil : id
    let page = try await base.batches(in: real(shard), after: position, following: id, limit: limit)
    switch lie {
    case .leavesGaps: return page.filter { !$0.position.number.isMultiple(of: 3) }
    case .reversesPages: return page.reversed()
    default: return page
    }
  }

  func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch {
    let present = try await base.waitForChange(
      in: real(shard), after: position, under: epoch, timeout: timeout)
    return lie == .hidesEpochs ? epoch : present
  }

  func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome {
    let outcome = try await base.renewLease(real(shard), request: request)
    guard case .heldElsewhere(let lease) = outcome else { return outcome }
    switch lie {
    case .sharesLeases: return .held(lease.mark)
    case .ignoresRenewals:
      guard case .unchanged = request.condition else { return outcome }
      var request = request
      request.condition = .unchanged(lease.mark)
      return try await base.renewLease(real(shard), request: request)
    default: return outcome
    }
  }

  func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError) {
    if lie == .keepsReleasedLeases { return }
    try await base.releaseLease(real(shard), name: name, node: node)
  }

  func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord] {
    try await base.leases(of: real(shard))
  }

  func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError) {
    try await base.removeLease(real(shard), name: name, mark: mark)
  }

  func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage {
    try await base.checkpoint(of: real(shard), after: key, limit: limit)
  }

  func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome {
    let shard = real(shard)
    var (mark, target, epoch, changes) = (mark, position, epoch, changes)
    switch lie {
    case .halvesAdvances: changes = Array(changes.prefix((changes.count + 1) / 2))
    case .ignoresMark:
      mark = try await base.open(shard).mark
      target = max(mark, position)
    case .foldsWhenDeposed: epoch = try await base.open(shard).epoch
    case .keepsMark: target = mark
    default: break
    }
    let outcome = try await base.advanceCheckpoint(
      of: shard, from: mark, to: target, epoch: epoch, changes: changes)
    if lie == .keepsMark, case .advanced = outcome { return .advanced(position) }
    return outcome
  }

  func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition {
    let retention = lie == .dropsTooMuch ? LogRetention(batches: 0, age: .zero) : retention
    return try await base.compact(real(shard), keeping: retention)
  }

  func close() async {
    if lie != .neverCloses { await base.close() }
  }
}
