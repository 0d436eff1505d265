import Synchronization

/// Collects what arrives and lets a test wait, with a deadline, until enough has.
///
/// It may be used from any thread. Elements are kept, so waiting for the first ten after five were
/// seen is a wait for five more.
final class Inbox<Element: Sendable>: Sendable {
  /// The time that a test waits for an event.
  ///
  /// Long, so that a loaded machine fails no check; it is waited for only when a check fails.
  static var patience: Duration { .seconds(120) }

  /// A task that waits for a number of elements; it gets false when it has waited too long.
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

  /// Adds elements, and wakes those that have waited for them.
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
  ///
  /// - Parameters:
  ///   - count: The number of elements, those included that are there already.
  ///   - what: The elements' name in the error.
  /// - Throws: ``TransportFailure`` after ``patience``.
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

  /// Ends a wait, unless its elements have come meanwhile.
  private func giveUp(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
  }
}
