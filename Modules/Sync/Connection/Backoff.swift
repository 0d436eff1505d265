/// The delays between attempts to connect: exponential, with jitter.
///
/// The first attempt after a good connection is immediate; after that the delay starts at
/// ``Limits/shortestMilliseconds`` and grows by ``Limits/growth`` up to
/// ``Limits/longestMilliseconds``. Most of each delay is drawn at random, so that clients of a
/// server that died do not come back in step.
package struct Backoff: Sendable {
  /// The numbers of the schedule, those of Firebase's native clients.
  package struct Limits: Sendable {
    package var shortestMilliseconds = 1_000.0
    package var longestMilliseconds = 30_000.0
    package var growth = 1.3
    /// The part of a delay that is drawn at random, 0...1.
    package var jitter = 0.7
    /// The part by which a drawn delay may exceed the schedule.
    package var excess = 0.0

    package init() {}
  }

  private let limits: Limits
  private var currentMilliseconds: Double?
  private var isFresh = true

  package init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// The delay before the next attempt.
  ///
  /// - Parameter unit: A random number in `0..<1`.
  package mutating func next(unit: Double) -> Duration {
    guard !isFresh else {
      isFresh = false
      return .zero
    }
    let full = min(
      currentMilliseconds.map { $0 * limits.growth } ?? limits.shortestMilliseconds,
      limits.longestMilliseconds)
    currentMilliseconds = full
    let drawn = full * (1 - limits.jitter + (limits.jitter + limits.excess) * unit)
    return .milliseconds(Int64(drawn.rounded()))
  }

  /// The other side is overloaded: the next delay is the longest there is.
  package mutating func exhaust() {
    currentMilliseconds = limits.longestMilliseconds
    isFresh = false
  }

  /// Forgets past failures: the next attempt is immediate.
  package mutating func reset() {
    currentMilliseconds = nil
    isFresh = true
  }
}
