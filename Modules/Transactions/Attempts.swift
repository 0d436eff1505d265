/// How often a transaction has been tried, and whether it may be again.
package struct Attempts: Sendable, Equatable {
  /// The most attempts of one transaction.
  package static let limit = 25

  package private(set) var count = 0

  package init() {}

  /// Whether no attempt is left.
  package var areExhausted: Bool { count >= Self.limit }

  package mutating func begin() { count += 1 }
}
