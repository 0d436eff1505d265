import TernCore
import TernQuery
import TernStorage

/// A walk over the names on the way to the collections below a path, which leaps over what lies
/// below one name.
///
/// Names come in order. The keys of long paths end in hashes, so rows whose keys begin alike for
/// ``DocumentRows/Limits/exactPathBytes`` are searched together for the next names there.
struct CollectionRows {
  /// A name, and the encoding of the path up to it.
  private struct Name {
    let text: String
    let path: [UInt8]
  }

  private let reading: DocumentReading
  /// The path above the names, with a slash; empty at the top.
  private let base: String
  private var range: KeyRange
  /// The encoded path that all names before are passed.
  private var start: [UInt8] = []
  /// The next names out of rows that are not in order, ascending.
  private var names: [Name] = []
  private let time: DocumentVersion?
  /// The reason why documents cannot be looked up at `time`; `nil` as long as they can.
  private(set) var failure: DocumentStatus?

  /// The most names in memory.
  private static let namesLimit = 64

  /// - Parameters:
  ///   - text: A document or a collection; empty for everything.
  ///   - time: The version at which documents are looked up; `nil` for now.
  init(_ reading: DocumentReading, below text: String, at time: DocumentVersion? = nil) {
    self.reading = reading
    self.time = time
    base = text.isEmpty ? "" : text + "/"
    range = reading.rows.collections(below: text)
  }

  /// The first name on the way to a collection; `nil` when there are no more.
  mutating func nextName() throws(StorageError) -> String? {
    if let name = names.first { return name.text }
    while let row = try reading.scan(range, limit: 1).first {
      reading.cost.entriesRead += 1
      guard let name = name(of: row) else {
        range.lower = row.key + [0]
        continue
      }
      if row.key.count <= exactBytes { return name }
      let path = DocumentRows.encodedPath(base + name)
      if path.count <= DocumentRows.Limits.exactPathBytes { return name }
      let alike = KeyRange(prefix: Array(row.key.prefix(exactBytes)))
      names = try names(in: alike)
      if let name = names.first { return name.text }
      guard let end = alike.upper else { return nil }
      range.lower = end
    }
    return nil
  }

  /// The bytes of keys that are in the order of paths.
  private var exactBytes: Int {
    reading.rows.key(.collection).count + DocumentRows.Limits.exactPathBytes
  }

  /// The name on the way to the collection of a row; `nil` when it is not below the path.
  private func name(of row: Row) -> String? {
    let text = String(decoding: row.value.dropFirst(4), as: UTF8.self)
    guard text.utf8.count > base.utf8.count, text.utf8.starts(with: base.utf8) else { return nil }
    let rest = text.utf8.dropFirst(base.utf8.count)
    return String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
  }

  /// The first names, of those that are not passed, out of rows in any order.
  private func names(in range: KeyRange) throws(StorageError) -> [Name] {
    var names: [Name] = []
    let walk = EntryWalk(reading, [range], isReversed: false)
    while let row = try walk.current() {
      walk.advance()
      guard let text = name(of: row) else { continue }
      let path = DocumentRows.encodedPath(base + text)
      if bytesPrecede(path, start) { continue }
      let index = names.firstIndex { !bytesPrecede($0.path, path) } ?? names.count
      if index < names.count, names[index].path == path { continue }
      names.insert(Name(text: text, path: path), at: index)
      if names.count > Self.namesLimit { names.removeLast() }
    }
    return names
  }

  /// Leaps over everything before a name.
  mutating func begin(at name: String) { pass(to: DocumentRows.encodedPath(base + name)) }

  /// Leaps over everything at and below a name.
  mutating func skip(_ name: String) {
    let path = DocumentRows.encodedPath(base + name)
    pass(to: KeyRange.successor(ofPrefix: path) ?? path)
  }

  private mutating func pass(to path: [UInt8]) {
    if bytesPrecede(path, start) { return }
    start = path
    names.removeAll { bytesPrecede($0.path, path) }
    let lower =
      reading.rows.key(.collection) + path.prefix(DocumentRows.Limits.exactPathBytes)
    if bytesPrecede(range.lower, lower) { range.lower = lower }
  }

  /// Returns `true` if a collection at or below a name contains a document.
  mutating func holdsDocuments(below name: String) throws(StorageError) -> Bool {
    let path = base + name
    let walk = EntryWalk(reading, [reading.rows.collections(below: path)], isReversed: false)
    while let row = try walk.current() {
      walk.advance()
      var reader = ByteReader(row.value)
      guard let scope = reader.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      let text = String(decoding: row.value.dropFirst(4), as: UTF8.self)
      guard text.utf8.starts(with: path.utf8),
        text.utf8.count == path.utf8.count || text.utf8.starts(with: (path + "/").utf8)
      else { continue }
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
    if let after { rows.skip(after.id) }
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
  /// A page takes no further row behind so many bytes.
  private static let pageBytes = 1 << 20

  /// Reads the next documents behind ``after``; none at the end of the collection.
  private func existing() throws(StorageError) -> [Document] {
    guard let scope = try reading.scope(of: collection) else { return [] }
    var range = KeyRange(prefix: reading.rows.key(.document, scope))
    let prefixCount = range.lower.count
    if let after { range.lower = reading.rows.documentKey(scope, after) + [0] }
    var documents: [Document] = []
    let place = DocumentScope(number: scope, collection: collection)
    let page = try reading.page(
      range, isReversed: false, limit: GapScan.pageRows, limitBytes: GapScan.pageBytes)
    for row in page.rows {
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
    while let id = try rows.nextName() {
      let isThere = try rows.holdsDocuments(below: id)
      rows.skip(id)
      if isThere { return DocumentKey(unchecked: base + id) }
    }
    return nil
  }
}
