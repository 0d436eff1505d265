public import TernCore
import TernDocumentReplica
public import TernQuery

/// The origin of a snapshot's data: the server's, or this device's.
public struct DocumentSnapshotMetadata: Hashable, Sendable {
  /// True when it includes writes of this device that the server has not shown yet.
  public let hasPendingWrites: Bool
  /// True when it may lack data that only the server has.
  public let isFromCache: Bool
}

/// A document at one moment.
public struct SingleDocumentSnapshot: Sendable {
  /// The location of the document.
  public let reference: DocumentLocation
  /// The origin of the data.
  public let metadata: DocumentSnapshotMetadata
  let document: Document?

  init(_ reference: DocumentLocation, _ document: Document?, _ metadata: DocumentSnapshotMetadata) {
    self.reference = reference
    self.document = document
    self.metadata = metadata
  }

  /// The only document that a query for it gave; one that does not exist has no pending writes.
  init(_ reference: DocumentLocation, in snapshot: DocumentQuerySnapshot) {
    let document = snapshot.view.documents.first
    self.init(
      reference, document,
      DocumentSnapshotMetadata(
        hasPendingWrites: document != nil && snapshot.metadata.hasPendingWrites,
        isFromCache: snapshot.metadata.isFromCache))
  }

  /// The last part of the document's path.
  public var id: String { reference.id }

  /// The key of the document; `nil` when there is no valid one.
  package var documentKey: DocumentKey? { document?.key }

  /// The fields as they are kept; `nil` when the document does not exist.
  package var packedFields: DocumentFields? { document?.fields }

  /// True when the document exists.
  public var exists: Bool { document?.isFound ?? false }

  /// The commit that the data is from; `nil` when no server has shown it.
  public var version: DocumentVersion? {
    document.flatMap { $0.version == .none ? nil : $0.version }
  }

  /// All fields; `nil` when the document does not exist.
  ///
  /// - Parameter display: What stands for times that the server has not set yet.
  public func data(
    _ display: DocumentPendingTimestamp.Display = .none
  ) -> DocumentMap? {
    guard let map = document?.fields?.map,
      case .map(let shown) = DocumentValue.map(map).displayed(display)
    else { return nil }
    return shown
  }

  /// The value of a field; `nil` when there is none.
  ///
  /// - Parameter path: The names of the fields, joined by dots.
  public subscript(path: String) -> DocumentValue? {
    guard let path = try? DocumentFieldPath(dotted: path) else { return nil }
    return document?.fields?[path]?.displayed(.none)
  }
}

/// The result of a query at one moment.
public struct DocumentQuerySnapshot: Sendable {
  let view: DocumentViewSnapshot
  private let owner: Documents
  /// The snapshot that a reader saw before, where that is not the one before this.
  private var earlier: Earlier?

  /// A result that changes are worked out from when they are asked for; `nil` when there was none.
  private struct Earlier {
    let documents: SortedDocuments?
  }

  init(_ view: DocumentViewSnapshot, _ owner: Documents) {
    self.view = view
    self.owner = owner
  }

  /// The same for a reader that saw another one last.
  func since(_ earlier: DocumentQuerySnapshot?) -> DocumentQuerySnapshot {
    var snapshot = self
    snapshot.earlier = Earlier(documents: earlier?.view.documents)
    return snapshot
  }

  /// The origin of the data.
  public var metadata: DocumentSnapshotMetadata {
    DocumentSnapshotMetadata(
      hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache)
  }

  /// The number of documents.
  public var count: Int { view.documents.count }

  /// The documents, in the query's order.
  public var documents: [SingleDocumentSnapshot] { view.documents.map(snapshot) }

  /// The changes since the snapshot before, applied one after the other.
  ///
  /// - Complexity: O(*n*) for the first snapshot and after snapshots that the reader missed.
  public var changes: [DocumentViewChange] {
    guard let earlier else { return view.changes }
    return DocumentViewChange.changes(
      from: earlier.documents.map { Array($0) } ?? [], to: Array(view.documents), of: view.query)
  }

  private func snapshot(_ document: Document) -> SingleDocumentSnapshot {
    SingleDocumentSnapshot(
      DocumentLocation(documents: owner, key: .success(document.key)), document,
      DocumentSnapshotMetadata(
        hasPendingWrites: view.mutatedKeys.contains(document.key),
        isFromCache: view.isFromCache))
  }
}
