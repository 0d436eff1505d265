package import TernCore
package import TernQuery
import TernStorage

/// What a listener starts with.
package struct LoadedResult: Sendable {
  /// What is shown, in the query's order.
  package let documents: [Document]
  /// What the server counted when it was last heard.
  package let remoteKeys: Set<DocumentKey>
}

// Checksums do not tell of rows that are gone, as one whose key is damaged: it is not met where it
// is looked for. What is stored twice over does.
extension DocumentCache {
  /// What a query gives on this device, and what the server said last of its target.
  ///
  /// When the two do not agree, rows are missing: then all of the cache is dropped and fetched
  /// again, for a server that is asked what has changed would not tell of them.
  package mutating func load(_ query: DocumentQuery, of target: Int32) -> LoadedResult {
    if !edits.isEmpty { storeEdits() }
    let result = loadOnce(query, target)
    if agrees(result, query, target) { return result }
    startAnew()
    return loadOnce(query, target)
  }

  private mutating func loadOnce(_ query: DocumentQuery, _ target: Int32) -> LoadedResult {
    let documents = run(query, usingPrevious: true).documents
    return LoadedResult(documents: documents, remoteKeys: remoteKeys(of: target))
  }

  /// Whether everything that the server counts is here, and was found by the query if it should.
  mutating func agrees(
    _ result: LoadedResult, _ query: DocumentQuery, _ target: Int32
  ) -> Bool {
    guard let record = targets[target]?.record, !record.isNew else { return true }
    if result.remoteKeys.count != record.keyCount { return false }
    var rest = result.remoteKeys
    for document in result.documents { rest.remove(document.key) }
    // What is pending may have taken a document out of the result.
    rest = rest.filter { pending.shown[$0] == nil }
    if rest.isEmpty { return true }
    let bases = bases(rest)
    let matcher = DocumentMatcher(query)
    let ordering = DocumentOrdering(query.normalizedOrders)
    return rest.allSatisfy { key in
      guard let document = bases[key]?.document else { return false }
      if query.offset > 0 || !matcher.matches(document) { return true }
      guard let limit = query.limit, result.documents.count >= limit.count else { return false }
      let edge = limit.side == .first ? result.documents.last : result.documents.first
      let order = edge.map { ordering.compare(document, $0) } ?? 0
      return limit.side == .first ? order > 0 : order < 0
    }
  }
}

extension DocumentTargetRecord {
  /// Whether nothing was told of it yet, or nothing is left of that.
  fileprivate var isNew: Bool { resumeToken.isEmpty && snapshotVersion == .none }
}
