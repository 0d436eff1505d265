import TernCore
import TernQuery
import TernStorage

/// The documents of all collections below one document, or of the database, by key.
///
/// Below a document come its collections one behind the other; each document of one is followed by
/// what lies below it, whether or not it exists itself.
///
/// The levels that are under way form a stack, so depth costs memory and no recursion. A source of
/// this kind serves queries without a collection, which have the order of keys alone.
final class DescendantWalk: CandidateSource {
  /// A part of the walk that is not over.
  private enum Level {
    /// Collections directly below a document, whose path and a slash are the base.
    case collections(base: String, CollectionRows)
    /// The documents of one collection.
    case documents(DocumentLevel)
  }

  private let reading: DocumentReading
  private let matcher: BranchMatcher
  private let isRecursive: Bool
  /// The walk leaps to it on every level that leads there. What comes before is not read.
  private let first: DocumentKey?
  /// The levels under way, the deepest last. Each is taken off, stepped, and put back unless it is
  /// over.
  private var levels: [Level] = []

  /// - Parameter first: A key that no wanted document is before; `nil` for none.
  init(
    _ reading: DocumentReading, _ matcher: BranchMatcher, below parent: DocumentKey?,
    isRecursive: Bool, from first: DocumentKey?
  ) {
    self.reading = reading
    self.matcher = matcher
    self.isRecursive = isRecursive
    self.first = first
    super.init()
    enter(parent)
  }

  override func step() throws(StorageError) -> CandidateStep {
    guard let level = levels.popLast() else { return .end }
    switch level {
    case .collections(let base, var rows):
      guard let id = try rows.nextName() else { return .passed }
      rows.skip(id)
      levels.append(.collections(base: base, rows))
      let collection = CollectionPath(unchecked: base + id)
      levels.append(.documents(try DocumentLevel(collection, reading, from: first)))
      return .passed
    case .documents(var documents):
      guard let next = try documents.next() else { return .passed }
      levels.append(.documents(documents))
      if next.hasCollections, isRecursive { enter(next.key) }
      guard let document = next.document, matcher.matches(document) else { return .passed }
      return .found(document, group: [])
    }
  }

  /// Begins with the collections below a document.
  private func enter(_ parent: DocumentKey?) {
    let base = parent.map { $0.text + "/" } ?? ""
    var rows = CollectionRows(reading, below: parent?.text ?? "")
    if let first, let segment = first.segment(behind: base) { rows.begin(at: segment) }
    levels.append(.collections(base: base, rows))
  }
}

/// The documents of one collection, and the names there that only have collections below them.
///
/// It merges the rows of documents with the names that have collections, in the order of keys.
private struct DocumentLevel {
  /// A name in the collection.
  struct Entry {
    let key: DocumentKey
    /// `nil` for a document that does not exist.
    let document: Document?
    let hasCollections: Bool
  }

  private let base: String
  /// The rows of documents; `nil` for a collection in which no document ever was.
  private let walk: EntryWalk?
  private let scope: DocumentScope
  private let prefixCount: Int
  /// The names with collections, which stand at the next one.
  private var rows: CollectionRows
  /// The next name that has collections below it, once looked for.
  private var parent: DocumentKey??

  init(
    _ collection: CollectionPath, _ reading: DocumentReading, from first: DocumentKey?
  ) throws(StorageError) {
    let base = collection.text + "/"
    self.base = base
    rows = CollectionRows(reading, below: collection.text)
    let number = try reading.scope(of: collection)
    scope = DocumentScope(number: number ?? 0, collection: collection)
    let start = first?.segment(behind: base).map { DocumentKey(unchecked: base + $0) }
    if let start { rows.begin(at: start.id) }
    guard let number else {
      walk = nil
      prefixCount = 0
      return
    }
    var range = KeyRange(prefix: reading.rows.key(.document, number))
    prefixCount = range.lower.count
    if let start { range.lower = reading.rows.documentKey(number, start) }
    walk = EntryWalk(reading, [range], isReversed: false)
  }

  /// Returns the next name, whether a document or only an ancestor of some; `nil` at the end.
  mutating func next() throws(StorageError) -> Entry? {
    if parent == nil {
      parent = .some(try rows.nextName().map { DocumentKey(unchecked: base + $0) })
    }
    let above = parent.flatMap { $0 }
    guard let row = try walk?.current() else {
      return above.map { pass($0, nil) }
    }
    guard let key = scope.key(row.key, from: prefixCount) else {
      throw .corruptRecord(key: row.key)
    }
    // The document at `above` is missing, but documents below it may exist.
    if let above, above < key { return pass(above, nil) }
    walk?.advance()
    guard let document = StoredDocument.decode(row.value.span, key) else {
      throw .corruptRecord(key: row.key)
    }
    if key == above { return pass(key, document) }
    return Entry(key: key, document: document, hasCollections: false)
  }

  /// Moves on behind a name that has collections.
  private mutating func pass(_ key: DocumentKey, _ document: Document?) -> Entry {
    rows.skip(key.id)
    parent = nil
    return Entry(key: key, document: document, hasCollections: true)
  }
}

extension DocumentKey {
  /// The segment of the key behind a path and its slash; `nil` when it does not lie there.
  fileprivate func segment(behind base: String) -> String? {
    guard text.utf8.count > base.utf8.count, text.utf8.starts(with: base.utf8) else { return nil }
    let rest = text.utf8.dropFirst(base.utf8.count)
    return String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
  }
}
