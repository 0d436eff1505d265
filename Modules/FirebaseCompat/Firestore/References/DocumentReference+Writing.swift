extension DocumentReference {
  /// Replaces the document, or makes it; listeners hear it at once.
  public func setData(_ documentData: [String: Any]) { setData(documentData, completion: nil) }

  /// The same; `completion` hears the server's verdict.
  public func setData(_ documentData: [String: Any], completion: (((any Error)?) -> Void)?) {
    firestore.calls.write(.set(documentData, self), completion)
  }

  /// The same; returns when the server has it.
  public func setData(_ documentData: [String: Any]) async throws {
    try await firestore.calls.acknowledged(.set(documentData, self))
  }

  /// Writes the fields that are named, and leaves the others if `merge` is set.
  public func setData(_ documentData: [String: Any], merge: Bool) {
    setData(documentData, merge: merge, completion: nil)
  }

  /// The same; `completion` hears the server's verdict.
  public func setData(
    _ documentData: [String: Any], merge: Bool, completion: (((any Error)?) -> Void)?
  ) {
    firestore.calls.write(.set(documentData, self, merge: merge), completion)
  }

  /// The same; returns when the server has it.
  public func setData(_ documentData: [String: Any], merge: Bool) async throws {
    try await firestore.calls.acknowledged(.set(documentData, self, merge: merge))
  }

  /// Writes these of the fields, and leaves the others.
  ///
  /// - Parameter mergeFields: Names joined by dots, or ``FieldPath``s; each occurs in the data.
  public func setData(_ documentData: [String: Any], mergeFields: [Any]) {
    setData(documentData, mergeFields: mergeFields, completion: nil)
  }

  /// The same; `completion` hears the server's verdict.
  public func setData(
    _ documentData: [String: Any], mergeFields: [Any], completion: (((any Error)?) -> Void)?
  ) {
    firestore.calls.write(.set(documentData, self, mergeFields: mergeFields), completion)
  }

  /// The same; returns when the server has it.
  public func setData(_ documentData: [String: Any], mergeFields: [Any]) async throws {
    try await firestore.calls.acknowledged(.set(documentData, self, mergeFields: mergeFields))
  }

  /// Writes single fields of the document, which must exist.
  ///
  /// - Parameter fields: By names joined by dots, or by ``FieldPath``.
  public func updateData(_ fields: [AnyHashable: Any]) { updateData(fields, completion: nil) }

  /// The same; `completion` hears the server's verdict.
  public func updateData(_ fields: [AnyHashable: Any], completion: (((any Error)?) -> Void)?) {
    firestore.calls.write(.update(fields, self), completion)
  }

  /// The same; returns when the server has it.
  public func updateData(_ fields: [AnyHashable: Any]) async throws {
    try await firestore.calls.acknowledged(.update(fields, self))
  }

  /// Deletes the document; collections below it stay.
  public func delete() { delete(completion: nil) }

  /// The same; `completion` hears the server's verdict.
  public func delete(completion: (((any Error)?) -> Void)?) {
    firestore.calls.write(.delete(self), completion)
  }

  /// The same; returns when the server has it.
  public func delete() async throws {
    try await firestore.calls.acknowledged(.delete(self))
  }
}
