/// The pause before a failed operation is repeated over the same connection.
package struct RetryPause: Sendable {
  /// True while a timer has to run out before the next attempt.
  package private(set) var isActive = false
  private var backoff: Backoff

  package init(_ limits: Backoff.Limits = Backoff.Limits()) { backoff = Backoff(limits: limits) }

  /// Begins a pause, and returns its length.
  ///
  /// - Parameter unit: A random number in `0..<1`.
  package mutating func begin(unit: Double) -> Duration {
    isActive = true
    return backoff.next(unit: unit)
  }

  /// Ends the pause; the next one is longer.
  package mutating func end() { isActive = false }

  /// Notes that an attempt succeeded: the next pause is the shortest again.
  package mutating func succeeded() { backoff.reset() }

  /// Notes that the server is overloaded: the next pause is the longest.
  package mutating func exhaust() { backoff.exhaust() }

  /// Forgets past failures: the next attempt is immediate.
  package mutating func reset() {
    end()
    succeeded()
  }
}
