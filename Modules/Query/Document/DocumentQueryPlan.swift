/// The plan by which a query was served from the cache.
public struct DocumentQueryPlan: Hashable, Sendable {
  /// The source of a query's candidates. Source: documents reference, section 5.10.
  public enum Strategy: Hashable, Sendable {
    /// One document was looked up.
    case document
    /// Indexes named the candidates.
    case index
    /// The server's previous result, and all changes since.
    case previousResults
    /// Every cached document of the collection, or of the group.
    case scan
  }

  /// The source of the candidates.
  public package(set) var strategy: Strategy
  /// The indexes that named them.
  public package(set) var indexes: [DocumentIndex] = []
  /// The number of cached documents that were examined.
  public package(set) var documentsRead = 0
  /// The number of them in the result.
  public package(set) var documentsReturned = 0
  /// The indexes that were begun because this was expensive.
  public package(set) var createdIndexes: [DocumentIndex] = []

  package init(strategy: Strategy) { self.strategy = strategy }
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
