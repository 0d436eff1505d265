import Synchronization

/// The tasks that wait for the next commit, or for another change of state.
package final class CommitWaiters: Sendable {
  private struct State {
    var nextID: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// No waiting tasks.
  package init() {}

  /// Waits for a commit unless `isOver` already; returns early when the task is cancelled.
  package func wait(unless isOver: @Sendable () -> Bool) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.waiting[id] = continuation }
        // Looking only after signing up, no commit can slip through between the two.
        if isOver() || Task.isCancelled { resume(id) }
      }
    } onCancel: {
      resume(id)
    }
  }

  /// Wakes all waiters.
  package func resumeAll() {
    let woken = state.withLock { state in
      defer { state.waiting.removeAll() }
      return state.waiting.values.map { $0 }
    }
    for continuation in woken { continuation.resume() }
  }

  private func resume(_ id: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
  }
}
