import Synchronization

/// The events of a test, in order, with a way to wait for more.
final class Trace: Sendable {
  struct TimedOut: Error, CustomStringConvertible {
    let heard: [String]
    var description: String { "deadline passed; heard \(heard)" }
  }

  private struct State {
    var entries: [String] = []
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  /// Everything heard so far.
  var entries: [String] { state.withLock { $0.entries } }

  func add(_ entry: String) {
    let waiters = state.withLock { state in
      state.entries.append(entry)
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  func clear() { state.withLock { $0.entries = [] } }

  /// Returns what was heard as soon as it satisfies `isEnough`.
  ///
  /// - Parameter deadline: Only a test that fails waits as long, also on a machine that is busy.
  @discardableResult
  func wait(
    within deadline: Duration = .seconds(60), until isEnough: @escaping @Sendable ([String]) -> Bool
  ) async throws -> [String] {
    let watchdog = Task {
      try await ContinuousClock().sleep(for: deadline)
      self.wakeAll()
    }
    defer { watchdog.cancel() }
    let end = ContinuousClock.now.advanced(by: deadline)
    while true {
      let heard = entries
      if isEnough(heard) { return heard }
      if ContinuousClock.now >= end { throw TimedOut(heard: heard) }
      await wake(after: heard.count)
    }
  }

  /// Waits for `count` entries.
  @discardableResult
  func wait(for count: Int) async throws -> [String] {
    try await wait { $0.count >= count }
  }

  /// Waits for an entry.
  @discardableResult
  func wait(for entry: String) async throws -> [String] {
    try await wait { $0.contains(entry) }
  }

  private func wake(after count: Int) async {
    await withCheckedContinuation { continuation in
      let isStale = state.withLock { state in
        guard state.entries.count == count else { return true }
        state.waiters[state.nextWaiter] = continuation
        state.nextWaiter += 1
        return false
      }
      if isStale { continuation.resume() }
    }
  }

  private func wakeAll() {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }
}
