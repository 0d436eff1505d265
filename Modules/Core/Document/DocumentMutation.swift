/// One write to one document.
///
/// Made by ``set(_:to:)`` and its siblings, which check everything that can be checked without
/// the document. Source: documents reference, section 3.1.
public struct DocumentMutation: Hashable, Sendable {
  /// The change to the document before its transforms.
  public enum Change: Hashable, Sendable {
    /// It holds exactly these fields.
    case set(DocumentFields)
    /// The fields of the mask become what they are in these; those without a value go.
    case patch(DocumentFields, mask: DocumentFieldMask)
    /// It ceases to exist.
    case delete
    /// Nothing; only the precondition counts.
    case verify
  }

  /// The document.
  public let key: DocumentKey
  /// The change to the document, before the transforms.
  public let change: Change
  /// The condition that the document must meet for the write to apply.
  public let precondition: DocumentPrecondition
  /// The changes to single fields after ``change``, in order.
  public let transforms: [DocumentFieldTransform]

  /// Assembles a mutation that needs no checking.
  package init(
    _ key: DocumentKey, _ change: Change, precondition: DocumentPrecondition = .none,
    transforms: [DocumentFieldTransform] = []
  ) {
    self.key = key
    self.change = change
    self.precondition = precondition
    self.transforms = transforms
  }

  /// The same write on another condition.
  public func requiring(_ precondition: DocumentPrecondition) -> DocumentMutation {
    DocumentMutation(key, change, precondition: precondition, transforms: transforms)
  }

  /// The fields the write may change; `nil` for all of them.
  public var touchedFields: DocumentFieldMask? {
    switch change {
    case .set, .delete: nil
    case .patch(_, let mask): mask.union(transforms.map(\.path))
    case .verify: .empty
    }
  }
}

/// A condition that a document must meet for a write to be applied.
///
/// Source: documents reference, section 3.6.
public enum DocumentPrecondition: Hashable, Sendable {
  /// Nothing.
  case none
  /// The document exists, or it does not.
  case exists(Bool)
  /// The document exists and is of exactly this version.
  case version(DocumentVersion)

  /// Returns the violation of the precondition by `document`; `nil` when it holds.
  func conflict(with document: Document) -> DocumentConflict? {
    switch self {
    case .none: nil
    case .exists(true): document.isFound ? nil : .notFound(document.key)
    case .exists(false): document.isFound ? .alreadyExists(document.key) : nil
    case .version(let version):
      document.isFound && document.version == version ? nil : .changed(document.key)
    }
  }
}

/// The reason a write was not applied to the document it met. Read again, then decide anew.
public enum DocumentConflict: Error, Hashable, Sendable {
  /// The document should exist.
  case notFound(DocumentKey)
  /// The document should not exist.
  case alreadyExists(DocumentKey)
  /// The document is of another version, or gone.
  case changed(DocumentKey)
  /// The document would break a limit.
  case invalid(DocumentKey, DocumentError)
}
