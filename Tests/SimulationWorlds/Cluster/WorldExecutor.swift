import Synchronization

/// Runs the tasks of a world in the world's own thread, in the order in which they became ready.
///
/// A task that waits for the log or for time is not ready until the world lets it go on, so the
/// order of all tasks is the world's choice.
final class WorldExecutor: TaskExecutor {
  private let ready = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    ready.withLock { $0.append(job) }
  }

  /// Runs tasks until none is ready.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  func runUntilIdle() -> Bool {
    var hasRun = false
    while true {
      let jobs = ready.withLock { ready in
        defer { ready = [] }
        return ready
      }
      if jobs.isEmpty { return hasRun }
      hasRun = true
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}

/// A value that tasks on a ``WorldExecutor`` share with its world.
///
/// `@unchecked Sendable` is sound because those tasks and the world run in one thread.
struct WorldBound<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
