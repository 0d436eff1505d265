import TernCore
import TernQuery
import TernStorage

/// The documents of a query's source at an earlier version, as far as they differ from now.
///
/// The cost grows with the number of changes since, not with the number of documents.
struct PastDocuments {
  /// Each document at that version; missing if it did not exist.
  let documents: [DocumentKey: Document]
  /// The version.
  let version: DocumentVersion

  /// - Returns: `nil` when what was then is not known any more.
  static func read(
    _ source: DocumentQuery.Source, at version: DocumentVersion, _ reading: DocumentReading
  ) throws(StorageError) -> PastDocuments? {
    let state = try reading.state()
    if version >= state.last { return PastDocuments(documents: [:], version: version) }
    guard state.remembers(version) else { return nil }
    var builder = PastBuilder(reading, version)
    switch source {
    case .collection(let path):
      if let scope = try reading.scope(of: path) { try builder.undo(in: scope) { _ in true } }
    case .document(let key):
      if let scope = try reading.scope(of: key.collection) {
        try builder.undo(in: scope) { $0 == key }
      }
    case .group(let id):
      if let scope = try reading.scope(of: CollectionPath(unchecked: id)) {
        try builder.undo(in: scope) { _ in true }
      }
      if let scope = try reading.scope(ofGroup: id) { try builder.undo(inGroup: scope) }
    case .all(let parent, let isRecursive):
      try builder.undo(below: parent, isRecursive: isRecursive)
    }
    if builder.count > DocumentAuthorityLimits.changesUndone { return nil }
    return PastDocuments(documents: builder.documents, version: version)
  }
}

extension DocumentReading {
  /// Returns `true` if the documents at a version can still be reconstructed.
  func knows(_ version: DocumentVersion) throws(StorageError) -> Bool {
    try state().remembers(version)
  }
}

extension DatabaseState {
  /// Returns `true` if the documents at a version can still be reconstructed.
  fileprivate func remembers(_ version: DocumentVersion) -> Bool {
    let floor = last.microseconds - DocumentAuthorityLimits.changeRetention
    // Before the first commit there was nothing.
    return version >= last || version.microseconds >= floor
  }
}

/// Undoes changes one after the other, the latest first.
private struct PastBuilder {
  private let reading: DocumentReading
  private let version: DocumentVersion
  private(set) var documents: [DocumentKey: Document] = [:]
  private(set) var count = 0

  init(_ reading: DocumentReading, _ version: DocumentVersion) {
    self.reading = reading
    self.version = version
  }

  mutating func undo(
    in scope: ScopeNumber, where isWanted: (DocumentKey) -> Bool
  ) throws(StorageError) {
    for row in try rows(scope) { try undo(row.key, row.value, isWanted) }
  }

  mutating func undo(inGroup scope: ScopeNumber) throws(StorageError) {
    let rows = reading.rows
    let prefixCount = rows.key(.change, scope).count
    for row in try self.rows(scope) {
      var reader = ByteReader(row.value)
      guard let collection = reader.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      let key = rows.key(.change, collection) + row.key[prefixCount...]
      guard let change = try reading.get(key) else { throw .corruptRecord(key: key) }
      try undo(key, change) { _ in true }
    }
  }

  mutating func undo(below parent: DocumentKey?, isRecursive: Bool) throws(StorageError) {
    let base = parent.map { $0.text + "/" } ?? ""
    let walk = EntryWalk(
      reading, [reading.rows.collections(below: parent?.text ?? "")], isReversed: false)
    while count <= DocumentAuthorityLimits.changesUndone, let row = try walk.current() {
      walk.advance()
      var reader = ByteReader(row.value)
      guard let scope = reader.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      // Paths that were cut may stand here by their hash.
      let text = String(decoding: row.value.dropFirst(4), as: UTF8.self)
      guard text.utf8.count > base.utf8.count, text.utf8.starts(with: base.utf8) else { continue }
      let isNested = text.utf8.dropFirst(base.utf8.count).contains(UInt8(ascii: "/"))
      if isRecursive || !isNested { try undo(in: scope) { _ in true } }
    }
  }

  private func rows(_ scope: ScopeNumber) throws(StorageError) -> [Row] {
    let limit = DocumentAuthorityLimits.changesUndone + 1 - count
    let rows = try reading.scan(
      reading.rows.changes(scope, after: version), isReversed: true, limit: max(limit, 0))
    reading.cost.entriesRead += rows.count
    return rows
  }

  private mutating func undo(
    _ key: [UInt8], _ value: [UInt8], _ isWanted: (DocumentKey) -> Bool
  ) throws(StorageError) {
    count += 1
    guard let change = ReverseChange(value) else { throw .corruptRecord(key: key) }
    guard isWanted(change.key) else { return }
    let after: Document
    if let known = documents[change.key] {
      after = known
    } else {
      after = try reading.document(change.key)
    }
    documents[change.key] = change.undone(after)
  }
}
