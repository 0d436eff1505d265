package import TernCore
package import TernQuery

/// One element of a bundle. Source: documents reference, section 5.13.
package enum DocumentBundleElement: Hashable, Sendable {
  case metadata(DocumentBundleMetadata)
  case namedQuery(DocumentBundleQuery)
  case documentMetadata(DocumentBundleEntry)
  /// A document that exists, after the metadata about it.
  case document(Document)

  /// Reads one element.
  ///
  /// - Parameters:
  ///   - json: The JSON object, without the length before it.
  ///   - database: The database that all names must lead into.
  /// - Throws: ``DocumentWireError``: the bundle is of no use.
  package static func decode(
    json: [UInt8], in database: DocumentDatabase
  ) throws(DocumentWireError) -> DocumentBundleElement {
    var reader = ProtoReader(try DocumentJSON.binary(Firestore_BundleElement.self, json: json))
    var names = DocumentNames(database)
    return try reader.bundleElement(&names)
  }
}

/// What a bundle says about itself, first of all.
package struct DocumentBundleMetadata: Hashable, Sendable {
  package var id = ""
  package var created = DocumentVersion.none
  /// The version of the format; 1 is the only one.
  package var formatVersion: UInt64 = 0
  package var documentCount: UInt64 = 0
  /// The bytes of all elements but this one, lengths included.
  package var byteCount: UInt64 = 0
}

/// A query that a bundle gives a name.
package struct DocumentBundleQuery: Hashable, Sendable {
  package var name: String
  package var query: DocumentQuery
  /// As of when the bundle holds its result.
  package var readTime: DocumentVersion
}

/// What a bundle says about one document.
package struct DocumentBundleEntry: Hashable, Sendable {
  package var key: DocumentKey
  package var readTime: DocumentVersion
  package var exists: Bool
  /// The named queries whose result the document belongs to.
  package var queries: [String]
}

extension ProtoReader {
  fileprivate mutating func bundleElement(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentBundleElement {
    guard let field = try next() else { throw .member("an element of a bundle says nothing") }
    var message = try message()
    switch field {
    case 1: return .metadata(try message.bundleMetadata())
    case 2: return .namedQuery(try message.namedQuery(&names))
    case 3: return .documentMetadata(try message.bundleEntry(&names))
    case 4: return .document(try message.document(&names).named())
    default: throw .member("an element of a bundle says nothing")
    }
  }

  private mutating func bundleMetadata() throws(DocumentWireError) -> DocumentBundleMetadata {
    var metadata = DocumentBundleMetadata()
    while let field = try next() {
      switch field {
      case 1: metadata.id = try string()
      case 2: metadata.created = try version()
      case 3: metadata.formatVersion = try varint()
      case 4: metadata.documentCount = try varint()
      case 5: metadata.byteCount = try varint()
      default: try skip()
      }
    }
    return metadata
  }

  private mutating func namedQuery(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentBundleQuery {
    var name = ""
    var query: DocumentQuery?
    var time = DocumentVersion.none
    while let field = try next() {
      switch field {
      case 1: name = try string()
      case 2:
        var message = try message()
        query = try message.bundledQuery(&names)
      case 3: time = try version()
      default: try skip()
      }
    }
    guard let query, !name.isEmpty else { throw .member("a named query has a name and a query") }
    return DocumentBundleQuery(name: name, query: query, readTime: time)
  }

  private mutating func bundledQuery(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentQuery {
    var parent: DocumentKey?
    var message: ProtoReader?
    var isLast = false
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: message = try self.message()
      case 3: isLast = try varint() == 1
      default: try skip()
      }
    }
    guard var message else { throw .member("a named query has a name and a query") }
    let query = try message.query(below: parent, names)
    guard isLast, let limit = query.limit else { return query }
    do throws(DocumentQueryError) { return try query.last(limit.count) } catch {
      throw .query(error)
    }
  }

  private mutating func bundleEntry(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentBundleEntry {
    var key: DocumentKey?
    var time = DocumentVersion.none
    var exists = false
    var queries: [String] = []
    while let field = try next() {
      switch field {
      case 1: key = try names.key(bytes, try text())
      case 2: time = try version()
      case 3: exists = try bool()
      case 4: queries.append(try string())
      default: try skip()
      }
    }
    guard let key else { throw .member("a document of a bundle has no name") }
    return DocumentBundleEntry(key: key, readTime: time, exists: exists, queries: queries)
  }
}
