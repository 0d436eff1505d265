public import TernCore
import TernDocumentEngine
public import TernQuery

/// Whether what is shown is the server's, and what of it is this device's.
public struct SnapshotMetadata: Hashable, Sendable {
  /// Whether writes of this device are in it that the server has not shown yet.
  public let hasPendingWrites: Bool
  /// Whether it may lack what only the server knows.
  public let isFromCache: Bool
}

/// A document at one moment.
public struct DocumentSnapshot: Sendable {
  /// Where the document is.
  public let reference: DocumentReference
  /// Where the data comes from.
  public let metadata: SnapshotMetadata
  let document: Document?

  init(_ reference: DocumentReference, _ document: Document?, _ metadata: SnapshotMetadata) {
    self.reference = reference
    self.document = document
    self.metadata = metadata
  }

  /// The only document that a query for it gave; one that does not exist has no pending writes.
  init(_ reference: DocumentReference, in snapshot: QuerySnapshot) {
    let document = snapshot.view.documents.first
    self.init(
      reference, document,
      SnapshotMetadata(
        hasPendingWrites: document != nil && snapshot.metadata.hasPendingWrites,
        isFromCache: snapshot.metadata.isFromCache))
  }

  /// The last part of the document's path.
  public var id: String { reference.id }

  /// Whether the document exists.
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
public struct QuerySnapshot: Sendable {
  let view: DocumentViewSnapshot
  private let owner: Documents
  /// What is new since the snapshot that a reader saw before; `nil` for what the view says.
  private var rebased: [DocumentChange]?

  init(_ view: DocumentViewSnapshot, _ owner: Documents) {
    self.view = view
    self.owner = owner
  }

  /// The same for a reader that saw another one last.
  func since(_ earlier: QuerySnapshot?) -> QuerySnapshot {
    var snapshot = self
    snapshot.rebased = DocumentChange.changes(
      from: earlier.map { Array($0.view.documents) } ?? [], to: Array(view.documents),
      of: view.query)
    return snapshot
  }

  /// Where the data comes from.
  public var metadata: SnapshotMetadata {
    SnapshotMetadata(
      hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache)
  }

  /// The number of documents.
  public var count: Int { view.documents.count }

  /// The documents, in the query's order.
  public var documents: [DocumentSnapshot] { view.documents.map(snapshot) }

  /// What leads here from the snapshot before, applied one after the other.
  public var changes: [DocumentChange] { rebased ?? view.changes }

  private func snapshot(_ document: Document) -> DocumentSnapshot {
    DocumentSnapshot(
      DocumentReference(documents: owner, key: .success(document.key)), document,
      SnapshotMetadata(
        hasPendingWrites: view.mutatedKeys.contains(document.key),
        isFromCache: view.isFromCache))
  }
}
