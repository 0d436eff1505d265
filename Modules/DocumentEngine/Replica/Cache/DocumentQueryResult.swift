package import TernCore

/// What a query gives on this device, and how it was found.
package struct DocumentQueryResult: Sendable {
  /// The documents with pending writes laid over them, in the query's order, no more than its
  /// limit.
  package var documents: [Document]
  /// How it was found.
  package var plan: DocumentQueryPlan
}

/// How a query was served from the cache.
public struct DocumentQueryPlan: Hashable, Sendable {
  /// Where candidates came from. Source: documents reference, section 5.10.
  public enum Strategy: Hashable, Sendable {
    /// One document was looked up.
    case document
    /// Indexes named the candidates.
    case index
    /// What the server said last, and what has changed since.
    case previousResults
    /// Every cached document of the collection, or of the group.
    case scan
  }

  /// Where candidates came from.
  public internal(set) var strategy: Strategy
  /// The indexes that named them.
  public internal(set) var indexes: [DocumentIndex] = []
  /// How many cached documents were looked at.
  public internal(set) var documentsRead = 0
  /// How many of them the result holds.
  public internal(set) var documentsReturned = 0
  /// The indexes that were begun because this was expensive.
  public internal(set) var createdIndexes: [DocumentIndex] = []
}

extension DocumentQueryPlan: CustomStringConvertible {
  /// One line, such as `index cities(state ascending), 12 documents read for 10`.
  public var description: String {
    var text =
      indexes.isEmpty
      ? "\(strategy)" : indexes.map { "\(strategy) \($0)" }.joined(separator: " and ")
    text += ", \(documentsRead) documents read for \(documentsReturned)"
    for index in createdIndexes { text += ", begins \(index)" }
    return text
  }
}
