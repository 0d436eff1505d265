import Synchronization

/// A clock that runs with the machine's and can be put forward: a replay waits for no minute.
final class ShiftedClock: Clock, Sendable {
  private let shift = Mutex(Duration.zero)

  var minimumResolution: Duration { .nanoseconds(1) }

  var now: ContinuousClock.Instant { ContinuousClock.now + shift.withLock { $0 } }

  /// The time by which the clock was put forward.
  var offset: Duration { shift.withLock { $0 } }

  func advance(by duration: Duration) { shift.withLock { $0 += duration } }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    while now < deadline {
      try await Task.sleep(
        until: deadline - offset, tolerance: tolerance, clock: ContinuousClock())
    }
  }
}
