import Dispatch
import TernTransport

/// Leaves an executor for a moment. An event loop runs all tasks that it has before it looks at its
/// sockets: batch behind batch, no other client would be read from until nothing waits.
enum ExecutorPause {
  /// A queue beside all executors, on which nothing else runs.
  private static let aside = DispatchQueue(label: "tern.server.aside")

  /// Suspends, and goes on behind all that waits on an executor.
  static func leave(_ executor: any SerialExecutor) async {
    if let executor = executor as? any YieldingExecutor { return await executor.yieldTurn() }
    await withCheckedContinuation { continuation in
      aside.async { continuation.resume() }
    }
  }
}
