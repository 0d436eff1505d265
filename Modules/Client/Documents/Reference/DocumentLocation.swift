public import TernCore
import TernDocumentReplica
public import TernQuery
import TernSync

/// A document's location, whether it exists or not.
public struct DocumentLocation: Sendable {
  let documents: Documents
  let key: Result<DocumentKey, DocumentError>

  /// The path of the document; empty when it is not a valid one.
  public var path: String { (try? key.get())?.text ?? "" }

  /// The last part of the path.
  public var id: String { (try? key.get())?.id ?? "" }

  /// The document as a value, for fields that refer to it.
  ///
  /// - Throws: ``DocumentsError/invalid(_:)`` when the path is not that of a document.
  public func value() throws(DocumentsError) -> DocumentValue {
    do throws(DocumentError) {
      return .reference(DocumentName(try key.get(), in: documents.database))
    } catch {
      throw .invalid(error)
    }
  }

  /// A collection below the document.
  public func collection(_ id: String) -> DocumentCollection {
    DocumentCollection(
      documents: documents,
      path: Result { () throws(DocumentError) in try key.get().collection(id) })
  }

  /// Replaces the document, or makes it.
  ///
  /// - Parameters:
  ///   - fields: A map; names are names, not paths.
  ///   - merging: Whether fields that are not named stay.
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func set(
    _ fields: DocumentInput, merging: Bool = false
  ) async throws(DocumentsError) -> DocumentWrite {
    try await write { key throws(DocumentError) in
      try .setting(key, to: fields, merging: merging)
    }
  }

  /// Writes single fields of the document, which must exist; names are paths, joined by dots.
  ///
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func update(
    _ fields: KeyValuePairs<String, DocumentInput>
  ) async throws(DocumentsError) -> DocumentWrite {
    try await write { key throws(DocumentError) in try .updating(key, fields) }
  }

  /// Removes the document.
  ///
  /// - Returns: When the write is durable on this device.
  @discardableResult
  public func remove() async throws(DocumentsError) -> DocumentWrite {
    try await write { key throws(DocumentError) in .delete(key) }
  }

  private func write(
    _ make: (DocumentKey) throws(DocumentError) -> DocumentMutation
  ) async throws(DocumentsError) -> DocumentWrite {
    let mutation: DocumentMutation
    do throws(DocumentError) { mutation = try make(try key.get()) } catch { throw .invalid(error) }
    return try await documents.write([mutation])
  }

  /// The document as it is now.
  ///
  /// - Throws: ``DocumentsError/refused(_:)`` with the code `unavailable` when the sources that
  ///   are allowed do not know it.
  public func get(
    from source: DocumentGetSource = .serverOrCache
  ) async throws(DocumentsError) -> SingleDocumentSnapshot {
    let snapshot = try await query.get(from: source)
    return SingleDocumentSnapshot(self, in: snapshot)
  }

  /// The document now, and again whenever it changes.
  ///
  /// A slow reader skips intermediate states and never sees two out of order.
  public func snapshots(
    includingMetadata: Bool = false, source: DocumentListenOptions.Source = .server
  ) -> DocumentSnapshots<SingleDocumentSnapshot> {
    let reference = self
    return query.delivery(includingMetadata, source) { SingleDocumentSnapshot(reference, in: $0) }
  }

  private var query: DocumentQueryReference {
    let key = key.mapError { DocumentQueryError.document($0) }
    return DocumentQueryReference(documents: documents, query: key.map { .document($0) })
  }
}

/// A collection of documents: all of them, as a query, and the way to each.
public struct DocumentCollection: DocumentQuerying {
  let documents: Documents
  let path: Result<CollectionPath, DocumentError>

  /// The query for all documents of the collection.
  public var queried: DocumentQueryReference {
    let path = path.mapError { DocumentQueryError.document($0) }
    return DocumentQueryReference(documents: documents, query: path.map { .collection($0) })
  }

  /// A document of the collection.
  public func document(_ id: String) -> DocumentLocation {
    DocumentLocation(
      documents: documents,
      key: Result { () throws(DocumentError) in try path.get().document(id) })
  }

  /// Returns a document with a random id that is unique.
  public func document() -> DocumentLocation {
    document(DocumentIDGenerator.next(randomBits: documents.ambient.randomBits))
  }

  /// Makes a document with an id of its own.
  ///
  /// - Returns: When the write is durable on this device.
  public func add(_ fields: DocumentInput) async throws(DocumentsError) -> DocumentLocation {
    let reference = document()
    try await reference.set(fields)
    return reference
  }
}
