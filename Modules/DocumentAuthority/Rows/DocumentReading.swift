import TernCore
import TernStorage

/// The cost of a read.
///
/// Look-ups of the state and of the numbers of collections do not count.
package struct DocumentCost: Hashable, Sendable {
  /// The number of index rows read.
  package internal(set) var entriesRead = 0
  /// The number of documents read.
  package internal(set) var documentsRead = 0

  /// All rows that were looked at.
  package var rowsRead: Int { entriesRead + documentsRead }
}

/// Reads the documents of one state of a store, and counts what it reads.
///
/// It lives no longer than the snapshot that its reader is of.
///
/// It caches what stays the same within the snapshot: numbers of collections, and definitions of
/// indexes. One thread uses it. Every read throws ``StorageError/corruptRecord(key:)`` for a row
/// that is damaged.
final class DocumentReading {
  let rows: DocumentRows
  /// The state that is read. A batch's own changes may lie over it.
  let reader: any StoreReader
  /// Callers that read rows by themselves add to it.
  var cost = DocumentCost()
  /// Numbers of the collections that were found.
  private var scopes: [CollectionPath: ScopeNumber] = [:]
  private var composites: [ScopeNumber: [CompositeIndex]] = [:]

  init(_ rows: DocumentRows, _ reader: any StoreReader) {
    self.rows = rows
    self.reader = reader
  }

  /// Returns the value of a row; `nil` when there is none.
  func get(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    let reader = reader
    return try Snapshot(reader).get(key)
  }

  /// Returns the rows of a range.
  ///
  /// - Parameter limit: The most rows. Without one, the caller knows that the range is small.
  func scan(
    _ range: KeyRange, isReversed: Bool = false, limit: Int = .max
  ) throws(StorageError) -> [Row] {
    let reader = reader
    return try Snapshot(reader).scan(range, isReversed: isReversed, limit: limit)
  }

  /// The first rows of a range.
  ///
  /// - Returns: At most `limit` rows, and no more behind the one that exceeds `limitBytes`; and
  ///   `true` when no row of the range is behind them.
  /// - Complexity: O(rows returned); values are copied.
  func page(
    _ range: KeyRange, isReversed: Bool, limit: Int, limitBytes: Int
  ) throws(StorageError) -> (rows: [Row], isLast: Bool) {
    let reader = reader
    let snapshot = Snapshot(reader)
    var cursor = snapshot.cursor(over: range, isReversed: isReversed, limit: limit)
    var rows: [Row] = []
    var byteCount = 0
    while byteCount <= limitBytes {
      guard try cursor.next() else { return (rows, rows.count < limit) }
      let row = Row(key: [UInt8](copying: cursor.key), value: [UInt8](copying: cursor.value))
      byteCount += row.key.count + row.value.count
      rows.append(row)
    }
    return (rows, false)
  }

  /// Returns `true` if a range has a row. No value is copied.
  func holdsRows(_ range: KeyRange) throws(StorageError) -> Bool {
    let reader = reader
    let snapshot = Snapshot(reader)
    var cursor = snapshot.cursor(over: range, limit: 1)
    return try cursor.next()
  }

  /// The first key of a range, also that of a damaged record; `nil` when there is none.
  ///
  /// The sweep needs it, which removes rows by their keys, whatever is in them.
  ///
  /// - Parameter isReversed: Whether it is the last key instead.
  func firstKey(in range: KeyRange, isReversed: Bool = false) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) {
      return try scan(range, isReversed: isReversed, limit: 1).first?.key
    } catch {
      guard case .corruptRecord(let key) = error, range.contains(key.span) else { throw error }
      return key
    }
  }

  /// Returns the persistent state of the database.
  ///
  /// - Returns: That of an empty database before the first commit.
  func state() throws(StorageError) -> DatabaseState {
    let key = rows.key(.state)
    guard let bytes = try get(key) else { return DatabaseState() }
    guard let state = DatabaseState(bytes) else { throw .corruptRecord(key: key) }
    return state
  }

  /// The number of a collection; `nil` when no document was ever in it.
  func scope(of collection: CollectionPath) throws(StorageError) -> ScopeNumber? {
    if let scope = scopes[collection] { return scope }
    let scope = try scope(under: rows.collectionKey(collection))
    scopes[collection] = scope
    return scope
  }

  /// The number of the nested collections of an id; `nil` when no document was ever in one.
  func scope(ofGroup id: String) throws(StorageError) -> ScopeNumber? {
    try scope(under: rows.groupKey(id))
  }

  /// - Parameter key: The row of a collection or a group, whose value begins with the number.
  private func scope(under key: [UInt8]) throws(StorageError) -> ScopeNumber? {
    guard let bytes = try get(key) else { return nil }
    var reader = ByteReader(bytes)
    guard let scope = reader.bigEndian(ScopeNumber.self) else { throw .corruptRecord(key: key) }
    return scope
  }

  /// A document as it is; missing at no version when there is none.
  ///
  /// - Complexity: Two look-ups: the number of the collection, unless it is known, and the
  ///   document.
  func document(_ key: DocumentKey) throws(StorageError) -> Document {
    guard let scope = try scope(of: key.collection) else { return Document(key, .missing) }
    return try document(key, in: scope)
  }

  /// A document of the collection with that number.
  func document(_ key: DocumentKey, in scope: ScopeNumber) throws(StorageError) -> Document {
    cost.documentsRead += 1
    let row = rows.documentKey(scope, key)
    let reader = reader
    let found = try Snapshot(reader).withValue(for: row.span) { value throws(StorageError) in
      guard let document = StoredDocument.decode(value, key) else {
        throw .corruptRecord(key: row)
      }
      return document
    }
    return found ?? Document(key, .missing)
  }

  /// Returns `true` if the collection with that number contains a document.
  func holdsDocuments(_ scope: ScopeNumber) throws(StorageError) -> Bool {
    cost.entriesRead += 1
    return try holdsRows(KeyRange(prefix: rows.key(.document, scope)))
  }

  /// The indexes over several fields of a scope.
  func composites(of scope: ScopeNumber) throws(StorageError) -> [CompositeIndex] {
    if let indexes = composites[scope] { return indexes }
    var indexes: [CompositeIndex] = []
    for row in try scan(KeyRange(prefix: rows.key(.definition, scope))) {
      guard let index = CompositeIndex(row.value) else { throw .corruptRecord(key: row.key) }
      indexes.append(index)
    }
    composites[scope] = indexes
    return indexes
  }
}
