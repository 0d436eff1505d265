import TernCore
import TernQuery
import TernStorage

/// A walk over the collections below a path, which leaps over what lies below one name.
///
/// It walks the rows of kind `02`, which map the path of a collection to its scope. They outlive
/// the documents of the collection, so a row promises only that there was a document once;
/// ``holdsDocuments(below:)`` tells whether there is one. The value of a row is the scope in 4
/// bytes and the path in UTF-8, as the key may hold the path cut.
struct CollectionRows {
  private let reading: DocumentReading
  /// The rows that are still ahead. Every leap raises its lower bound.
  private var range: KeyRange
  private let time: DocumentVersion?
  /// The reason why documents cannot be looked up at `time`; `nil` as long as they can.
  private(set) var failure: DocumentStatus?

  /// - Parameters:
  ///   - text: A document or a collection; empty for everything.
  ///   - time: The version at which documents are looked up; `nil` for now.
  init(_ reading: DocumentReading, below text: String, at time: DocumentVersion? = nil) {
    self.reading = reading
    self.time = time
    range = reading.rows.collections(below: text)
  }

  /// The first name after `base` on the way to a collection; `nil` when there are no more.
  ///
  /// The walk stays at the row it has found: a caller leaps on with ``skip(_:)`` once it is done
  /// with the name. Otherwise the same name comes again.
  ///
  /// - Parameter base: A path and its slash; empty at the root.
  /// - Complexity: One row for each name, whatever lies below it.
  mutating func nextName(after base: String) throws(StorageError) -> String? {
    while let row = try reading.scan(range, limit: 1).first {
      reading.cost.entriesRead += 1
      let text = String(decoding: row.value.dropFirst(4), as: UTF8.self)
      // Paths that were cut may stand here by their hash, and a collection by itself.
      guard text.utf8.count > base.utf8.count, text.utf8.starts(with: base.utf8) else {
        range.lower = row.key + [0]
        continue
      }
      let rest = text.utf8.dropFirst(base.utf8.count)
      return String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }
    return nil
  }

  /// Leaps over everything before a path.
  ///
  /// A path that the walk has passed moves nothing.
  mutating func begin(at path: String) {
    let first = reading.rows.collections(below: path).lower
    if bytesPrecede(range.lower, first) { range.lower = first }
  }

  /// Leaps over everything at and below a path.
  ///
  /// Rows before the path are leapt over as well, as the walk never moves back.
  mutating func skip(_ path: String) {
    let passed = reading.rows.collections(below: path)
    if let end = passed.upper, bytesPrecede(range.lower, end) { range.lower = end }
  }

  /// Returns `true` if a collection at or below a path contains a document.
  ///
  /// - Complexity: O(collections at and below the path) until the first with a document. At an
  ///   earlier time, also the changes of each since then.
  mutating func holdsDocuments(below path: String) throws(StorageError) -> Bool {
    let walk = EntryWalk(reading, [reading.rows.collections(below: path)], isReversed: false)
    while let row = try walk.current() {
      walk.advance()
      var reader = ByteReader(row.value)
      guard let scope = reader.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      let text = String(decoding: row.value.dropFirst(4), as: UTF8.self)
      if try holdsDocuments(scope, CollectionPath(unchecked: text)) { return true }
    }
    return false
  }

  /// - Parameter scope: The number of `collection`.
  private mutating func holdsDocuments(
    _ scope: ScopeNumber, _ collection: CollectionPath
  ) throws(StorageError) -> Bool {
    guard let time else { return try reading.holdsDocuments(scope) }
    let past: PastDocuments
    switch try PastDocuments.read(.collection(collection), at: time, reading) {
    case .failure(let status):
      failure = status
      return false
    case .success(let found): past = found
    }
    if past.documents.values.contains(where: \.isFound) { return true }
    // What is there now was there then, unless it is among what has changed since.
    let place = DocumentScope(number: scope, collection: collection)
    let range = KeyRange(prefix: reading.rows.key(.document, scope))
    let prefixCount = range.lower.count
    let walk = EntryWalk(reading, [range], isReversed: false)
    while let row = try walk.current() {
      walk.advance()
      guard let key = place.key(row.key, from: prefixCount) else {
        throw .corruptRecord(key: row.key)
      }
      if past.documents[key] == nil { return true }
    }
    return false
  }
}

/// The documents of a collection, and the places of those that are missing above others.
///
/// It merges two walks in the order of keys: the rows of documents, page by page, and the names
/// below the collection that have collections with documents. It reads the current state alone.
struct GapScan {
  private let collection: CollectionPath
  private let reading: DocumentReading
  /// The names that have collections below them, ahead of the scan.
  private var rows: CollectionRows
  /// The last document that was read; the next page begins behind it.
  private var after: DocumentKey?

  /// - Parameter after: The last key of the page before; `nil` for the first page.
  init(_ collection: CollectionPath, _ reading: DocumentReading, after: DocumentKey?) {
    self.collection = collection
    self.reading = reading
    self.after = after
    rows = CollectionRows(reading, below: collection.text)
    if let after { rows.skip(after.text) }
  }

  /// The next documents by key; missing ones as such.
  ///
  /// - Returns: At most `count`, and no more behind the one that exceeds `limitBytes`.
  mutating func next(_ count: Int, limitBytes: Int) throws(StorageError) -> [Document] {
    var documents: [Document] = []
    var byteCount = 0
    var existing = try existing()[...]
    var missing = try nextMissing()
    while documents.count < count, byteCount <= limitBytes {
      switch (existing.first, missing) {
      case (nil, nil): return documents
      // A document that exists comes first, also where its key is the next name with collections.
      case (let document?, let key) where key.map { document.key <= $0 } ?? true:
        documents.append(document)
        byteCount += document.fields?.bytes.count ?? 0
        existing = existing.dropFirst()
        if key == document.key { missing = try nextMissing() }
      case (_, let key?):
        documents.append(Document(key, .missing))
        missing = try nextMissing()
      case (_, nil): return documents
      }
      if existing.isEmpty, let last = documents.last {
        after = last.key
        existing = try self.existing()[...]
      }
    }
    return documents
  }

  /// The documents that are read at a time. A page of an answer has at most 300.
  private static let pageRows = 64

  /// Reads the next documents behind ``after``; none at the end of the collection.
  private func existing() throws(StorageError) -> [Document] {
    guard let scope = try reading.scope(of: collection) else { return [] }
    var range = KeyRange(prefix: reading.rows.key(.document, scope))
    let prefixCount = range.lower.count
    if let after { range.lower = reading.rows.documentKey(scope, after) + [0] }
    var documents: [Document] = []
    let place = DocumentScope(number: scope, collection: collection)
    for row in try reading.scan(range, limit: GapScan.pageRows) {
      reading.cost.documentsRead += 1
      guard let key = place.key(row.key, from: prefixCount),
        let document = StoredDocument.decode(row.value.span, key)
      else { throw .corruptRecord(key: row.key) }
      documents.append(document)
    }
    return documents
  }

  /// Returns the next key that has a document below it, whether or not a document has that key.
  private mutating func nextMissing() throws(StorageError) -> DocumentKey? {
    let base = collection.text + "/"
    while let id = try rows.nextName(after: base) {
      let path = base + id
      let isThere = try rows.holdsDocuments(below: path)
      rows.skip(path)
      if isThere { return DocumentKey(unchecked: path) }
    }
    return nil
  }
}
