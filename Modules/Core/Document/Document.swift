/// The state of one document as far as it is known: its key, its contents and their version.
///
/// Source: documents reference, section 1.7.
public struct Document: Hashable, Sendable {
  /// The knowledge about the contents of a document.
  public enum State: Hashable, Sendable {
    /// The document exists and holds these fields.
    case found(DocumentFields)
    /// There is no document.
    case missing
    /// A change was accepted, but what it changed is not known here.
    case unknown
    /// Nothing was ever heard of the document.
    case invalid
  }

  /// Writes of this device that the state includes.
  public enum LocalWrites: Hashable, Sendable {
    /// None: the state is a server's.
    case none
    /// Some that no server has answered yet.
    case pending
    /// Some that a server accepted, while its own view of them is still to come.
    case committed
  }

  /// The document's path.
  public let key: DocumentKey

  /// The contents, or the reason that there are none.
  public var state: State

  /// The commit that the state is from; ``DocumentVersion/none`` when no server made it.
  public var version: DocumentVersion

  /// The commit that made the document, where it is known.
  public var created: DocumentVersion

  /// The kinds of local writes that the state includes.
  public var localWrites: LocalWrites

  /// Describes a document.
  public init(
    _ key: DocumentKey, _ state: State, version: DocumentVersion = .none,
    created: DocumentVersion = .none, localWrites: LocalWrites = .none
  ) {
    self.key = key
    self.state = state
    self.version = version
    self.created = created
    self.localWrites = localWrites
  }

  /// Nothing is known yet.
  public static func invalid(_ key: DocumentKey) -> Document { Document(key, .invalid) }

  /// True when the document exists.
  public var isFound: Bool { fields != nil }

  /// The contents; `nil` unless the document exists.
  public var fields: DocumentFields? {
    if case .found(let fields) = state { return fields }
    return nil
  }

  /// The bytes the document counts for; its name alone when it does not exist.
  ///
  /// Source: documents reference, section 1.8.
  public var byteCount: Int {
    key.byteCount + (fields.map { $0.byteCount + 32 } ?? 0)
  }

  /// Checks the size of the whole.
  ///
  /// - Throws: ``DocumentError/documentTooLarge(byteCount:limit:)``.
  public func checkSize() throws(DocumentError) {
    let count = byteCount
    if count > DocumentLimits.documentBytes {
      throw .documentTooLarge(byteCount: count, limit: DocumentLimits.documentBytes)
    }
  }
}
