import TernCore

/// A `Document` as it is on the wire.
struct WireDocument {
  /// `nil` where the name is empty, as in a document that is still to be named.
  var key: DocumentKey?
  var fields: DocumentFields
  var created = DocumentVersion.none
  var updated = DocumentVersion.none

  /// The document with its name.
  func named() throws(DocumentWireError) -> Document {
    guard let key else { throw .member("a document has no name") }
    return Document(key, .found(fields), version: updated, created: created)
  }
}

extension ProtoReader {
  mutating func document(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> WireDocument {
    var key: DocumentKey?
    var created = DocumentVersion.none
    var updated = DocumentVersion.none
    var builder = PackedBuilder()
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
  mutating func mask() throws(DocumentWireError) -> [DocumentFieldPath] {
    var paths: [DocumentFieldPath] = []
    var message = try message()
    while let field = try message.next() {
      if field == 1 { paths.append(try message.path()) } else { try message.skip() }
    }
    return paths
  }

  /// Reads a `DocumentMask` of the fields that are shown of every document of an answer.
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

  mutating func document(_ field: Int, _ document: Document, _ names: DocumentNames) {
    self.document(
      field, document.key, document.fields ?? .empty, names, created: document.created,
      updated: document.version)
  }

  mutating func mask(_ field: Int, _ paths: [DocumentFieldPath]) {
    let mark = begin(field)
    for path in paths { string(1, path.text) }
    end(mark)
  }
}
