import Dispatch
import Synchronization

/// Runs blocking work away from its callers: in order, one batch at a time.
///
/// Items that arrive while a batch is being worked on form the next batch, so that many small
/// durable writes share one sync without any deliberate delay.
package final class SerialWorkQueue<Item: Sendable>: Sendable {
  /// The place at which the work runs.
  package enum Place: Sendable {
    /// On a dispatch queue of its own.
    case background
    /// In the call of ``submit(_:)``: for simulations and stores that never block.
    case caller
  }

  private struct State {
    var waiting: [Item] = []
    var isRunning = false
  }

  private let queue: DispatchQueue?
  private let work: @Sendable ([Item]) -> Void
  private let state = Mutex(State())

  /// Makes a queue that hands batches to `work`, never two at a time.
  package init(_ place: Place, label: String, work: @escaping @Sendable ([Item]) -> Void) {
    switch place {
    case .background: queue = DispatchQueue(label: label)
    case .caller: queue = nil
    }
    self.work = work
  }

  /// Hands one item to the queue; returns without waiting for it when it works in the background.
  package func submit(_ item: Item) {
    submit(contentsOf: [item])
  }

  /// Hands several items to the queue; they share a batch.
  package func submit(contentsOf items: [Item]) {
    guard !items.isEmpty else { return }
    let mustRun = state.withLock { state in
      state.waiting.append(contentsOf: items)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustRun else { return }
    if let queue { queue.async { self.drain() } } else { drain() }
  }

  /// Waits until everything that was handed over before has been worked on.
  package func settled() async {
    guard let queue else { return }
    // The queue is serial and a drain takes all that waits, so this comes behind it.
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  private func drain() {
    while true {
      let batch = state.withLock { state in
        var taken: [Item] = []
        swap(&taken, &state.waiting)
        state.isRunning = !taken.isEmpty
        return taken
      }
      if batch.isEmpty { return }
      work(batch)
    }
  }
}
