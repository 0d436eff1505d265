/// How often a transaction has been tried, and whether it may be again.
package struct Attempts: Sendable, Equatable {
  /// The most attempts of one transaction.
  package static let limit = 25

  package private(set) var count = 0

  package init() {}

  /// Whether no attempt is left.
  package var areExhausted: Bool { count >= Self.limit }

  package mutating func begin() { count += 1 }

  /// How long to rest before the next attempt, so that many writers of one place do not keep
  /// each other from committing: nothing at first, then ever longer, at random.
  ///
  /// - Parameter unit: A random number in `0..<1`.
  package func rest(unit: Double) -> Duration {
    let doublings = count - Self.attemptsWithoutRest
    guard doublings >= 0 else { return .zero }
    let longest = min(Self.shortestRest * Double(1 << min(doublings, 20)), Self.longestRest)
    return .milliseconds(Int64((longest * unit).rounded()))
  }

  private static let attemptsWithoutRest = 3
  /// In milliseconds.
  private static let shortestRest = 5.0
  private static let longestRest = 500.0
}
