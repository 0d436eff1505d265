import TernCore
import TernLedger
import TernQuery
import TernStorage

/// What the documents of a query's source were at an earlier version, where they differ from now.
///
/// Cost follows the number of changes since, not the number of documents.
struct PastDocuments {
  /// Each as it was; missing when there was none.
  let documents: [DocumentKey: Document]
  /// As of when.
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
    }
    if builder.count > DocumentAuthorityLimits.changesUndone { return nil }
    return PastDocuments(documents: builder.documents, version: version)
  }
}

extension DocumentReading {
  /// Whether it is known what documents were then.
  func knows(_ version: DocumentVersion) throws(StorageError) -> Bool {
    try state().remembers(version)
  }
}

extension DatabaseState {
  /// Whether it is known what documents were then.
  fileprivate func remembers(_ version: DocumentVersion) -> Bool {
    let floor = last.microseconds - DocumentAuthorityLimits.changeRetention
    return version >= last || version >= epoch && version.microseconds >= floor
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
