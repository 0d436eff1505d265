import TernCore
import TernLedger
package import TernStorage

/// The check of a database's rows against each other.
///
/// It reads and repairs nothing. An operator runs it by way of the check of a store.
package struct DocumentInspection: Sendable {
  private let rows: DocumentRows

  /// The check of the database below `prefix`.
  package init(prefix: [UInt8]) { rows = DocumentRows(prefix: prefix) }

  /// Compares the indexes with the documents, and tells what does not fit.
  ///
  /// For each document the entries that it must have are made again and looked up. Then all entries
  /// are counted: more of them than were expected belong to no document.
  ///
  /// - Parameters:
  ///   - reader: One state of the store.
  ///   - tell: Called with a sentence for each finding.
  /// - Returns: The number of documents.
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a document or a definition that cannot be
  ///   read.
  /// - Complexity: O(*rows of the database*).
  package func verify(
    in reader: any StoreReader, tell: (String) -> Void
  ) throws(StorageError) -> Int {
    let reading = DocumentReading(rows, reader)
    var (documents, expected) = (0, 0)
    let partial = try partialIndexes(reading)
    let snapshot = Snapshot(reader)
    var collections = snapshot.cursor(over: KeyRange(prefix: rows.key(.collection)))
    while try collections.next() {
      var bytes = ByteReader([UInt8](copying: collections.value))
      guard let scope = bytes.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: [UInt8](copying: collections.key))
      }
      let text = String(decoding: [UInt8](copying: collections.value).dropFirst(4), as: UTF8.self)
      let place = DocumentScope(number: scope, collection: CollectionPath(unchecked: text))
      let range = KeyRange(prefix: rows.key(.document, scope))
      var cursor = snapshot.cursor(over: range)
      while try cursor.next() {
        let key = [UInt8](copying: cursor.key)
        guard let name = place.key(key, from: range.lower.count),
          let document = StoredDocument.decode(cursor.value, name)
        else { throw .corruptRecord(key: key) }
        documents += 1
        expected += try check(document, reading, partial, tell)
      }
    }
    let found = try count(.entry, in: snapshot) + countComposites(partial, in: snapshot)
    if found > expected { tell("\(found - expected) index entries belong to no document") }
    return documents
  }

  /// Looks for the entries of one document.
  ///
  /// - Parameter partial: What the rows of unbuilt indexes begin with; documents may lack entries
  ///   there.
  /// - Returns: Their number.
  private func check(
    _ document: Document, _ reading: DocumentReading, _ partial: Set<[UInt8]>,
    _ tell: (String) -> Void
  ) throws(StorageError) -> Int {
    // The writer of commits says which rows a document has, as if it were made now. Nothing is
    // stored.
    var writer = try DocumentRowWriter(reading, version: document.version)
    let missing = Document(document.key, .missing)
    try writer.write(DocumentCommitChange(before: missing, after: document), index: 0)
    var count = 0
    for case .put(let key, let value) in writer.mutations {
      let kind = key[rows.prefix.count]
      let isEntry = kind == DocumentRows.Kind.entry.rawValue
      guard isEntry || kind == DocumentRows.Kind.composite.rawValue else { continue }
      if !isEntry, partial.contains(Array(key.prefix(rows.prefix.count + 5))) { continue }
      count += 1
      if try reading.get(key) != value {
        tell("\(document.key) is missing from an index")
        return count
      }
    }
    return count
  }

  /// The beginnings of the rows of indexes that are still being built.
  ///
  /// Each has the prefix of the database, the kind, and the number of the index in 4 bytes.
  private func partialIndexes(_ reading: DocumentReading) throws(StorageError) -> Set<[UInt8]> {
    var partial: Set<[UInt8]> = []
    for row in try reading.scan(KeyRange(prefix: rows.key(.definition))) {
      guard let index = CompositeIndex(row.value) else { throw .corruptRecord(key: row.key) }
      if index.builtUpTo != nil { partial.insert(rows.key(.composite, index.number)) }
    }
    return partial
  }

  /// Counts the rows of a kind.
  private func count(
    _ kind: DocumentRows.Kind, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> Int {
    var count = 0
    var cursor = snapshot.cursor(over: KeyRange(prefix: rows.key(kind)))
    while try cursor.next() { count += 1 }
    return count
  }

  /// Counts the entries of the indexes that are built.
  private func countComposites(
    _ partial: Set<[UInt8]>, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> Int {
    var count = 0
    let length = rows.prefix.count + 5
    var cursor = snapshot.cursor(over: KeyRange(prefix: rows.key(.composite)))
    while try cursor.next() {
      if partial.isEmpty || !partial.contains(Array([UInt8](copying: cursor.key).prefix(length))) {
        count += 1
      }
    }
    return count
  }
}
