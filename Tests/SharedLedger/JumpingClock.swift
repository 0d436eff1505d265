import Synchronization
import TernCommitLog
import TernStorage

/// A clock on which every sleep is over at once: the time jumps to its end. A hook runs meanwhile.
final class JumpingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var whileSleeping: (@Sendable () async -> Void)?
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  let minimumResolution = Duration.nanoseconds(1)

  func advance(by duration: Duration) {
    state.withLock { $0.now = $0.now.advanced(by: duration) }
  }

  /// The milliseconds since the clock's start.
  var milliseconds: Int64 {
    let parts = now.offset.components
    return parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
  }

  /// Runs while a task sleeps.
  var whileSleeping: (@Sendable () async -> Void)? {
    get { state.withLock { $0.whileSleeping } }
    set { state.withLock { $0.whileSleeping = newValue } }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let hook = state.withLock { state in
      if deadline > state.now { state.now = deadline }
      return state.whileSleeping
    }
    await hook?()
  }
}

/// A log that lets a test act in the middle of an append, and that can break its promises.
final class HookedLog: CommitLog {
  /// A promise that the log does not keep.
  enum Defect: CaseIterable, Sendable {
    /// Appends behind whatever is there, under whatever epoch.
    case appendsForAnyNode
    /// Says that a batch is appended, and drops every third one.
    case dropsBatches
    /// Appends the batches whose outcome was in doubt once more.
    case appendsTwice
    /// Gives the lease to every node that asks.
    case sharesLeaseAndEpoch
    /// Leaves out the first row of every page of the checkpoint but the first.
    case skipsRows
  }

  private struct Hooks {
    var before: (@Sendable () async -> Void)?
    var after: (@Sendable () async -> Void)?
    var appended: (@Sendable (LogEpoch) -> Void)?
    var checkpoint: (@Sendable () async -> Void)?
    var page: (@Sendable () async -> Void)?
    var lease: (@Sendable () async -> Void)?
    var open: (@Sendable () async -> Void)?
    var hold: (@Sendable (HeldAppend) -> Bool)?
    var count = 0
  }

  /// An append on its way to the log.
  struct HeldAppend: Sendable {
    let draft: LogBatch.Draft
    let shard: ShardID
    let position: LogPosition
    let epoch: LogEpoch
  }

  private let base: any CommitLog
  private let defect: Defect?
  private let hooks = Mutex(Hooks())

  init(_ base: any CommitLog, defect: Defect? = nil) {
    self.base = base
    self.defect = defect
  }

  /// Runs before an append reaches the log, and after it did.
  func onAppend(
    before: (@Sendable () async -> Void)? = nil, after: (@Sendable () async -> Void)? = nil
  ) {
    hooks.withLock { ($0.before, $0.after) = (before, after) }
  }

  /// Runs before an advance of the checkpoint reaches the log.
  func onCheckpoint(before hook: @escaping @Sendable () async -> Void) {
    hooks.withLock { $0.checkpoint = hook }
  }

  /// Runs after a page of the checkpoint was read.
  func onPage(_ hook: @escaping @Sendable () async -> Void) {
    hooks.withLock { $0.page = hook }
  }

  /// Runs before the lease is renewed, and after it was.
  func onLease(_ hook: @escaping @Sendable () async -> Void) {
    hooks.withLock { $0.lease = hook }
  }

  /// Runs before the state of the log is read.
  func onOpen(_ hook: @escaping @Sendable () async -> Void) {
    hooks.withLock { $0.open = hook }
  }

  /// Asked before an append is performed. A hook that returns true keeps the append, to perform it
  /// later; its outcome is unknown.
  func onHold(_ hook: @escaping @Sendable (HeldAppend) -> Bool) {
    hooks.withLock { $0.hold = hook }
  }

  /// Called with the epoch of each append that the log has confirmed, and of each lease.
  func onAppended(_ note: @escaping @Sendable (LogEpoch) -> Void) {
    hooks.withLock { $0.appended = note }
  }

