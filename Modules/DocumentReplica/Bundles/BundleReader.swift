package import TernCore
package import TernQuery

/// Reads bundles: documents and results of queries that a server packed for many clients.
///
/// Source: documents reference, section 5.13.
///
/// A bundle is a sequence of elements, each a length in decimal digits and that many bytes of JSON.
/// The first one is the metadata; then come named queries and documents, each document behind its
/// own metadata. A document that does not exist has metadata alone.
///
/// The bundle is read as a whole before anything is taken in, so that a damaged one changes
/// nothing.
package struct BundleReader {
  /// The most digits of the length before an element.
  static let lengthDigits = 16

  private let bytes: [UInt8]
  private let json: BundleJSON
  private var offset = 0
  private var queries: [NamedQuery] = []
  private var documents: [BundledDocument] = []
  /// The metadata of a document whose contents come next.
  private var announced: (key: DocumentKey, readTime: DocumentVersion, queries: [String])?

  /// Reads a whole bundle.
  ///
  /// - Parameter database: The database that the documents must be of.
  /// - Throws: ``BundleError``.
  package static func read(
    _ bytes: [UInt8], of database: DocumentDatabase
  ) throws(BundleError) -> DocumentBundle {
    var reader = BundleReader(bytes: bytes, json: BundleJSON(database: database))
    return try reader.bundle()
  }

  private init(bytes: [UInt8], json: BundleJSON) {
    self.bytes = bytes
    self.json = json
  }

  private mutating func bundle() throws(BundleError) -> DocumentBundle {
    guard let first = try element(), let metadata = first["metadata"] else { throw .noMetadata }
    let described = try self.metadata(metadata)
    let start = offset
    while let element = try element() { try take(element) }
    if announced != nil { throw invalid("a document is announced and does not come") }
    let count = offset - start
    guard documents.count == described.totalDocuments, count == described.totalBytes else {
      throw .incomplete(documents: documents.count, bytes: count)
    }
    return DocumentBundle(metadata: described, queries: queries, documents: documents)
  }

  private func invalid(_ reason: String) -> BundleError {
    .invalidElement(offset: offset, reason: reason)
  }

  /// The next element; `nil` at the end.
  ///
  /// - Throws: ``BundleError/invalidLength(offset:)`` for a length that is none or exceeds the
  ///   bundle.
  private mutating func element() throws(BundleError) -> JSONValue? {
    if offset == bytes.count { return nil }
    var length = 0
    var digits = 0
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "{") {
      let digit = Int(bytes[offset]) - Int(UInt8(ascii: "0"))
      digits += 1
      guard 0...9 ~= digit, digits <= BundleReader.lengthDigits else {
        throw .invalidLength(offset: offset)
      }
      length = length * 10 + digit
      offset += 1
    }
    guard digits > 0, length <= bytes.count - offset else { throw .invalidLength(offset: offset) }
    let text = Array(bytes[offset..<offset + length])
    offset += length
    do { return try JSONValue(parsing: text) } catch { throw invalid("it is not JSON") }
  }

  private func metadata(_ value: JSONValue) throws(BundleError) -> BundleMetadata {
    guard let id = value["id"]?.text, let created = value["createTime"].flatMap(json.version),
      let version = value["version"].flatMap(json.integer),
      let documents = value["totalDocuments"].flatMap(json.integer),
      let bytes = value["totalBytes"].flatMap(json.integer)
    else { throw .noMetadata }
    if version != 1 { throw .unknownVersion(Int(clamping: version)) }
    return BundleMetadata(
      id: id, createTime: created, version: 1, totalDocuments: Int(clamping: documents),
      totalBytes: Int(clamping: bytes))
  }

  private mutating func take(_ element: JSONValue) throws(BundleError) {
    if let announced {
      self.announced = nil
      guard let value = element["document"], let document = json.document(value),
        document.key == announced.key
      else { throw invalid("another document was announced") }
      documents.append(
        BundledDocument(
          document: document, readTime: announced.readTime, queries: announced.queries))
    } else if let value = element["namedQuery"] {
      queries.append(try namedQuery(value))
    } else if let value = element["documentMetadata"] {
      try announce(value)
    } else {
      throw invalid("it is neither a query nor a document")
    }
  }

  private func namedQuery(_ value: JSONValue) throws(BundleError) -> NamedQuery {
    guard let name = value["name"]?.text, let readTime = value["readTime"].flatMap(json.version),
      let bundled = value["bundledQuery"], let query = json.query(bundled)
    else { throw invalid("a named query is not complete") }
    return NamedQuery(name: name, query: query, readTime: readTime)
  }

  private mutating func announce(_ value: JSONValue) throws(BundleError) {
    guard let key = value["name"]?.text.flatMap(json.key),
      let readTime = value["readTime"].flatMap(json.version)
    else { throw invalid("a document has no name or no time") }
    var names: [String] = []
    if case .array(let elements) = value["queries"] ?? .null { names = elements.compactMap(\.text) }
    if value["exists"] == .bool(true) {
      announced = (key, readTime, names)
    } else {
      documents.append(
        BundledDocument(
          document: Document(key, .missing, version: readTime), readTime: readTime,
          queries: names))
    }
  }
}
