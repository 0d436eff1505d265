import Synchronization

/// The behavior of a `Mailbox` when its reader is slower than its writer.
public enum DeliveryPolicy: Sendable {
  /// Only the newest element matters: an unread one is replaced.
  case newest
  /// Every element matters: at most this many wait, then the reader gets an error.
  case every(limit: Int)
}

/// Hands elements from a writer that must not wait to one reader that may be slow.
///
/// The reader takes everything that waits at once, so that many elements cost one hop. The
/// mailbox ends by ``finish()``, ``fail(_:)``, overflow, or ``cancel()`` from the reading side;
/// after that nothing more is delivered, except that ``finish()`` and ``fail(_:)`` let the reader
/// have what was posted before.
package final class Mailbox<Element: Sendable, Failure: Error>: Sendable {
  private struct State {
    var waiting: [Element] = []
    var end: End?
    var reader: CheckedContinuation<Void, Never>?

    mutating func takeReader() -> CheckedContinuation<Void, Never>? {
      defer { reader = nil }
      return reader
    }

    mutating func takeWaiting() -> [Element] {
      var taken: [Element] = []
      swap(&taken, &waiting)
      return taken
    }
  }

  private enum End {
    case finished
    case failed(Failure)
    case cancelled
  }

  private let policy: DeliveryPolicy
  private let overflow: @Sendable (_ limit: Int) -> Failure
  private let state = Mutex(State())

  /// Makes an empty mailbox.
  ///
  /// - Parameter overflow: Makes the error of a reader that fell more than `limit` elements behind.
  package init(
    _ policy: DeliveryPolicy, overflow: @escaping @Sendable (_ limit: Int) -> Failure
  ) {
    self.policy = policy
    self.overflow = overflow
  }

  /// Adds one element; `false` when the mailbox has ended and the writer may forget it.
  @discardableResult
  package func post(_ element: Element) -> Bool {
    let (isOpen, reader) = state.withLock { state in
      guard state.end == nil else { return (false, state.takeReader()) }
      switch policy {
      case .newest:
        state.waiting.removeAll(keepingCapacity: true)
      case .every(let limit) where state.waiting.count >= limit:
        state.waiting.removeAll()
        state.end = .failed(overflow(limit))
        return (false, state.takeReader())
      case .every:
        break
      }
      state.waiting.append(element)
      return (true, state.takeReader())
    }
    reader?.resume()
    return isOpen
  }

  /// Ends the sequence after what was posted.
  package func finish() { end(.finished, dropping: false) }

  /// Ends the sequence with an error, after what was posted.
  package func fail(_ failure: Failure) { end(.failed(failure), dropping: false) }

  /// Ends the sequence at once and drops what waits.
  package func cancel() { end(.cancelled, dropping: true) }

  /// Takes everything that waits, waiting for at least one element.
  ///
  /// - Returns: The elements in order, never empty; `nil` at the end of the sequence.
  package func take() async throws(Failure) -> [Element]? {
    while true {
      if Task.isCancelled { cancel() }
      let (batch, end) = state.withLock { state in
        (state.takeWaiting(), state.end)
      }
      if !batch.isEmpty { return batch }
      switch end {
      case .finished, .cancelled: return nil
      case .failed(let failure):
        finishAfterFailure()
        throw failure
      case nil: await wait()
      }
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let resumesNow = state.withLock { state in
          precondition(state.reader == nil, "A mailbox has one reader.")
          guard state.waiting.isEmpty, state.end == nil else { return true }
          state.reader = continuation
          return false
        }
        if resumesNow { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }

  private func end(_ end: End, dropping: Bool) {
    let reader = state.withLock { state in
      if dropping { state.waiting.removeAll() }
      if state.end == nil || dropping { state.end = end }
      return state.takeReader()
    }
    reader?.resume()
  }

  /// An error is thrown once; asking again finds the end.
  private func finishAfterFailure() {
    state.withLock { $0.end = .finished }
  }
}
