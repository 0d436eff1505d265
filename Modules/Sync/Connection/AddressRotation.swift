/// The order in which a client tries the addresses of its server.
///
/// Addresses are numbered from 0. A round tries each of them once, beginning with the one that was
/// in use last; within a round there is no pause.
/// Source: Docs/Decisions/0066-several-addresses.md.
package struct AddressRotation: Sendable {
  /// The address of the next attempt.
  package private(set) var current = 0
  private let count: Int
  /// The addresses that failed in this round, fewer than ``count``.
  private var failures = 0

  /// A rotation that begins with the first address.
  ///
  /// - Parameter count: The number of addresses, 1 or more.
  package init(count: Int) {
    precondition(count > 0, "a server has an address")
    self.count = count
  }

  /// Leaves an address that failed for the next one.
  ///
  /// - Returns: True when the next one was not tried in this round; false when all have failed, and
  ///   another round begins.
  package mutating func moveOn() -> Bool {
    current = (current + 1) % count
    failures = (failures + 1) % count
    return failures > 0
  }

  /// Begins a round with the present address, which works or is to be tried first.
  package mutating func beginRound() { failures = 0 }
}
