import Foundation
import Testing

/// Runs tests that wait in calls to the system, on threads of their own.
///
/// Tasks share as many threads as there are cores. Two tests that wait there for a socket would
/// keep a server in the same process from what it does by the clock, which is what they wait for.
private final class ApartExecutor: TaskExecutor {
  static let shared = ApartExecutor()
  // In the thread's dictionary: a name is dropped when a thread sets it before the one that made it
  // knows its handle.
  private static let mark = "apart"

  /// True on one of its threads.
  static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread {
      Thread.current.threadDictionary[Self.mark] = true
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// Runs what waits in calls to the system, such as reading from a socket.
func apart<Result>(_ body: () async throws -> Result) async throws -> Result {
  try await withTaskExecutorPreference(ApartExecutor.shared) {
    // A preference counts from the next time the task is scheduled.
    await Task.yield()
    try #require(ApartExecutor.isCurrent)
    return try await body()
  }
}
