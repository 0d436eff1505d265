import Synchronization
import TernCommitLog
import TernLedger

/// The work of a node that goes on until it ends: it follows the log, or keeps the lease.
struct NodeLoop {
  let ledger: SharedLedger

  /// Follows the log and keeps the lease until the node ends.
  func run() async {
    while !Task.isCancelled, !ledger.state.withLock({ $0.isOver }) {
      let due = await attend()
      if due.hasFailed { await ledger.pause(due.pause) } else { await waitForChange(due.pause) }
    }
  }

  /// Opens the copy, follows the log, looks at the lease, renews it: whatever is due.
  ///
  /// - Returns: The time until something is due again, and if what was due did not succeed.
  func attend() async -> (pause: Duration, hasFailed: Bool) {
    let options = ledger.options
    do throws(NodeError) {
      switch ledger.state.withLock({ $0.phase }) {
      case .starting:
        try await ledger.prepareCopy()
        return (.zero, false)
      case .following:
        try await ledger.follow()
        // A node that was elected meanwhile ends what it serves from its copy when it begins to
        // lead: its clients come back to it then.
        if ledger.state.withLock({ $0.isFollowing }) { await ledger.following.review(ledger) }
        return (options.lookInterval, false)
      case .elected, .leading:
        ledger.following.forget()
        return (try await ledger.keepLease(), false)
      case .failed, .closed: return (options.retryPause, false)
      }
    } catch {
      let pause = ledger.recover(from: error)
      await ledger.following.review(ledger)
      return (pause, true)
    }
  }

  /// Waits, unless the log or the node's part changes before: a lease that was given back is taken
  /// at once, and a node whose term is over follows at once.
  private func waitForChange(_ duration: Duration) async {
    let (phase, tail, epoch) = ledger.state.withLock { ($0.phase, $0.tail, $0.epoch) }
    guard phase == .following else { return await pause(duration, in: phase) }
    do throws(CommitLogError) {
      let present = try await ledger.log.waitForChange(
        in: ledger.options.shard, after: tail, under: epoch, timeout: duration)
      ledger.state.withLock { $0.note(present) }
    } catch {
      await ledger.pause(ledger.options.retryPause)
    }
  }

  private func pause(_ duration: Duration, in phase: NodeState.Phase) async {
    if duration <= .zero { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await ledger.pause(duration) }
      group.addTask {
        let isOver: @Sendable () -> Bool = { ledger.state.withLock { $0.phase != phase } }
        while !Task.isCancelled, !isOver() { await ledger.changes.wait(unless: isOver) }
      }
      await group.next()
      group.cancelAll()
    }
  }
}
