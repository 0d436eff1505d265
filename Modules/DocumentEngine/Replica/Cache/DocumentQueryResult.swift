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
package struct DocumentQueryPlan: Hashable, Sendable {
  /// Where candidates came from. Source: documents reference, section 5.10.
  package enum Strategy: Hashable, Sendable {
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
  package var strategy: Strategy
  /// The indexes that named them.
  package var indexes: [DocumentIndex] = []
  /// How many cached documents were looked at.
  package var documentsRead = 0
  /// How many of them the result holds.
  package var documentsReturned = 0
  /// The indexes that were begun because this was expensive.
  package var createdIndexes: [DocumentIndex] = []
}
