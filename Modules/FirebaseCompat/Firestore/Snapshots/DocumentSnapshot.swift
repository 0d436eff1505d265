import TernClient
import TernCore
import TernDocumentReplica
import TernQuery

/// The origin of a snapshot's data: the server's, or this device's.
public struct SnapshotMetadata: Hashable, Sendable {
  /// True when it includes writes of this device that the server has not shown yet.
  public let hasPendingWrites: Bool
  /// True when it may be stale, or lack data that only the server has.
  public let isFromCache: Bool
}

/// A document at one moment; it never changes.
///
/// - Note: `@unchecked`, for the class is open to its one subclass; sound because every stored
///   property of both is immutable and `Sendable`.
public class DocumentSnapshot: @unchecked Sendable {
  /// The location of the document.
  public let reference: DocumentReference
  /// The origin of the data.
  public let metadata: SnapshotMetadata
  let document: Document?

  init(_ reference: DocumentReference, _ document: Document?, _ metadata: SnapshotMetadata) {
    self.reference = reference
    self.document = document
    self.metadata = metadata
  }

  /// The only document that a query for it gave; one that does not exist has no pending writes.
  convenience init(_ reference: DocumentReference, in view: DocumentViewSnapshot) {
    let document = view.documents.first
    self.init(
      reference, document,
      SnapshotMetadata(
        hasPendingWrites: document != nil && view.hasPendingWrites, isFromCache: view.isFromCache))
  }

  /// The last part of the document's path.
  public var documentID: String { reference.documentID }

  /// True when the document exists.
  public var exists: Bool { document?.isFound ?? false }

  /// All fields; `nil` when the document does not exist.
  public func data() -> [String: Any]? { data(with: .none) }

  /// The same, with a choice of what stands for times that the server has not set yet.
  public func data(
    with serverTimestampBehavior: ServerTimestampBehavior
  ) -> [String: Any]? {
    document?.fields?.map.foundation(reference.firestore, serverTimestampBehavior)
  }

  /// The value of a field; `nil` when there is none.
  ///
  /// - Parameter field: Names joined by dots, or a ``FieldPath``.
  public func get(_ field: Any) -> Any? { get(field, serverTimestampBehavior: .none) }

  /// The same, with a choice of what stands for times that the server has not set yet.
  public func get(
    _ field: Any, serverTimestampBehavior: ServerTimestampBehavior
  ) -> Any? {
    guard let path = try? DocumentFieldPath.named(field) else { return nil }
    if path.isKey { return document.map { _ in reference } }
    return document?.fields?[path]?.foundation(reference.firestore, serverTimestampBehavior)
  }

  /// The value of a field; `nil` when there is none.
  ///
  /// - Parameter field: Names joined by dots, or a ``FieldPath``.
  public subscript(field: Any) -> Any? { self.get(field) }
}

/// A document that a query gave: it exists.
///
/// - Note: `@unchecked` as its superclass is; sound because what it adds is immutable.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
  /// All fields.
  public override func data() -> [String: Any] { super.data() ?? [:] }

  /// The same, with a choice of what stands for times that the server has not set yet.
  public override func data(
    with serverTimestampBehavior: ServerTimestampBehavior
  ) -> [String: Any] {
    super.data(with: serverTimestampBehavior) ?? [:]
  }
}

extension DocumentSnapshot: Hashable {
  public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
    left.reference == right.reference && left.metadata == right.metadata
      && left.document?.state == right.document?.state
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(reference)
    hasher.combine(metadata)
  }
}
