/// The contention at one path, and the pause before the next attempt that follows from it.
///
/// Writers that all try as soon as they can use up their attempts against each other, and the one
/// that just won is always first again. So all of them pause, at random and the longer the more
/// attempts came too late; the winner too, which gives the others their turn.
package struct Contention: Sendable, Equatable {
  private var level = 0

  package init() {}

  package var isNone: Bool { level == 0 }

  /// An attempt came too late.
  package mutating func attemptFailed() { level = min(level + 1, Self.highest) }

  /// An attempt was committed.
  ///
  /// - Parameter wasDisturbed: Whether others changed the place while it was prepared.
  package mutating func attemptSucceeded(wasDisturbed: Bool) {
    level = max(0, level - (wasDisturbed ? 1 : Self.calmStep))
  }

  /// Returns the pause before the next attempt.
  ///
  /// - Parameter unit: A random number in `0..<1`.
  package func rest(unit: Double) -> Duration {
    guard level > Self.tolerated else { return .zero }
    let longest = Self.shortestMilliseconds * Double(1 << (level - Self.tolerated - 1))
    return .milliseconds(Int64((longest * unit).rounded()))
  }

  private static let highest = 13
  /// The number of attempts that may come too late before any pause.
  private static let tolerated = 2
  private static let calmStep = 4
  private static let shortestMilliseconds = 4.0
}
