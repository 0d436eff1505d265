/// The path of a document in its database: collection, id, collection, id, and so on.
///
/// Keys are equal when their bytes are, and sort segment by segment.
/// Source: documents reference, sections 1.1 and 1.2.
public struct DocumentKey: Hashable, Sendable {
  let path: PathText

  /// Takes over a path after checking it; a slash at either end is dropped.
  ///
  /// - Parameter text: An even number of ids joined by `/`.
  /// - Throws: ``DocumentError/notDocument(path:)``, ``DocumentError/emptySegment(path:)``, or
  ///   an error about an id or a length.
  public init(_ text: String) throws(DocumentError) {
    path = try PathText(text)
    let count = path.segmentCount
    if count == 0 || count % 2 != 0 { throw .notDocument(path: text) }
  }

  init(path: PathText) { self.path = path }

  /// Takes over the path of a document that is known to be one.
  package init(unchecked text: String) { path = PathText(unchecked: text) }

  /// The ids joined by `/`.
  public var text: String { path.text }

  /// The last id: the name of the document in its collection.
  public var id: String { path.last }

  /// The collection the document is in.
  public var collection: CollectionPath { CollectionPath(path: path.parent) }

  /// The id of the collection the document is in.
  public var collectionID: String { path.parent.last }

  /// A collection below the document.
  ///
  /// - Throws: What is wrong with the id, or that the path becomes too long or too deep.
  public func collection(_ id: String) throws(DocumentError) -> CollectionPath {
    CollectionPath(path: try path.appending(id))
  }

  /// The bytes a document of this key has before its first field.
  package var byteCount: Int { path.byteCount + 16 }

  /// Negative, zero or positive as this key sorts before, with or after another.
  package func compare(_ other: DocumentKey) -> Int { path.compare(other.path) }
}

extension DocumentKey: Comparable, CustomStringConvertible {
  public static func < (left: DocumentKey, right: DocumentKey) -> Bool { left.path < right.path }

  public var description: String { text }
}

/// The path of a collection in its database: an odd number of ids.
public struct CollectionPath: Hashable, Sendable {
  let path: PathText

  /// Takes over a path after checking it; a slash at either end is dropped.
  ///
  /// - Parameter text: An odd number of ids joined by `/`.
  /// - Throws: ``DocumentError/notCollection(path:)``, ``DocumentError/emptySegment(path:)``, or
  ///   an error about an id or a length.
  public init(_ text: String) throws(DocumentError) {
    path = try PathText(text)
    if path.segmentCount % 2 != 1 { throw .notCollection(path: text) }
  }

  init(path: PathText) { self.path = path }

  /// Takes over the path of a collection that is known to be one.
  package init(unchecked text: String) { path = PathText(unchecked: text) }

  /// The ids joined by `/`.
  public var text: String { path.text }

  /// The last id: the name of the collection, and of its group.
  public var id: String { path.last }

  /// The document the collection is below; `nil` at the top of the database.
  public var parent: DocumentKey? {
    let parent = path.parent
    return parent.text.isEmpty ? nil : DocumentKey(path: parent)
  }

  /// A document in the collection.
  ///
  /// - Throws: What is wrong with the id, or that the path becomes too long.
  public func document(_ id: String) throws(DocumentError) -> DocumentKey {
    DocumentKey(path: try path.appending(id))
  }

  /// Returns true when a document lies directly in the collection.
  public func contains(_ key: DocumentKey) -> Bool {
    key.text.withSpan { child in
      path.text.withSpan { PathOrder.isChild(child, of: $0) }
    }
  }
}

extension CollectionPath: Comparable, CustomStringConvertible {
  public static func < (left: CollectionPath, right: CollectionPath) -> Bool {
    left.path < right.path
  }

  public var description: String { text }
}
