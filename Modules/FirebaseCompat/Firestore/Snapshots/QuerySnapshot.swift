import Foundation
import Synchronization
import TernCore
import TernDocumentReplica
import TernQuery

/// The result of a query at one moment; it never changes.
public final class QuerySnapshot: Sendable {
  /// The query.
  public let query: Query
  /// The origin of the data.
  public let metadata: SnapshotMetadata
  private let view: DocumentViewSnapshot
  private let made = Mutex<[QueryDocumentSnapshot]?>(nil)

  init(_ query: Query, _ view: DocumentViewSnapshot) {
    self.query = query
    self.view = view
    metadata = SnapshotMetadata(
      hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache)
  }

  /// The number of documents.
  public var count: Int { view.documents.count }

  /// True when there is no document.
  public var isEmpty: Bool { view.documents.isEmpty }

  /// The documents, in the query's order.
  public var documents: [QueryDocumentSnapshot] {
    made.withLock { made in
      if let made { return made }
      let documents = view.documents.map(snapshot)
      made = documents
      return documents
    }
  }

  /// The changes since the snapshot before, applied one after the other; all documents at first.
  /// Documents of which only metadata changed are left out.
  public var documentChanges: [DocumentChange] { documentChanges(includeMetadataChanges: false) }

  /// The same, with the documents of which only metadata changed.
  ///
  /// - Precondition: The listener asked for changes of metadata too, if they are wanted here.
  public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
    precondition(
      !includeMetadataChanges || !view.excludesMetadata,
      "To be told of changes of metadata, a listener must have asked for them.")
    return view.changes.compactMap { change in
      if change.kind == .metadata, !includeMetadataChanges { return nil }
      return DocumentChange(change, snapshot(change.document))
    }
  }

  private func snapshot(_ document: Document) -> QueryDocumentSnapshot {
    QueryDocumentSnapshot(
      DocumentReference(query.firestore, key: .success(document.key), document.key.text), document,
      SnapshotMetadata(
        hasPendingWrites: view.mutatedKeys.contains(document.key),
        isFromCache: view.isFromCache))
  }
}

extension QuerySnapshot: Equatable {
  public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
    left.query == right.query && left.metadata == right.metadata
      && left.documents == right.documents
  }
}

/// The kind of change to a document of a result.
public enum DocumentChangeType: Int, Sendable {
  /// It is new in the result.
  case added = 0
  /// It is still in it, and different.
  case modified = 1
  /// It is no longer in it.
  case removed = 2
}

/// The change of one document's position in a result.
public final class DocumentChange: Sendable {
  /// The kind of change.
  public let type: DocumentChangeType
  /// The document as it is now; as it was last when it was removed.
  public let document: QueryDocumentSnapshot
  /// The position before, with earlier changes of the list applied; `UInt(NSNotFound)` for an
  /// addition.
  public let oldIndex: UInt
  /// The position after, with this change applied too; `UInt(NSNotFound)` for a removal.
  public let newIndex: UInt

  init(_ change: DocumentViewChange, _ document: QueryDocumentSnapshot) {
    type =
      switch change.kind {
      case .added: .added
      case .modified, .metadata: .modified
      case .removed: .removed
      }
    self.document = document
    oldIndex = UInt(change.oldIndex ?? NSNotFound)
    newIndex = UInt(change.newIndex ?? NSNotFound)
  }
}
