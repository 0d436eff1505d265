package import TernCore

/// The names of one message: all of them lie in one database, which the first one tells.
///
/// A name on the wire is `projects/P/databases/D/documents/` and a path. Comparing the prefix as
/// bytes spares splitting and checking it for every document of a message. As ``database`` is set
/// once, a message cannot mix databases, except in reference values, which may lead anywhere.
package struct DocumentNames: Sendable {
  /// The database; `nil` until a name was met.
  package private(set) var database: DocumentDatabase?
  /// `projects/P/databases/D/documents/` in bytes.
  private(set) var prefix: [UInt8] = []

  /// Takes the database from the first name that is read.
  package init() {}

  /// Reads and writes names of this database only.
  package init(_ database: DocumentDatabase) {
    self.database = database
    prefix = Array((database.documentsName + "/").utf8)
  }

  /// Reads `projects/P/databases/D`.
  ///
  /// - Throws: ``DocumentWireError/document(_:)`` for another form,
  ///   ``DocumentWireError/severalDatabases(_:_:)`` for another database than that of earlier
  ///   names.
  mutating func readDatabase(_ text: String) throws(DocumentWireError) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 4, parts[0] == "projects", parts[2] == "databases" else {
      throw .document(.invalidResourceName(text))
    }
    try settle(on: parts[1], parts[3], in: text)
  }

  /// The first four segments of a name.
  ///
  /// The result is not checked; it may be shorter for a text that is no name.
  static func databaseName(in text: String) -> String {
    text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
      .prefix(4).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
  }

  /// Reads the name of a document.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - range: The position of the name in it, which is UTF-8.
  /// - Throws: ``DocumentWireError/document(_:)`` for a text that names no document of a database.
  mutating func key(
    _ bytes: [UInt8], _ range: Range<Int>
  ) throws(DocumentWireError) -> DocumentKey {
    let text = try relative(bytes, range)
    guard let text, !text.isEmpty else {
      throw .document(.invalidResourceName(String(decoding: bytes[range], as: UTF8.self)))
    }
    return try Self.key(text)
  }

  /// Reads the path of a document. Unlike in programs, it has no slash at either end.
  private static func key(_ path: String) throws(DocumentWireError) -> DocumentKey {
    do throws(DocumentError) {
      let key = try DocumentKey(path)
      if key.text.utf8.count != path.utf8.count { throw .emptySegment(path: path) }
      return key
    } catch {
      throw .document(error)
    }
  }

  /// Reads what documents or collections are below: a document, or the root.
  ///
  /// - Returns: `nil` for the root, `…/documents` with or without a slash behind it.
  mutating func parent(_ text: String) throws(DocumentWireError) -> DocumentKey? {
    let bytes = Array(text.utf8)
    guard let path = try relative(bytes, 0..<bytes.count), !path.isEmpty else { return nil }
    return try Self.key(path)
  }

  /// The path behind `…/documents/`; `nil` for the root itself.
  ///
  /// - Throws: ``DocumentWireError/document(_:)`` for a text that is not below `documents` of a
  ///   database.
  private mutating func relative(
    _ bytes: [UInt8], _ range: Range<Int>
  ) throws(DocumentWireError) -> String? {
    // The common case: the database is known, and the name begins with it.
    if !prefix.isEmpty, range.count > prefix.count, bytes[range].starts(with: prefix) {
      let path = range.lowerBound + prefix.count..<range.upperBound
      return String(decoding: bytes[path], as: UTF8.self)
    }
    let text = String(decoding: bytes[range], as: UTF8.self)
    let parts = text.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count >= 5, parts[0] == "projects", parts[2] == "databases",
      parts[4] == "documents"
    else { throw .document(.invalidResourceName(text)) }
    try settle(on: parts[1], parts[3], in: text)
    return parts.count == 6 ? parts[5] : nil
  }

  /// Takes the first database, and compares every further one with it.
  ///
  /// - Parameter text: The whole name, for the error.
  private mutating func settle(
    on project: String, _ id: String, in text: String
  ) throws(DocumentWireError) {
    let found: DocumentDatabase
    do throws(DocumentError) {
      found = try DocumentDatabase(projectID: project, databaseID: id)
    } catch {
      throw .document(error)
    }
    if let database {
      if database != found { throw .severalDatabases(database.resourceName, text) }
      return
    }
    self = DocumentNames(found)
  }

  /// The database of a message, which must have told one.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` when no name was read.
  func required() throws(DocumentWireError) -> DocumentDatabase {
    guard let database else { throw .member("the request names no database") }
    return database
  }
}

extension ProtoWriter {
  /// The name of a document.
  ///
  /// Prefix and path are written as two pieces, so that no name is put together.
  mutating func key(_ field: Int, _ key: DocumentKey, _ names: DocumentNames) {
    key.text.withSpan { put(field, names.prefix.span, $0) }
  }

  /// The name of what a collection is below.
  ///
  /// - Parameter key: `nil` for the root, which is the prefix without its last slash.
  mutating func parent(_ field: Int, _ key: DocumentKey?, _ names: DocumentNames) {
    if let key { return self.key(field, key, names) }
    put(field, names.prefix.span.extracting(..<max(names.prefix.count - 1, 0)))
  }

  /// Writes `projects/P/databases/D`; nothing when no database is known.
  mutating func database(_ field: Int, _ names: DocumentNames) {
    string(field, names.database?.resourceName ?? "")
  }
}
