/// The number of times a transaction has been tried, with its limit.
package struct Attempts: Sendable, Equatable {
  /// The most attempts of one transaction.
  package static let limit = 25

  package private(set) var count = 0

  package init() {}

  /// True when no attempt is left.
  package var areExhausted: Bool { count >= Self.limit }

  package mutating func begin() { count += 1 }
}
