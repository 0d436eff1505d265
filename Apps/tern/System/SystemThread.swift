import Dispatch

/// Work that waits for the system, beside the threads of Swift's tasks.
enum SystemThread {
  /// Runs work on a thread of its own; it may block as long as it likes.
  static func detach(_ body: @escaping @Sendable () -> Void) {
    // A serial queue that blocks keeps no other queue from a thread.
    DispatchQueue(label: "tern.thread").async(execute: body)
  }
}
