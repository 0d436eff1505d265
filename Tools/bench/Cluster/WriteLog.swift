#if TCP && os(Linux)
  import Synchronization
  import TernClient
  import TernCore

  /// The writes of several clients: when each was begun and acknowledged, and what went wrong.
  final class WriteLog: Sendable {
    private struct State {
      var isOver = false
      /// The newest acknowledgement of each client, with the beginning of its write.
      var newest: [(begun: ContinuousClock.Instant, acknowledged: ContinuousClock.Instant)?]
      var count = 0
      /// The newest acknowledgement of all clients.
      var last: ContinuousClock.Instant?
      var longestGap = Duration.zero
      var longestWrites: [Duration]
      var failures: [String] = []
    }

    private static let pause = Duration.milliseconds(5)
    private let state: Mutex<State>

    init(clients: Int) {
      state = Mutex(
        State(
          newest: Array(repeating: nil, count: clients),
          longestWrites: Array(repeating: .zero, count: clients)))
    }

    /// The acknowledged writes since ``begin()``.
    var count: Int { state.withLock { $0.count } }
    /// The longest time without an acknowledgement at any client since ``begin()``.
    var longestGap: Duration { state.withLock { $0.longestGap } }
    /// The longest time of one write since ``begin()``, of each client.
    var longestWrites: [Duration] { state.withLock { $0.longestWrites } }
    /// The errors of clients until ``end()``.
    var failures: [String] { state.withLock { $0.failures } }

    /// Begins to count.
    func begin() {
      state.withLock { state in
        (state.count, state.last) = (0, .now)
        state.longestGap = .zero
        for client in state.longestWrites.indices { state.longestWrites[client] = .zero }
      }
    }

    /// Lets all clients end; errors do not count any more.
    func end() { state.withLock { $0.isOver = true } }

    /// Writes as one of the clients, until the end.
    func write(as client: Int, on database: TernDatabase) async {
      let place = database.tree["takeover/\(client)"]
      var number: Int64 = 0
      while !state.withLock({ $0.isOver }) {
        number += 1
        let begun = ContinuousClock.now
        do {
          try await place.set(TreeNode(.integer(number))).acknowledged()
        } catch {
          fail("\(error)")
          // An error that stays would fill the log.
          try? await Task.sleep(for: Self.pause)
          continue
        }
        let now = ContinuousClock.now
        state.withLock { state in
          if state.isOver { return }
          state.newest[client] = (begun, now)
          state.count += 1
          state.longestWrites[client] = max(state.longestWrites[client], now - begun)
          if let last = state.last { state.longestGap = max(state.longestGap, now - last) }
          state.last = now
        }
      }
    }

    private func fail(_ error: String) {
      state.withLock { if !$0.isOver { $0.failures.append(error) } }
    }

    /// Waits until a client has the acknowledgement of a write that it began after a moment.
    ///
    /// - Returns: The moment of the acknowledgement.
    func acknowledgement(
      of client: Int, begunAfter start: ContinuousClock.Instant
    ) async throws -> ContinuousClock.Instant {
      let deadline = ContinuousClock.now + BenchCluster.patience
      while ContinuousClock.now < deadline {
        if let newest = state.withLock({ $0.newest[client] }), newest.begun >= start {
          return newest.acknowledged
        }
        try await Task.sleep(for: Self.pause)
      }
      throw BenchFailure(reason: "client \(client) has no acknowledgement; \(failures.prefix(3))")
    }
  }
#endif
