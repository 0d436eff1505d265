package import TernCore
package import TernQuery

/// The result of a query as a listener sees it at one moment.
///
/// Source: documents reference, section 4.3.
package struct DocumentViewSnapshot: Sendable {
  /// The query.
  package let query: DocumentQuery
  /// The result, in the query's order.
  package let documents: SortedDocuments
  /// What led here from the snapshot before; `nil` when every document is new.
  private let listed: [DocumentChange]?
  /// The documents with writes that no server has answered, or answered without showing them.
  package let mutatedKeys: Set<DocumentKey>
  /// Whether the result may lack what only the server knows.
  package let isFromCache: Bool
  /// Whether ``isFromCache`` differs from the snapshot before.
  package let isSyncStateChanged: Bool
  /// Whether changes of metadata were left out.
  package let excludesMetadata: Bool
  /// Whether the result was complete once.
  package let hasCachedResults: Bool

  init(
    query: DocumentQuery, documents: SortedDocuments, changes: [DocumentChange]?,
    mutatedKeys: Set<DocumentKey>, isFromCache: Bool, isSyncStateChanged: Bool,
    excludesMetadata: Bool = false, hasCachedResults: Bool
  ) {
    self.query = query
    self.documents = documents
    listed = changes
    self.mutatedKeys = mutatedKeys
    self.isFromCache = isFromCache
    self.isSyncStateChanged = isSyncStateChanged
    self.excludesMetadata = excludesMetadata
    self.hasCachedResults = hasCachedResults
  }

  /// Whether a document of the result has pending writes.
  package var hasPendingWrites: Bool { !mutatedKeys.isEmpty }

  /// Whether some document differs from the snapshot before.
  package var hasChanges: Bool { listed.map { !$0.isEmpty } ?? !documents.isEmpty }

  /// What leads here from the snapshot before, applied one after the other.
  ///
  /// - Complexity: O(*n*) for the first snapshot of a listener, else O(1).
  package var changes: [DocumentChange] {
    if let listed { return listed }
    return documents.enumerated().map { index, document in
      DocumentChange(kind: .added, document: document, oldIndex: nil, newIndex: index)
    }
  }

  /// The same for a listener that has heard nothing yet: every document is new.
  func asInitial(excludesMetadata: Bool) -> DocumentViewSnapshot {
    DocumentViewSnapshot(
      query: query, documents: documents, changes: nil, mutatedKeys: mutatedKeys,
      isFromCache: isFromCache, isSyncStateChanged: true, excludesMetadata: excludesMetadata,
      hasCachedResults: hasCachedResults)
  }

  /// The same for a listener that does not want to hear of metadata.
  func withoutMetadataChanges() -> DocumentViewSnapshot {
    DocumentViewSnapshot(
      query: query, documents: documents, changes: listed?.filter { $0.kind != .metadata },
      mutatedKeys: mutatedKeys, isFromCache: isFromCache, isSyncStateChanged: isSyncStateChanged,
      excludesMetadata: true, hasCachedResults: hasCachedResults)
  }
}
