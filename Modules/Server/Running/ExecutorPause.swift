import Dispatch

/// Leaves an executor for a moment. An event loop runs all tasks that it has before it looks at its
/// sockets: batch behind batch, no other client would be read from until nothing waits.
enum ExecutorPause {
  /// A queue beside all executors, on which nothing else runs.
  private static let aside = DispatchQueue(label: "tern.server.aside")

  /// Suspends, and goes on behind all that waits.
  static func leave() async {
    await withCheckedContinuation { continuation in
      aside.async { continuation.resume() }
    }
  }
}
