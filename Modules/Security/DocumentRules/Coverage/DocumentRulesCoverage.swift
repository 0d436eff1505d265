import Synchronization

/// Counts the results of the expressions of one set of rules, for developers.
///
/// Source: Firestore server reference, section 5.2.
///
/// Evaluators count from any thread, under a lock. Memory is bounded by the number of expressions
/// of the file and by ``valueLimit``. Copies of ``DocumentRules`` share one object.
package final class DocumentRulesCoverage: Sendable {
  /// The result of an expression.
  enum Result {
    case value(DocumentRuleValue)
    case fault(DocumentRuleFault)
    /// A result that differs between the documents that a query can select.
    case unknown

    init(_ proven: ProvenValue) {
      if let value = proven.onlyValue {
        self = .value(value)
      } else {
        self = proven.certainFault.map { .fault($0) } ?? .unknown
      }
    }
  }

  /// The place of an expression in the source: two have the same start, and never the same end too.
  private struct Place: Hashable {
    let start: Int
    let end: Int
  }

  /// The counts of one expression, by the text of the result.
  private typealias Counts = [CoveredValue: Int]

  /// The most different results of one expression; further ones are counted as one.
  static let valueLimit = 16

  private let counts = Mutex<[Place: Counts]>([:])

  init() {}

  /// Counts one result of an expression; one beyond ``valueLimit`` counts as
  /// ``CoveredValue/other``.
  func count(_ result: Result, of node: DocumentRuleExpression) {
    let value = CoveredValue(result)
    let place = Place(start: node.offset, end: node.end)
    counts.withLock { counts in
      let isKnown = counts[place]?[value] != nil
      let isFull = (counts[place]?.count ?? 0) >= Self.valueLimit
      counts[place, default: [:]][isKnown || !isFull ? value : .other, default: 0] += 1
    }
  }

  /// The counts of an expression, the most frequent first.
  func counts(of node: DocumentRuleExpression) -> [(value: CoveredValue, count: Int)] {
    let place = Place(start: node.offset, end: node.end)
    let found = counts.withLock { $0[place] ?? [:] }
    return found.map { (value: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.value.text) < ($0.count, $1.value.text) }
  }
}
