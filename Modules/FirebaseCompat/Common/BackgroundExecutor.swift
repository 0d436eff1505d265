import Dispatch

/// Runs tasks one after the other on a thread that no other task can keep busy.
///
/// A caller may block its own thread until such a task has ended: the task does not need one of the
/// threads that callers run on.
final class BackgroundExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    // The job is run exactly once, by the block.
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
