import Synchronization

/// Collects what arrives and lets a test wait, with a deadline, until enough has.
final class Inbox<Element: Sendable>: Sendable {
  /// The time that a test waits for an event.
  static var patience: Duration { .seconds(120) }

  private struct Waiter {
    let count: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var elements: [Element] = []
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
  }

  private let state = Mutex(State())

  var elements: [Element] { state.withLock { $0.elements } }
  var count: Int { state.withLock { $0.elements.count } }

  func add(_ element: Element) { add([element]) }

  func add(_ elements: [Element]) {
    let ready = state.withLock { state in
      state.elements += elements
      let count = state.elements.count
      let ready = state.waiters.filter { $0.value.count <= count }
      for id in ready.keys { state.waiters[id] = nil }
      return ready.values.map(\.continuation)
    }
    for continuation in ready { continuation.resume(returning: true) }
  }

  /// Returns the first `count` elements once they are there.
  func first(_ count: Int, _ what: String) async throws -> [Element] {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    let deadline = Task {
      try await ContinuousClock().sleep(for: Self.patience)
      giveUp(id)
    }
    defer { deadline.cancel() }
    let hasArrived = await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.elements.count >= count { return true }
        state.waiters[id] = Waiter(count: count, continuation: continuation)
        return false
      }
      if isReady { continuation.resume(returning: true) }
    }
    try require(hasArrived, "waited for \(count) \(what), had \(self.count)")
    return Array(elements.prefix(count))
  }

  private func giveUp(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
  }
}
