import TernClient
import TernDocumentReplica

extension DocumentReference {
  /// Reads the document once; `completion` hears it, or why it cannot be had.
  public func getDocument(
    completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) {
    getDocument(source: .default, completion: completion)
  }

  /// The same, from a source.
  public func getDocument(
    source: FirestoreSource, completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) {
    query.read(source, completion) { [self] in DocumentSnapshot(self, in: $0) }
  }

  /// The document as it is now.
  ///
  /// - Throws: ``FirestoreErrorCode/unavailable`` when the sources that are allowed do not know it.
  public func getDocument(source: FirestoreSource = .default) async throws -> DocumentSnapshot {
    DocumentSnapshot(self, in: try await query.read(source))
  }

  /// Calls `listener` with the document as it is now, and again whenever it changes.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// The same; also when only metadata changed, if that is asked for.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool,
    listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges),
      listener: listener)
  }

  /// The same, as the options say.
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions,
    listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    query.listen(options, listener) { [self] in DocumentSnapshot(self, in: $0) }
  }
}
