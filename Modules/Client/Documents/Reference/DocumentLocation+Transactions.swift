import TernCore

extension DocumentLocation {
  /// Changes the document depending on what it is, as if no other client wrote meanwhile.
  ///
  /// Only the fields of the type are written, each as a whole: a key that leaves a dictionary, or a
  /// member of a nested type that becomes `nil`, is gone. Fields that the type does not have stay.
  ///
  /// ```swift
  /// try await oslo.transaction(as: City.self) { $0.population += 1 }
  /// ```
  /// - Parameters:
  ///   - type: The type that the fields are decoded to, and encoded from.
  ///   - initial: The value where there is no document; without one that is an error.
  ///   - waitsForPendingWrites: Whether the writes of this client to the document that the server
  ///     has not answered come first.
  ///   - update: Changes the value in place; may run several times.
  /// - Returns: The committed value.
  /// - Throws: ``DocumentsError``; what `update` throws. Nothing was written then, see
  ///   ``Documents/transaction(attempts:waitsForPendingWrites:_:)``.
  @discardableResult
  public func transaction<Value: Codable & Sendable>(
    as type: Value.Type, default initial: Value? = nil, waitsForPendingWrites: Bool = true,
    _ update: @Sendable (inout Value) throws -> Void
  ) async throws -> Value {
    try await documents.transaction(waitsForPendingWrites: waitsForPendingWrites) { transaction in
      let snapshot = try await transaction.get(self)
      guard var value = try snapshot.decode(Value?.self) ?? initial else {
        throw DocumentsError.refused(DocumentStatus(.notFound, "No document: \(path)"))
      }
      let before = snapshot.exists ? try fields(of: value) : []
      try update(&value)
      let after = try fields(of: value)
      // Encoders leave out a member that became nil: its field is deleted.
      let kept = Set(after.map { ExactText($0.name) })
      let gone = before.filter { !kept.contains(ExactText($0.name)) }
      try transaction.replace(
        in: self, whole: after + gone.map { DocumentInput.Field($0.name, .delete) })
      return value
    }
  }

  private func fields(
    of value: some Encodable
  ) throws(DocumentsError) -> [DocumentInput.Field] {
    try DocumentEncoder().checkedFields(of: value, for: self)
  }
}

extension DocumentTransaction {
  /// The document as the server has it, decoded; `nil` for an optional type where there is none.
  ///
  /// - Throws: ``DocumentsError``.
  public func get<Value: Decodable>(
    _ reference: DocumentLocation, as type: Value.Type
  ) async throws(DocumentsError) -> Value {
    let snapshot = try await get(reference)
    do throws(DocumentCodingError) { return try snapshot.decode(type) } catch {
      throw .coding(error)
    }
  }
}
