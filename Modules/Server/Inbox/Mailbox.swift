import Synchronization

/// Events on their way to one executor, in order: one hop takes along all that came before it.
struct Mailbox<Event: Sendable>: ~Copyable, Sendable {
  private let events = Mutex<[Event]>([])

  /// Adds an event.
  ///
  /// - Returns: Whether a hop has to be begun for it; otherwise one is under way.
  func add(_ event: Event) -> Bool {
    events.withLock { events in
      events.append(event)
      return events.count == 1
    }
  }

  /// Takes what has come. On the executor, so that nothing taken later can be dealt with earlier.
  func takeAll() -> [Event] { events.withLock { exchange(&$0, with: []) } }
}
