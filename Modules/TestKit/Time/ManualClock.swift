import Synchronization

/// A clock that stands still until a test moves it.
///
/// It may be used from any thread. Sleepers wake in the order in which they began to sleep.
public final class ManualClock: Clock, Sendable {
  /// A point on the clock: how far it was moved since it was made.
  public struct Instant: InstantProtocol {
    /// The time since the clock's start.
    public var offset: Duration
    /// The point that much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the time from this point to another.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns true when the left point comes first.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  /// A task that sleeps; its continuation gets false when the task is cancelled.
  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// The tasks that sleep, by the order in which they came.
    var sleepers: [UInt64: Sleeper] = [:]
    /// Sleepers that were cancelled before they had their continuation.
    var cancelled: Set<UInt64> = []
    /// The number of the last sleeper.
    var last: UInt64 = 0
  }

  private let state = Mutex(State())

  /// A clock that shows its beginning.
  public init() {}

  /// The current point in time.
  public var now: Instant { state.withLock { $0.now } }
  /// It can be moved by any time.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Moves the time on; everything that is due wakes.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.sorted { $0.key < $1.key }.map(\.value)
    }
    // Resumed outside of the lock, as a task may sleep again at once.
    for sleeper in due { sleeper.continuation.resume(returning: true) }
  }

  /// Returns when the clock was moved to `deadline`.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before that.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    let isDone = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return false }
          if deadline <= state.now { return true }
          state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      cancel(id)
    }
    if !isDone { throw CancellationError() }
  }

  /// Wakes a sleeper whose task was cancelled. A cancellation may come before the sleeper is known,
  /// and is noted for it then.
  private func cancel(_ id: UInt64) {
    let sleeper = state.withLock { state in
      guard let sleeper = state.sleepers.removeValue(forKey: id) else {
        state.cancelled.insert(id)
        return Sleeper?.none
      }
      return sleeper
    }
    sleeper?.continuation.resume(returning: false)
  }
}
