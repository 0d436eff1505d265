import Synchronization
import TernTransport

/// Runs the tasks of a world in the world's own thread, in the order in which they became ready.
///
/// A task that waits for the log or for time is not ready until the world lets it go on, so the
/// order of all tasks is the world's choice. Tasks that ask for no executor run here as well, if
/// the world's thread makes them ready; see ``TaskRouting``.
final class WorldExecutor: TaskExecutor {
  private struct Entry {
    let job: UnownedJob
    /// The executor of the actor that it belongs to.
    let actor: NodeExecutor?
  }

  private let ready = Mutex<[Entry]>([])

  func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

  func add(_ job: UnownedJob, of actor: NodeExecutor? = nil) {
    ready.withLock { $0.append(Entry(job: job, actor: actor)) }
  }

  /// Runs tasks until none is ready.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  func runUntilIdle() -> Bool {
    perform {
      var hasRun = false
      while true {
        let entries = ready.withLock { exchange(&$0, with: []) }
        if entries.isEmpty { return hasRun }
        hasRun = true
        for entry in entries {
          if let actor = entry.actor {
            unsafe entry.job.runSynchronously(on: actor.asUnownedSerialExecutor())
          } else {
            unsafe entry.job.runSynchronously(on: asUnownedTaskExecutor())
          }
        }
      }
    }
  }

  /// Calls `body`, and runs the tasks later that it begins.
  func perform<R>(_ body: () -> R) -> R { TaskRouting.route(to: self, body) }
}

/// The executor of one node's server. Its jobs wait in one queue with all of the world.
final class NodeExecutor: YieldingExecutor {
  private let base: WorldExecutor
  private let gate: NodeGate

  init(_ base: WorldExecutor, _ gate: NodeGate) {
    self.base = base
    self.gate = gate
  }

  func enqueue(_ job: consuming ExecutorJob) { base.add(UnownedJob(job), of: self) }

  /// The world has one thread.
  func checkIsolated() {}

  /// The loops that yield wait for something that takes time.
  func yieldTurn() async {
    if await !gate.pass(.turn) { await Task.yield() }
  }
}

/// A value that tasks on a ``WorldExecutor`` share with its world.
///
/// `@unchecked Sendable` is sound because those tasks and the world run in one thread.
struct WorldBound<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
