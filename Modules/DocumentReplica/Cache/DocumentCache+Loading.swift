package import TernCore
package import TernQuery
import TernStorage

/// The initial result of a listener.
package struct LoadedResult: Sendable {
  /// The documents shown, in the query's order.
  package let documents: [Document]
  /// The documents that the server last reported for the target.
  package let remoteKeys: Set<DocumentKey>
}

// Checksums cannot detect missing rows, such as a row with a corrupt key. Data that is stored twice
// reveals them.
extension DocumentCache {
  /// Returns a query's local result, and the server's last result of its target.
  ///
  /// If the two disagree, rows are missing. The whole cache is then dropped and fetched again,
  /// because a server that reports only changes would not send them.
  package mutating func load(_ query: DocumentQuery, of target: Int32) -> LoadedResult {
    if !stored.edits.isEmpty { stored.storeEdits() }
    let result = loadOnce(query, target)
    if agrees(result, query, target) { return result }
    stored.startAnew()
    return loadOnce(query, target)
  }

  private mutating func loadOnce(_ query: DocumentQuery, _ target: Int32) -> LoadedResult {
    let documents = run(query, usingPrevious: true).documents
    return LoadedResult(documents: documents, remoteKeys: stored.remoteKeys(of: target))
  }

  /// Returns `true` if all documents of the server's result are here, and the query finds those it
  /// should.
  mutating func agrees(
    _ result: LoadedResult, _ query: DocumentQuery, _ target: Int32
  ) -> Bool {
    guard let record = stored.targets[target]?.record, !record.isNew else { return true }
    if result.remoteKeys.count != record.keyCount { return false }
    var rest = result.remoteKeys
    for document in result.documents { rest.remove(document.key) }
    // What is pending may have taken a document out of the result.
    rest = rest.filter { pending.shown[$0] == nil }
    if rest.isEmpty { return true }
    let bases = stored.bases(rest)
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
  /// `true` if the target has no progress, or has lost it.
  fileprivate var isNew: Bool { resumeToken.isEmpty && snapshotVersion == .none }
}
