import Synchronization

/// Something that happens once.
final class Promise: Sendable {
  private struct State {
    var isDone = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func fulfil() {
    let waiting = state.withLock { state in
      state.isDone = true
      return exchange(&state.waiting)
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if !state.isDone { state.waiting.append(continuation) }
        return state.isDone
      }
      if isDone { continuation.resume() }
    }
  }

  private func exchange(
    _ waiting: inout [CheckedContinuation<Void, Never>]
  ) -> [CheckedContinuation<Void, Never>] {
    defer { waiting = [] }
    return waiting
  }
}
