public import TernCore

// Writing and reading documents as `Codable` values.

extension DocumentLocation {
  /// Replaces the document by an encoded value, or makes it.
  ///
  /// - Parameter merging: Whether fields that the value does not have stay.
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func set(
    from value: some Encodable, merging: Bool = false
  ) async throws(DocumentsError) -> DocumentWrite {
    try await set(.map(try DocumentEncoder().checkedFields(of: value, for: self)), merging: merging)
  }

  /// Writes the fields of an encoded value, each as a whole; the document must exist.
  ///
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func update(from value: some Encodable) async throws(DocumentsError) -> DocumentWrite {
    let fields = try DocumentEncoder().checkedFields(of: value, for: self)
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
  ) async throws(DocumentsError) -> DocumentLocation {
    let reference = document()
    try await reference.set(from: value)
    return reference
  }
}

extension DocumentTransaction {
  /// Replaces a document by an encoded value, or makes it.
  public func set(
    _ reference: DocumentLocation, from value: some Encodable, merging: Bool = false
  ) throws(DocumentsError) {
    let fields = try DocumentEncoder().checkedFields(of: value, for: reference)
    try set(reference, to: .map(fields), merging: merging)
  }
}

extension DocumentWriteBatch {
  /// Replaces a document by an encoded value, or makes it.
  ///
  /// - Throws: ``DocumentsError/coding(_:)``; the batch is as it was.
  public mutating func set(
    _ reference: DocumentLocation, from value: some Encodable, merging: Bool = false
  ) throws(DocumentsError) {
    let fields = try DocumentEncoder().checkedFields(of: value, for: reference)
    set(reference, to: .map(fields), merging: merging)
  }
}

extension SingleDocumentSnapshot {
  /// The fields as a value of a `Decodable` type; `nil` for an optional type when the document does
  /// not exist.
  ///
  /// - Parameter display: The value of times that the server has not set yet.
  /// - Throws: ``DocumentCodingError/decoding(_:)``, with the path of the document: it does not
  ///   exist, or its fields do not have the type's shape.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, _ display: DocumentPendingTimestamp.Display = .none
  ) throws(DocumentCodingError) -> Value {
    var decoder = DocumentDecoder()
    decoder.documents = reference.documents
    decoder.document = reference
    let fields = data(display)
    do throws(DocumentCodingError) {
      return try decoder.decode(type, from: fields.map { .map($0) } ?? .null)
    } catch {
      if fields == nil { throw .decoding("\(reference.path): there is no document") }
      throw error.at(reference.path)
    }
  }
}

extension DocumentQuerySnapshot {
  /// All documents as values of a `Decodable` type, in the query's order.
  ///
  /// - Throws: ``DocumentCodingError/decoding(_:)``, with the path of the first document whose
  ///   fields do not have the type's shape.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self
  ) throws(DocumentCodingError) -> [Value] {
    var values: [Value] = []
    for document in documents { values.append(try document.decode(type)) }
    return values
  }
}

extension DocumentEncoder {
  /// The fields of an encoded value; an error names the document that they are for.
  func checkedFields(
    of value: some Encodable, for reference: DocumentLocation
  ) throws(DocumentsError) -> [DocumentInput.Field] {
    do throws(DocumentCodingError) { return try fields(of: value) } catch {
      throw .coding(error.at(reference.path))
    }
  }
}

extension DocumentMutation {
  /// Writes fields under their names, which are no paths; of those with one name the last counts.
  static func updating(
    _ key: DocumentKey, whole fields: [DocumentInput.Field]
  ) throws(DocumentError) -> DocumentMutation {
    var assignments: [(path: DocumentFieldPath, input: DocumentInput)] = []
    for field in fields.withoutReplaced {
      assignments.append((try DocumentFieldPath([field.name]), field.input))
    }
    return try .update(key, assignments)
  }
}
