import TernCore

/// A `Document` as it is on the wire.
///
/// The fields of `Document`: 1 name, 2 fields (a map entry each), 3 create time, 4 update time.
/// Clients leave the times out; servers send both.
struct WireDocument {
  /// `nil` where the name is empty, as in a document that is still to be named.
  var key: DocumentKey?
  /// The fields, packed. Their values have the right form; limits are checked by the server.
  var fields: DocumentFields
  /// The version that made the document; none when it is not told.
  var created = DocumentVersion.none
  /// The version of the document; none when it is not told.
  var updated = DocumentVersion.none

  /// The document with its name.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a document without a name.
  func named() throws(DocumentWireError) -> Document {
    guard let key else { throw .member("a document has no name") }
    return Document(key, .found(fields), version: updated, created: created)
  }
}

extension ProtoReader {
  /// Reads a `Document` straight into packed bytes, without a value for each field.
  ///
  /// - Parameter names: Settles on the database of the name, unless it is known.
  mutating func document(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WireDocument {
    var key: DocumentKey?
    var created = DocumentVersion.none
    var updated = DocumentVersion.none
    var builder = PackedBuilder()
    // Packed values take about as many bytes as those on the wire.
    builder.reserve(end - offset)
    let mark = builder.begin()
    var fields: [PackedBuilder.Field] = []
    fields.reserveCapacity(16)
    while let field = try next() {
      switch field {
      case 1:
        let range = try text()
        key = range.isEmpty ? nil : try names.key(bytes, range)
      case 2:
        let rest = try enter()
        try entry(into: &builder, &fields)
        leave(for: rest)
      case 3: created = try version()
      case 4: updated = try version()
      default: try skip()
      }
    }
    builder.endMap(mark, fields, isDocument: true)
    return WireDocument(
      key: key, fields: DocumentFields(builder), created: created, updated: updated)
  }

  /// Reads a `DocumentMask`.
  ///
  /// Field: 1 path, repeated. Their number is bounded by the message alone, as a write has a cost
  /// for each path once.
  mutating func mask() throws(DocumentWireError) -> [DocumentFieldPath] {
    var paths: [DocumentFieldPath] = []
    var message = try message()
    while let field = try message.next() {
      if field == 1 { paths.append(try message.path()) } else { try message.skip() }
    }
    return paths
  }

  /// Reads a `DocumentMask` of the fields that are shown of every document of an answer.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for more than ``DocumentWireLimits/shownPaths``.
  mutating func shownMask() throws(DocumentWireError) -> [DocumentFieldPath] {
    let paths = try mask()
    try DocumentWireLimits.checkShown(paths)
    return paths
  }

  /// Reads a field path as a text.
  mutating func path() throws(DocumentWireError) -> DocumentFieldPath {
    let text = try string()
    do throws(DocumentError) { return try DocumentFieldPath(service: text) } catch {
      throw .document(error)
    }
  }
}

extension ProtoWriter {
  /// Writes a `Document`.
  ///
  /// - Parameters:
  ///   - key: `nil` for a document that the server names.
  ///   - created: Left out when it is none, as in writes.
  ///   - updated: Left out when it is none.
  mutating func document(
    _ field: Int, _ key: DocumentKey?, _ fields: DocumentFields, _ names: DocumentNames,
    created: DocumentVersion = .none, updated: DocumentVersion = .none
  ) {
    let mark = begin(field)
    if let key { self.key(1, key, names) }
    self.fields(2, fields)
    version(3, created)
    version(4, updated)
    end(mark)
  }

  /// Writes a document with its times; a missing one has its name and, if it has one, its version.
  mutating func document(_ field: Int, _ document: Document, _ names: DocumentNames) {
    self.document(
      field, document.key, document.fields ?? .empty, names, created: document.created,
      updated: document.version)
  }

  /// Writes a `DocumentMask`, also an empty one: its presence has a meaning.
  mutating func mask(_ field: Int, _ paths: [DocumentFieldPath]) {
    let mark = begin(field)
    for path in paths { string(1, path.text) }
    end(mark)
  }
}
