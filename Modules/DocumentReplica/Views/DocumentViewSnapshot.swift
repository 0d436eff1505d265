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
  /// The changes since the previous snapshot; `nil` when every document is new.
  private let listed: [DocumentViewChange]?
  /// The documents with writes that the server has not answered, or not sent yet.
  package let mutatedKeys: Set<DocumentKey>
  /// `true` if the result may lack data that only the server has.
  package let isFromCache: Bool
  /// `true` if ``isFromCache`` differs from the previous snapshot.
  package let isSyncStateChanged: Bool
  /// `true` if changes of metadata were left out.
  package let excludesMetadata: Bool
  /// `true` if the result was complete once.
  package let hasCachedResults: Bool

  init(
    query: DocumentQuery, documents: SortedDocuments, changes: [DocumentViewChange]?,
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

  /// `true` if a document of the result has pending writes.
  package var hasPendingWrites: Bool { !mutatedKeys.isEmpty }

  /// `true` if a document differs from the previous snapshot.
  package var hasChanges: Bool { listed.map { !$0.isEmpty } ?? !documents.isEmpty }

  /// The changes since the previous snapshot, each relative to the result of the one before.
  ///
  /// - Complexity: O(*n*) for the first snapshot of a listener, else O(1).
  package var changes: [DocumentViewChange] {
    if let listed { return listed }
    return documents.enumerated().map { index, document in
      DocumentViewChange(kind: .added, document: document, oldIndex: nil, newIndex: index)
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

extension DocumentViewSnapshot {
  /// Returns the documents that came into the view with this snapshot, and those that left it.
  ///
  /// - Parameter all: All documents of the view, where they are known without being gathered.
  func enteredAndLeft(
    all: Set<DocumentKey>? = nil
  ) -> (entered: Set<DocumentKey>, left: Set<DocumentKey>) {
    guard let listed else {
      if let all { return (all, []) }
      var entered = Set<DocumentKey>(minimumCapacity: documents.count)
      for document in documents { entered.insert(document.key) }
      return (entered, [])
    }
    var entered: Set<DocumentKey> = []
    var left: Set<DocumentKey> = []
    for change in listed {
      switch change.kind {
      case .added: entered.insert(change.document.key)
      case .removed: left.insert(change.document.key)
      case .modified, .metadata: break
      }
    }
    return (entered, left)
  }
}
