import Synchronization

/// The exit code of a process, which comes once, and those who wait for it.
final class ExitBox: Sendable {
  private struct State {
    var code: Int32?
    var waiters: [CheckedContinuation<Int32?, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits until the code is there, or until ``wake()``.
  func value() async -> Int32? {
    await withCheckedContinuation { continuation in
      let code = state.withLock { state -> Int32? in
        if state.code == nil { state.waiters.append(continuation) }
        return state.code
      }
      if let code { continuation.resume(returning: code) }
    }
  }

  /// True once the code is known.
  var isResolved: Bool { state.withLock { $0.code != nil } }

  func resolve(_ code: Int32) {
    state.withLock { $0.code = code }
    wake()
  }

  /// Resumes all waiters with the present state.
  func wake() {
    let (code, waiters) = state.withLock { state in
      defer { state.waiters = [] }
      return (state.code, state.waiters)
    }
    for waiter in waiters { waiter.resume(returning: code) }
  }
}
