package import TernCore
package import TernStorage

/// The rows of one document database in a server's store, below a prefix.
///
/// Source: Docs/Formats/document-rows.md.
///
/// Every function computes keys and reads nothing. A scope follows the kind in all rows that belong
/// to one collection or group, so that its documents and the entries of each index lie side by
/// side.
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
    /// The one row of ``DatabaseState``.
    case state = 0
    /// Scope of the collection, id: a document.
    case document = 1
    /// Path: the scope of a collection.
    case collection = 2
    /// Id: the scope of the nested collections of that id.
    case group = 3
    /// Scope, field, claim, value, reference: an entry of a field.
    case entry = 4
    /// Scope, number: a ``CompositeIndex``.
    case definition = 5
    /// Number, values, reference: an entry of such an index.
    case composite = 6
    /// Scope, version, number: a ``ReverseChange``, or a pointer to one.
    case change = 7
    /// The one row of the latest version whose changes were forgotten.
    case forgotten = 8
  }

  /// The most bytes of the encoding of a field path, and of what names a document in an index.
  enum Limits {
    /// Field paths beyond it end in their hash; queries hash theirs in the same way.
    static let fieldBytes = 512
    /// References beyond it end in their hash, and the row holds the path as its value.
    static let referenceBytes = 2_000
    /// Paths of collections beyond it end in their hash.
    static let pathBytes = 3_000
    /// The bytes of the encoding of a path that its row always begins with.
    static let exactPathBytes = pathBytes - 20
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
  /// The prefix of all rows of a kind.
  func key(_ kind: Kind) -> [UInt8] { prefix + [kind.rawValue] }

  /// The prefix of all rows of a kind in one scope, or of one composite index.
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

  /// The rows of all collections whose path begins with `text`, a slash or the end following.
  ///
  /// Where keys had to be cut, rows of other collections are among them: the path in the value
  /// decides.
  func collections(below text: String) -> KeyRange {
    KeyRange(
      prefix: key(.collection) + DocumentRows.encodedPath(text).prefix(Limits.exactPathBytes))
  }

  /// The segments of a path in order, whole.
  static func encodedPath(_ text: String) -> [UInt8] {
    var path: [UInt8] = []
    text.withSpan { OrderedBytes.appendSegments(of: $0, to: &path) }
    return path
  }

  /// Returns the segments of a path without an end, cut to the limit.
  static func abbreviatedPath(_ text: String) -> [UInt8] {
    OrderedBytes.abbreviated(encodedPath(text), to: Limits.pathBytes)
  }

  /// The row that gives the nested collections of an id their number.
  func groupKey(_ id: String) -> [UInt8] {
    key(.group) + DocumentRows.abbreviatedPath(id)
  }

  /// The row that tells what a document was before a commit.
  ///
  /// - Parameters:
  ///   - scope: The collection that has the document, or the group.
  ///   - index: The number of the change in its commit.
  func changeKey(_ scope: ScopeNumber, _ version: DocumentVersion, index: UInt32) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(key(.change, scope))
    writer.append(bigEndian: version.microseconds)
    writer.append(bigEndian: index)
    return writer.bytes
  }

  /// The rows of the changes of a commit.
  func changes(_ scope: ScopeNumber, of version: DocumentVersion) -> KeyRange {
    let next = DocumentVersion(microseconds: version.microseconds + 1)
    return KeyRange(
      from: changeKey(scope, version, index: 0), to: changeKey(scope, next, index: 0))
  }

  /// The rows of changes after a commit.
  ///
  /// Versions ascend within a scope, so these are the rows behind one key.
  func changes(_ scope: ScopeNumber, after version: DocumentVersion) -> KeyRange {
    let end = KeyRange.successor(ofPrefix: key(.change, scope))
    let next = DocumentVersion(microseconds: version.microseconds + 1)
    return KeyRange(from: changeKey(scope, next, index: 0), to: end)
  }
}

/// The reference to a document at the end of an index row.
///
/// In byte order, references are in key order, except for those that had to be cut.
///
/// An index row ends in the reference, `01`, and the count of both in 2 bytes. The count makes the
/// reference readable from the back, where values of unknown length precede it.
enum DocumentReference {
  /// A document of a collection that the row names.
  ///
  /// Returns the id as one path segment.
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
  ///
  /// Returns the whole path.
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

  /// Appends the end and the count.
  private static func ended(_ reference: [UInt8]) -> [UInt8] {
    var bytes = reference
    OrderedBytes.endPath(&bytes)
    let count = UInt16(bytes.count)
    bytes.append(UInt8(count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: count))
    return bytes
  }

  /// Returns the offset of the reference in an index row's key; `nil` when the key has none.
  ///
  /// The result may be wrong for a damaged key; callers compare it with what must come before.
  static func start(in key: [UInt8]) -> Int? {
    guard key.count > 3 else { return nil }
    let count = Int(key[key.count - 2]) << 8 | Int(key[key.count - 1])
    let start = key.count - 2 - count
    return start >= 0 ? start : nil
  }
}