  func append(
    _ draft: LogBatch.Draft, to shard: ShardID, after position: LogPosition, epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    await hooks.withLock { $0.before }?()
    let append = HeldAppend(draft: draft, shard: shard, position: position, epoch: epoch)
    if hooks.withLock({ $0.hold })?(append) == true { throw .unknownOutcome }
    let outcome = try await appendBroken(draft, shard, position, epoch)
    if outcome.isAppended { hooks.withLock { $0.appended }?(epoch) }
    await hooks.withLock { $0.after }?()
    return outcome
  }

  private func appendBroken(
    _ draft: LogBatch.Draft, _ shard: ShardID, _ position: LogPosition, _ epoch: LogEpoch
  ) async throws(CommitLogError) -> AppendOutcome {
    let count = hooks.withLock { hooks in
      hooks.count += 1
      return hooks.count
    }
    switch defect {
    case .dropsBatches where count % 3 == 0: return .appended(position.next)
    case .appendsForAnyNode, .sharesLeaseAndEpoch:
      let outcome = try await base.append(draft, to: shard, after: position, epoch: epoch)
      if outcome.isAppended { return outcome }
      let state = try await base.open(shard)
      return try await base.append(
        draft, to: shard, after: state.position, epoch: state.epoch)
    case .appendsTwice:
      do throws(CommitLogError) {
        return try await base.append(draft, to: shard, after: position, epoch: epoch)
      } catch {
        guard error == .unknownOutcome else { throw error }
        let state = try await base.open(shard)
        _ = try await base.append(
          draft, to: shard, after: state.position, epoch: state.epoch)
        throw error
      }
    default: return try await base.append(draft, to: shard, after: position, epoch: epoch)
    }
  }

  func renewLease(
    _ shard: ShardID, request: LeaseRequest
  ) async throws(CommitLogError) -> LeaseOutcome {
    await hooks.withLock { $0.lease }?()
    let outcome = try await base.renewLease(shard, request: request)
    if request.name == .leader, case .held(let mark) = outcome {
      hooks.withLock { $0.appended }?(mark.epoch)
    }
    await hooks.withLock { $0.lease }?()
    if defect == .sharesLeaseAndEpoch, case .heldElsewhere(let lease) = outcome {
      return .held(lease.mark)
    }
    return outcome
  }

  func open(_ shard: ShardID) async throws(CommitLogError) -> LogState {
    await hooks.withLock { $0.open }?()
    var state = try await base.open(shard)
    if defect == .sharesLeaseAndEpoch { state.leader = nil }
    return state
  }

  func batches(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> [LogBatch] {
    try await base.batches(in: shard, after: position, following: id, limit: limit)
  }

  func page(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> LogPage {
    try await base.page(in: shard, after: position, following: id, limit: limit)
  }

  func waitForChange(
    in shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async throws(CommitLogError) -> LogEpoch {
    try await base.waitForChange(
      in: shard, after: position, under: epoch, timeout: timeout)
  }

  func releaseLease(
    _ shard: ShardID, name: LeaseName, node: String
  ) async throws(CommitLogError) {
    try await base.releaseLease(shard, name: name, node: node)
  }

  func leases(of shard: ShardID) async throws(CommitLogError) -> [LeaseRecord] {
    try await base.leases(of: shard)
  }

  func removeLease(
    _ shard: ShardID, name: LeaseName, mark: LeaseMark
  ) async throws(CommitLogError) {
    try await base.removeLease(shard, name: name, mark: mark)
  }

  func checkpoint(
    of shard: ShardID, after key: [UInt8]?, limit: Int
  ) async throws(CommitLogError) -> CheckpointPage {
    var page = try await base.checkpoint(of: shard, after: key, limit: limit)
    await hooks.withLock { $0.page }?()
    if defect == .skipsRows, key != nil { page.rows = Array(page.rows.dropFirst()) }
    return page
  }

  func advanceCheckpoint(
    of shard: ShardID, from mark: LogPosition, to position: LogPosition, epoch: LogEpoch,
    changes: [Mutation]
  ) async throws(CommitLogError) -> CheckpointOutcome {
    await hooks.withLock { $0.checkpoint }?()
    return try await base.advanceCheckpoint(
      of: shard, from: mark, to: position, epoch: epoch, changes: changes)
  }

  func compact(
    _ shard: ShardID, keeping retention: LogRetention
  ) async throws(CommitLogError) -> LogPosition {
    try await base.compact(shard, keeping: retention)
  }

  func close() async { await base.close() }
}
