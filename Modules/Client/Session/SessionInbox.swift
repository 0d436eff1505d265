import Synchronization
import TernSync
import TernTransport

/// Something that happened outside and waits for its session.
enum SessionInput: Sendable {
  case linkOpened(Int, any Link)
  case linkClosed(Int)
  case frames([[UInt8]], Int)
  case timer(ClientTimer, UInt64)
  case queueAnswers([(ticket: UInt64, result: QueueResult)])
  /// A call by someone who does not wait for it.
  case call(@Sendable (isolated TreeSession) -> Void)
}

/// What waits for a session, in order; everything that waits is taken in one hop.
final class SessionInbox: Sendable {
  private struct State {
    var waiting: [SessionInput] = []
    var isScheduled = false
  }

  private let state = Mutex(State())

  /// Adds an input.
  ///
  /// - Returns: Whether the caller must see to it that the session looks.
  func add(_ input: SessionInput) -> Bool {
    state.withLock { state in
      state.waiting.append(input)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Takes everything that waits.
  func takeAll() -> [SessionInput] {
    state.withLock { state in
      var taken: [SessionInput] = []
      swap(&taken, &state.waiting)
      state.isScheduled = false
      return taken
    }
  }
}
