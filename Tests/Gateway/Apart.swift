import Foundation

/// Runs tests that wait in calls to the system, on threads of their own.
///
/// Tasks share as many threads as there are cores. Two tests that wait there for a socket would keep a
/// server in the same process from what it does by the clock, which is what they wait for.
private final class ApartExecutor: TaskExecutor {
  static let shared = ApartExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// Runs what waits in calls to the system, such as reading from a socket.
func apart<Result>(_ body: () async throws -> Result) async throws -> Result {
  try await withTaskExecutorPreference(ApartExecutor.shared) { try await body() }
}
