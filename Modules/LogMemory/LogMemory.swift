import Synchronization
public import TernCommitLog

/// A commit log in memory that all nodes of one process share: each has a ``LogMemoryNode`` of its
/// own over the same contents.
///
/// It survives its nodes and nothing else.
public final class LogMemory: Sendable {
  /// A change of the contents.
  typealias Change = @Sendable (inout LogTables) -> Void

  private struct Waiter {
    let shard: ShardID
    let position: LogPosition
    let epoch: LogEpoch
    var isWoken = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private struct State {
    var tables = LogTables()
    /// Changes whose outcome no node has heard, in order.
    var pending: [Change] = []
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock: any Clock<Duration>
  private let uptime: @Sendable () -> Int64
  /// The time that the log tells its nodes, in milliseconds since 1970.
  let time: @Sendable () -> Int64?

  /// An empty log.
  ///
  /// - Parameters:
  ///   - clock: The clock on which waits end.
  ///   - uptime: The log's own clock, in milliseconds, for the age of batches.
  ///   - time: Returns the time that the log tells its nodes, in milliseconds since 1970; `nil` for
  ///     none.
  public init(
    clock: any Clock<Duration>, uptime: @escaping @Sendable () -> Int64,
    time: @escaping @Sendable () -> Int64? = { nil }
  ) {
    self.time = time
    self.clock = clock
    self.uptime = uptime
  }

  /// Returns a log for a node, whose connection has the faults that `faults` chooses.
  public func node(
    _ name: String, faults: @escaping LogFaultSource = { _ in nil }
  ) -> LogMemoryNode {
    LogMemoryNode(name: name, memory: self, faults: faults)
  }

  /// A copy of the present contents, without what is under way.
  public var tables: LogTables { state.withLock { $0.tables } }

  /// Performs all changes that are still under way after a ``LogFault/lostUnderway``.
  public func performPending() {
    let woken = state.withLock { state in
      Self.performPending(&state)
      return Self.takeReady(&state)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Drops the newest batches of a shard, as when a standby takes over that lacks them.
  ///
  /// - Parameter count: The number of batches; of those that the checkpoint holds, none is dropped.
  public func dropNewest(_ count: Int, of shard: ShardID) {
    state.withLock { $0.tables.dropNewest(count, of: shard) }
  }

  /// The present time on the log's clock, in milliseconds.
  var now: Int64 { uptime() }

  /// Performs a change behind the ones that are under way, and wakes the nodes that wait for a
  /// batch or for another epoch.
  func perform<R: Sendable>(
    _ change: (inout LogTables) throws(CommitLogError) -> R
  ) throws(CommitLogError) -> R {
    let (result, woken) = state.withLock { state in
      Self.performPending(&state)
      let result: Result<R, CommitLogError>
      do throws(CommitLogError) { result = .success(try change(&state.tables)) } catch {
        result = .failure(error)
      }
      return (result, Self.takeReady(&state))
    }
    for continuation in woken { continuation.resume() }
    return try result.get()
  }

  /// Reads the contents, without what is under way.
  func read<R: Sendable>(
    _ body: (borrowing LogTables) throws(CommitLogError) -> R
  ) throws(CommitLogError) -> R {
    try state.withLock { state throws(CommitLogError) in try body(state.tables) }
  }

  /// Leaves a change under way.
  func postpone(_ change: @escaping Change) {
    state.withLock { $0.pending.append(change) }
  }

  private static func performPending(_ state: inout State) {
    for change in state.pending { change(&state.tables) }
    state.pending = []
  }

  /// Removes the waiters whose batch or epoch is there, and returns their continuations.
  private static func takeReady(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    var ready: [CheckedContinuation<Void, Never>] = []
    for (id, waiter) in state.waiters {
      guard let continuation = waiter.continuation,
        state.tables.hasChanged(waiter.shard, after: waiter.position, under: waiter.epoch)
      else { continue }
      state.waiters[id] = nil
      ready.append(continuation)
    }
    return ready
  }
}

extension LogMemory {
  /// Waits for a batch, another epoch, the timeout, or the task's cancellation.
  func wait(
    for shard: ShardID, after position: LogPosition, under epoch: LogEpoch, timeout: Duration
  ) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      state.waiters[state.lastWaiter] = Waiter(shard: shard, position: position, epoch: epoch)
      return state.lastWaiter
    }
    let timer = Task { [clock] in
      try? await clock.sleep(for: timeout)
      wake(id)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isWoken = state.waiters[id]?.isWoken ?? true
          if isWoken || state.tables.hasChanged(shard, after: position, under: epoch) {
            state.waiters[id] = nil
            return true
          }
          state.waiters[id]?.continuation = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      wake(id)
    }
    timer.cancel()
  }

  private func wake(_ id: UInt64) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiters[id] else { return nil }
      guard let continuation = waiter.continuation else {
        state.waiters[id]?.isWoken = true
        return nil
      }
      state.waiters[id] = nil
      return continuation
    }
    continuation?.resume()
  }
}

extension LogTables {
  /// Returns true when the shard has a batch after `position`, or another epoch than `epoch`.
  fileprivate func hasChanged(
    _ shard: ShardID, after position: LogPosition, under epoch: LogEpoch
  ) -> Bool {
    do throws(CommitLogError) {
      let (head, present) = (try head(of: shard), try self.epoch(of: shard))
      return head > position || present != epoch
    } catch {
      return false
    }
  }
}
