import Synchronization

/// The arrivals at the end of a link, in order, for a test that takes them one at a time.
package final class ArrivalQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: CheckedContinuation<Void, Never>?
    var isEnded = false
  }

  private let state = Mutex(State())

  /// An empty queue.
  package init() {}

  /// Adds arrivals.
  package func add(_ elements: some Sequence<Element>) {
    wake { $0.elements += elements }
  }

  /// Ends the queue: no more comes.
  package func end() { wake { $0.isEnded = true } }

  private func wake(_ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      let waiting = state.waiting
      state.waiting = nil
      return waiting
    }?.resume()
  }

  /// Waits for the next arrival, one caller at a time.
  ///
  /// - Returns: `nil` when the queue has ended and all of it was taken.
  package func next() async -> Element? {
    while true {
      let (element, isOver) = state.withLock { state in
        (state.elements.isEmpty ? nil : state.elements.removeFirst(), state.isEnded)
      }
      if let element { return element }
      if isOver { return nil }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if !state.elements.isEmpty || state.isEnded { return true }
          state.waiting = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}
