import Synchronization

/// Lines as another program prints them, for readers who wait for one of them.
final class LineInbox: Sendable {
  private struct Waiter {
    let isWanted: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<String?, Never>
  }

  private struct State {
    var partial: [UInt8] = []
    /// Lines that were not taken yet.
    var lines: [String] = []
    /// Every line there was.
    var history: [String] = []
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
    /// Those that gave up before they had begun to wait.
    var early: Swift.Set<Int> = []
    var isAtEnd = false
  }

  private let state = Mutex(State())

  /// Every line so far.
  var history: [String] { state.withLock(\.history) }

  /// Takes what was read; nothing at all is the end.
  func add(_ bytes: [UInt8]) {
    let ready = state.withLock { state -> [() -> Void] in
      if bytes.isEmpty { state.isAtEnd = true }
      for byte in bytes {
        guard byte == UInt8(ascii: "\n") else {
          state.partial.append(byte)
          continue
        }
        let line = String(decoding: state.partial, as: UTF8.self)
        state.partial = []
        state.lines.append(line)
        state.history.append(line)
      }
      return Self.answers(&state)
    }
    for answer in ready { answer() }
  }

  /// Waits for the next line; `nil` at the end.
  func next() async -> String? { await wait(nextID()) { _ in true } }

  /// Waits for the next line and takes it; `nil` at the end or after `deadline`.
  func line(
    within deadline: Duration, where isWanted: @escaping @Sendable (String) -> Bool
  ) async -> String? {
    let id = nextID()
    return await withTaskGroup(of: String?.self) { group in
      group.addTask { await self.wait(id, isWanted) }
      group.addTask {
        try? await ContinuousClock().sleep(for: deadline)
        self.giveUp(id)
        return nil
      }
      // Of the two tasks only the waiter has an answer; the alarm merely wakes it.
      var found: String?
      for await answer in group {
        found = found ?? answer
        group.cancelAll()
      }
      state.withLock { _ = $0.early.remove(id) }
      return found
    }
  }

  private func wait(
    _ id: Int, _ isWanted: @escaping @Sendable (String) -> Bool
  ) async -> String? {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state -> [() -> Void] in
        if state.early.remove(id) != nil { return [{ continuation.resume(returning: nil) }] }
        state.waiters[id] = Waiter(isWanted: isWanted, continuation: continuation)
        return Self.answers(&state)
      }
      for answer in ready { answer() }
    }
  }

  private func nextID() -> Int {
    state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
  }

  private func giveUp(_ id: Int) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: id)
      // In a task that is cancelled the alarm may be first.
      if waiter == nil { state.early.insert(id) }
      return waiter
    }
    waiter?.continuation.resume(returning: nil)
  }

  /// Matches waiters with lines, oldest waiter first.
  private static func answers(_ state: inout State) -> [() -> Void] {
    var answers: [() -> Void] = []
    for (id, waiter) in state.waiters.sorted(by: { $0.key < $1.key }) {
      if let index = state.lines.firstIndex(where: waiter.isWanted) {
        let line = state.lines[index]
        state.lines.remove(at: index)
        state.waiters[id] = nil
        answers.append { waiter.continuation.resume(returning: line) }
      } else if state.isAtEnd {
        state.waiters[id] = nil
        answers.append { waiter.continuation.resume(returning: nil) }
      }
    }
    return answers
  }
}
