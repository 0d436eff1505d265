import TernClient
import TernCore
import TernDocumentEngine
import TernQuery

/// Whether what is shown is the server's, and what of it is this device's.
public struct SnapshotMetadata: Hashable, Sendable {
  /// Whether writes of this device are in it that the server has not shown yet.
  public let hasPendingWrites: Bool
  /// Whether it may be stale, or lack what only the server knows.
  public let isFromCache: Bool
}

/// A document at one moment; it never changes.
///
/// - Note: `@unchecked` because the class is open to its one subclass; every stored property of
///   both is immutable and `Sendable`.
public class DocumentSnapshot: @unchecked Sendable {
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
  convenience init(_ reference: DocumentReference, in view: DocumentViewSnapshot) {
    let document = view.documents.first
    self.init(
      reference, document,
      SnapshotMetadata(
        hasPendingWrites: document != nil && view.hasPendingWrites, isFromCache: view.isFromCache))
  }

  /// The last part of the document's path.
  public var documentID: String { reference.documentID }

  /// Whether the document exists.
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
