package import TernCore
package import TernStorage

/// The rows of one document database in a server's store, below a prefix.
///
/// Source: Docs/Formats/document-rows.md.
package struct DocumentRows: Hashable, Sendable {
  /// The prefix of every key of this database. Other users of the store must not use keys that
  /// begin with it.
  package let prefix: [UInt8]
  /// The database, for what names documents in full.
  package let database: DocumentDatabase

  /// A database below `prefix`.
  package init(prefix: [UInt8], database: DocumentDatabase) {
    self.prefix = prefix
    self.database = database
  }

  /// Everything the database has in the store.
  package var range: KeyRange { KeyRange(prefix: prefix) }

  /// The kind of a row; the byte after the prefix.
  enum Kind: UInt8 {
    case state = 0
    case document = 1
    case collection = 2
    case group = 3
    case entry = 4
    case definition = 5
    case composite = 6
    case change = 7
  }

  /// The most bytes of the encoding of a field path, and of what names a document in an index.
  enum Limits {
    static let fieldBytes = 512
    static let referenceBytes = 2_000
    static let pathBytes = 3_000
    /// The most bytes of an index's row besides the prefix and what names the document: kind,
    /// scope, field, claim, value, and what ends the row.
    static let indexBytes = 1 + 4 + fieldBytes + 1 + IndexValue.limitBytes + 3
  }

  /// The most bytes of what names a document in an index: fewer where the name of the database is
  /// so long that the row would not be one a store takes.
  var referenceBytes: Int {
    min(Limits.referenceBytes, StorageLimits.keyBytes - prefix.count - Limits.indexBytes)
  }
}

/// The number that stands for a collection, or for the nested collections of a group.
typealias ScopeNumber = UInt32

extension DocumentRows {
  func key(_ kind: Kind) -> [UInt8] { prefix + [kind.rawValue] }

  func key(_ kind: Kind, _ scope: ScopeNumber) -> [UInt8] {
    var bytes = key(kind)
    for shift in [24, 16, 8, 0] as [UInt32] {
      bytes.append(UInt8(truncatingIfNeeded: scope >> shift))
    }
    return bytes
  }

  /// The row of a document, by what names it in its collection.
  func documentKey(_ scope: ScopeNumber, _ key: DocumentKey) -> [UInt8] {
    self.key(.document, scope) + DocumentReference.inCollection(key)
  }

  /// The row that gives a collection its number.
  func collectionKey(_ path: CollectionPath) -> [UInt8] {
    key(.collection) + DocumentRows.abbreviatedPath(path.text)
  }

  /// The rows of collections whose path begins with `text`, a slash or the end following.
  func collections(below text: String) -> KeyRange {
    KeyRange(prefix: key(.collection) + DocumentRows.abbreviatedPath(text))
  }

  static func abbreviatedPath(_ text: String) -> [UInt8] {
    var path: [UInt8] = []
    text.withSpan { OrderedBytes.appendSegments(of: $0, to: &path) }
    return OrderedBytes.abbreviated(path, to: Limits.pathBytes)
  }

  /// The row that gives the nested collections of an id their number.
  func groupKey(_ id: String) -> [UInt8] {
    key(.group) + DocumentRows.abbreviatedPath(id)
  }

  /// The row that tells what a document was before a commit.
  func changeKey(_ scope: ScopeNumber, _ version: DocumentVersion, index: UInt32) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(key(.change, scope))
    writer.append(bigEndian: version.microseconds)
    writer.append(bigEndian: index)
    return writer.bytes
  }

  /// The rows of changes after a commit.
  func changes(_ scope: ScopeNumber, after version: DocumentVersion) -> KeyRange {
    let end = KeyRange.successor(ofPrefix: key(.change, scope))
    let next = DocumentVersion(microseconds: version.microseconds + 1)
    return KeyRange(from: changeKey(scope, next, index: 0), to: end)
  }
}

/// The reference to a document at the end of an index row.
///
/// In byte order, references are in key order, except for those that had to be cut.
enum DocumentReference {
  /// A document of a collection that the row names.
  static func inCollection(_ key: DocumentKey) -> [UInt8] {
    var bytes: [UInt8] = []
    key.text.withSpan { text in
      var start = text.count
      while start > 0, text[start - 1] != UInt8(ascii: "/") { start -= 1 }
      OrderedBytes.appendSegments(of: text.extracting(start..<text.count), to: &bytes)
    }
    return bytes
  }

  /// A document anywhere.
  static func inGroup(_ key: DocumentKey) -> [UInt8] {
    var bytes: [UInt8] = []
    key.text.withSpan { OrderedBytes.appendSegments(of: $0, to: &bytes) }
    return bytes
  }

  /// The end of an index's row: the reference and how long it is; and the value of such rows,
  /// empty unless the reference had to be cut.
  ///
  /// - Parameter limit: ``DocumentRows/referenceBytes``.
  static func row(
    _ reference: [UInt8], _ key: DocumentKey, limit: Int
  ) -> (bytes: [UInt8], value: [UInt8]) {
    let value = reference.count <= limit ? [] : Array(key.text.utf8)
    return (ended(OrderedBytes.abbreviated(reference, to: limit)), value)
  }

  private static func ended(_ reference: [UInt8]) -> [UInt8] {
    var bytes = reference
    OrderedBytes.endPath(&bytes)
    let count = UInt16(bytes.count)
    bytes.append(UInt8(count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: count))
    return bytes
  }

  /// Returns the offset of the reference in an index row's key; `nil` when the key has none.
  static func start(in key: [UInt8]) -> Int? {
    guard key.count > 3 else { return nil }
    let count = Int(key[key.count - 2]) << 8 | Int(key[key.count - 1])
    let start = key.count - 2 - count
    return start >= 0 ? start : nil
  }
}
