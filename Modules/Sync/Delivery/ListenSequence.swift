/// A sequence of what a listener hears.
///
/// Nothing happens until it is iterated; every iteration is a listener of its own, which starts
/// with the first call of `next()` and stops when it ends, its task is cancelled, or the iterator
/// goes away.
public struct ListenSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  package typealias Box = Mailbox<Element, Failure>

  private let policy: DeliveryPolicy
  private let overflow: @Sendable (_ limit: Int) -> Failure
  private let start: @Sendable (Box) async -> @Sendable () -> Void

  /// Makes a sequence.
  ///
  /// - Parameter start: Registers the mailbox with its writer; returns what unregisters it.
  package init(
    _ policy: DeliveryPolicy,
    overflow: @escaping @Sendable (_ limit: Int) -> Failure,
    start: @escaping @Sendable (Box) async -> @Sendable () -> Void
  ) {
    self.policy = policy
    self.overflow = overflow
    self.start = start
  }

  /// Makes a sequence that keeps only the newest element, and so never fails by overflow.
  package init(newest start: @escaping @Sendable (Box) async -> @Sendable () -> Void) {
    self.init(
      .newest, overflow: { _ in preconditionFailure("The newest element alone never overflows.") },
      start: start)
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(box: Box(policy, overflow: overflow), start: start)
  }

  /// Reads one listener's elements, a batch at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private let box: Box
    private let start: @Sendable (Box) async -> @Sendable () -> Void
    private var registration: Registration?
    private var batch: [Element] = []
    private var position = 0
    private var isEnded = false

    fileprivate init(box: Box, start: @escaping @Sendable (Box) async -> @Sendable () -> Void) {
      self.box = box
      self.start = start
    }

    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: #isolation)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if isEnded { return nil }
      if registration == nil {
        if Task.isCancelled {
          isEnded = true
          return nil
        }
        registration = Registration(await start(box))
      }
      while true {
        if position < batch.count, !Task.isCancelled {
          defer { position += 1 }
          return batch[position]
        }
        position = 0
        batch = []
        var taken: [Element]?
        // An iterator that is kept after its end listens no longer.
        defer { if taken == nil { end() } }
        taken = try await box.take()
        guard let elements = taken else { return nil }
        batch = elements
      }
    }

    private mutating func end() {
      isEnded = true
      registration = nil
    }
  }
}

/// Unregisters a listener when its iterator goes away.
private final class Registration: Sendable {
  private let stop: @Sendable () -> Void

  init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

  deinit { stop() }
}
