import Synchronization
import TernSync
import TernTransport

/// Something that happened outside and waits for a ``DocumentSession``.
enum DocumentSessionInput: Sendable {
  case linkOpened(Int, any Link)
  case linkClosed(Int)
  case frames([[UInt8]], Int)
  case timer(DocumentTimer, UInt64)
  case queueAnswers([(ticket: UInt64, result: QueueResult)])
  case call(@Sendable (isolated DocumentSession) -> Void)
}

/// What waits for a session, in order; everything that waits is taken in one hop.
final class DocumentInbox: Sendable {
  private struct State {
    var waiting: [DocumentSessionInput] = []
    var isScheduled = false
    var bytes = 0
    /// Links that are not read from until the session has looked.
    var paused: [any Link] = []

    mutating func add(_ input: DocumentSessionInput) -> Bool {
      waiting.append(input)
      defer { isScheduled = true }
      return !isScheduled
    }
  }

  private let limitBytes: Int
  private let state = Mutex(State())

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Adds an input.
  ///
  /// - Returns: Whether the caller must see to it that the session looks.
  func add(_ input: DocumentSessionInput) -> Bool { state.withLock { $0.add(input) } }

  /// Adds frames; pauses their link when too many bytes wait.
  func add(_ frames: [[UInt8]], from link: any Link, _ number: Int) -> Bool {
    state.withLock { state in
      state.bytes += frames.reduce(0) { $0 + $1.count }
      if state.bytes > limitBytes {
        // Inside the lock, so that no resumption of the same pause can come first.
        link.setReading(false)
        state.paused.append(link)
      }
      return state.add(.frames(frames, number))
    }
  }

  /// Takes everything that waits. Links that were paused are read from again.
  func takeAll() -> [DocumentSessionInput] {
    let (taken, paused) = state.withLock { state in
      var old = State()
      swap(&old, &state)
      return (old.waiting, old.paused)
    }
    for link in paused { link.setReading(true) }
    return taken
  }
}
