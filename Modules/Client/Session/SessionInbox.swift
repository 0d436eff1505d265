import Synchronization
import TernSync
import TernTransport

/// Something that happened outside and waits for its session.
enum SessionInput<Owner: Actor, Timer: Sendable>: Sendable {
  case linkOpened(Int, any Link)
  case linkFailed(Int, TransportError)
  case linkClosed(Int, LinkClosure)
  case frames([[UInt8]], Int)
  case timer(Timer, UInt64)
  case queueAnswers([(ticket: UInt64, result: QueueResult)])
  /// A call without a waiting caller.
  case call(@Sendable (isolated Owner) -> Void)
}

/// The pending inputs of a session, in order; all of them are taken in one hop.
///
/// Calls of applications and bytes of the link have limits. What the session itself caused, such
/// as answers of its disk, is bounded by what it asked for.
final class SessionInbox<Owner: Actor, Timer: Sendable>: Sendable {
  typealias Input = SessionInput<Owner, Timer>

  fileprivate struct State {
    var waiting: [Input] = []
    var isScheduled = false
    var calls = 0
    var bytes = 0
    /// Links that are not read from until the session has looked.
    var paused: [any Link] = []
  }

  private let limits: WaitingLimits
  private let state = Mutex(State())

  init(limits: WaitingLimits) { self.limits = limits }

  /// Adds an input that is always taken.
  ///
  /// - Returns: Whether the caller must see to it that the session looks.
  func add(_ input: Input) -> Bool {
    state.withLock { $0.add(input) }
  }

  /// Adds a call of an application.
  func addCall(
    _ call: @escaping @Sendable (isolated Owner) -> Void
  ) throws(SessionBusy) -> Bool {
    let mustLook: Bool? = state.withLock { state in
      guard state.calls < limits.calls else { return nil }
      state.calls += 1
      return state.add(.call(call))
    }
    guard let mustLook else { throw SessionBusy(limit: limits.calls) }
    return mustLook
  }

  /// Adds frames; pauses their link when too many bytes wait.
  func add(_ frames: [[UInt8]], from link: any Link, _ number: Int) -> Bool {
    state.withLock { state in
      state.bytes += frames.reduce(0) { $0 + $1.count }
      if state.bytes > limits.inboxBytes {
        // Inside the lock, so that no resumption of the same pause can come first.
        link.setReading(false)
        state.paused.append(link)
      }
      return state.add(.frames(frames, number))
    }
  }

  /// Takes everything that waits. Links that were paused are read from again.
  func takeAll() -> [Input] {
    let (taken, paused) = state.withLock { state in
      var old = State()
      swap(&old, &state)
      return (old.waiting, old.paused)
    }
    for link in paused { link.setReading(true) }
    return taken
  }
}

extension SessionInbox.State {
  fileprivate mutating func add(_ input: SessionInput<Owner, Timer>) -> Bool {
    waiting.append(input)
    defer { isScheduled = true }
    return !isScheduled
  }
}
