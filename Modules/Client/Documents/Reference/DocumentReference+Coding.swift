public import TernCore

// Writing and reading documents as `Codable` values.

extension DocumentReference {
  /// Replaces the document by an encoded value, or makes it.
  ///
  /// - Parameter merging: Whether fields that the value does not have stay.
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func set(
    from value: some Encodable, merging: Bool = false
  ) async throws(DocumentsError) -> DocumentWrite {
    try await set(.map(try DocumentEncoder().checkedFields(of: value)), merging: merging)
  }

  /// Writes the fields of an encoded value, each as a whole; the document must exist.
  ///
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func update(from value: some Encodable) async throws(DocumentsError) -> DocumentWrite {
    let fields = try DocumentEncoder().checkedFields(of: value)
    let mutation: DocumentMutation
    do throws(DocumentError) {
      mutation = try .updating(try key.get(), whole: fields)
    } catch {
      throw .invalid(error)
    }
    return try await documents.write([mutation])
  }
}

extension DocumentCollection {
  /// Makes a document of an encoded value, with an id of its own.
  ///
  /// - Returns: When the write is durable on this device.
  public func add(
    from value: some Encodable
  ) async throws(DocumentsError) -> DocumentReference {
    try await add(.map(try DocumentEncoder().checkedFields(of: value)))
  }
}

extension DocumentTransaction {
  /// Replaces a document by an encoded value, or makes it.
  public func set(
    _ reference: DocumentReference, from value: some Encodable, merging: Bool = false
  ) throws(DocumentsError) {
    let fields = try DocumentEncoder().checkedFields(of: value)
    try set(reference, to: .map(fields), merging: merging)
  }
}

extension DocumentWriteBatch {
  /// Replaces a document by an encoded value, or makes it.
  ///
  /// - Throws: ``DocumentsError/coding(_:)``; the batch is as it was.
  public mutating func set(
    _ reference: DocumentReference, from value: some Encodable, merging: Bool = false
  ) throws(DocumentsError) {
    let fields = try DocumentEncoder().checkedFields(of: value)
    set(reference, to: .map(fields), merging: merging)
  }
}

extension DocumentSnapshot {
  /// The fields as a value of a `Decodable` type; `nil` when the document does not exist.
  ///
  /// - Parameter display: What stands for times that the server has not set yet.
  /// - Throws: ``DocumentCodingError/decoding(_:)`` when the fields do not have the type's shape.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, _ display: DocumentPendingTimestamp.Display = .none
  ) throws(DocumentCodingError) -> Value? {
    guard let fields = data(display) else { return nil }
    var decoder = DocumentDecoder()
    decoder.documents = reference.documents
    return try decoder.decode(type, from: fields)
  }
}

extension DocumentEncoder {
  fileprivate func checkedFields(
    of value: some Encodable
  ) throws(DocumentsError) -> [DocumentInput.Field] {
    do throws(DocumentCodingError) { return try fields(of: value) } catch { throw .coding(error) }
  }
}

extension DocumentMutation {
  /// Writes fields under their names, which are no paths.
  fileprivate static func updating(
    _ key: DocumentKey, whole fields: [DocumentInput.Field]
  ) throws(DocumentError) -> DocumentMutation {
    var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
    for field in fields {
      assignments.append((try DocumentFieldPath([field.name]), field.input))
    }
    return try .update(key, assignments)
  }
}
