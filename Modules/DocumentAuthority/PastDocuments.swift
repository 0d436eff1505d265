import TernCore
import TernQuery
package import TernStorage

/// The documents of a query's source at an earlier version, as far as they differ from now.
///
/// The cost grows with the number of changes since, not with the number of documents.
///
/// The current documents and these make the earlier state: a key that is here has the earlier
/// document, and every other document of the source is as it is now.
struct PastDocuments {
  /// Each document at that version; missing if it did not exist.
  let documents: [DocumentKey: Document]
  /// The version.
  let version: DocumentVersion

  /// - Returns: The documents; or the reason why they are not told: what was then is not known any
  ///   more, or they take too much memory.
  static func read(
    _ source: DocumentQuery.Source, at version: DocumentVersion, _ reading: DocumentReading
  ) throws(StorageError) -> Result<PastDocuments, DocumentStatus> {
    let state = try reading.state()
    if version >= state.last {
      return .success(PastDocuments(documents: [:], version: version))
    }
    guard try reading.knows(version) else { return .failure(DocumentAuthority.tooOld) }
    var builder = PastBuilder(reading, version)
    switch source {
    case .collection(let path):
      if let scope = try reading.scope(of: path) { try builder.undo(in: scope) { _ in true } }
    case .document(let key):
      if let scope = try reading.scope(of: key.collection) {
        try builder.undo(key, in: scope)
      }
    case .group(let id):
      if let scope = try reading.scope(of: CollectionPath(unchecked: id)) {
        try builder.undo(in: scope) { _ in true }
      }
      if let scope = try reading.scope(ofGroup: id) { try builder.undo(inGroup: scope) }
    case .all(let parent, let isRecursive):
      try builder.undo(below: parent, isRecursive: isRecursive)
    }
    return builder.outcome
  }

  /// The named documents at an earlier version, as far as they differ from now.
  static func read(
    _ keys: [DocumentKey], at version: DocumentVersion, _ reading: DocumentReading
  ) throws(StorageError) -> Result<PastDocuments, DocumentStatus> {
    let state = try reading.state()
    if version >= state.last {
      return .success(PastDocuments(documents: [:], version: version))
    }
    guard try reading.knows(version) else { return .failure(DocumentAuthority.tooOld) }
    var builder = PastBuilder(reading, version)
    let wanted = Set(keys)
    for collection in Set(keys.map(\.collection)) {
      guard let scope = try reading.scope(of: collection) else { continue }
      try builder.undo(in: scope) { wanted.contains($0) }
    }
    return builder.outcome
  }
}

/// A reader that knows how much memory a read may take.
///
/// A reader that is none charges nothing.
package protocol ReadMemory: AnyObject {
  /// Charges bytes to the client that reads, until the read is over.
  ///
  /// - Returns: `false`, and nothing is charged, when it may hold no more.
  func hold(_ bytes: Int) -> Bool

  /// Charges bytes as ``hold(_:)`` does, and ends the read when its client may hold no more.
  ///
  /// - Throws: ``StorageError/abandoned``.
  func keep(_ bytes: Int) throws(StorageError)
}

extension ReadMemory {
  package func keep(_ bytes: Int) throws(StorageError) { if !hold(bytes) { throw .abandoned } }
}

/// The memory of documents that a read keeps while it goes on.
///
/// It charges in steps and never gives back: the reader releases everything at once at its end.
struct KeptMemory {
  /// `nil` for readers that count nothing.
  private let memory: (any ReadMemory)?
  /// The bytes of the documents that are kept now.
  private var bytes = 0
  /// The most bytes so far, in whole ``step``s.
  private var charged = 0

  /// The bytes that are charged at once.
  private static let step = 64 << 10
  /// The memory of a document without its fields and name.
  private static let documentBytes = 256

  init(_ reading: DocumentReading) { memory = reading.reader as? any ReadMemory }

  /// Counts a document that is kept.
  ///
  /// - Throws: ``StorageError/abandoned`` when the reader's client may hold no more.
  mutating func keep(_ document: Document) throws(StorageError) {
    bytes += Self.documentBytes + document.byteCountStored
    while bytes > charged + Self.step {
      try memory?.keep(Self.step)
      charged += Self.step
    }
  }

  /// Forgets all documents; what was charged serves for the next ones.
  mutating func removeAll() { bytes = 0 }
}

extension DocumentReading {
  /// Returns `true` if the documents at a version can still be reconstructed.
  func knows(_ version: DocumentVersion) throws(StorageError) -> Bool {
    let state = try state()
    // Before the first commit there was nothing.
    if version >= state.last { return true }
    return version >= (try forgotten() ?? state.retentionFloor)
  }

  /// The latest version whose changes were forgotten: documents are known as of it, and later.
  ///
  /// - Returns: `nil` before the first sweep that has noted it.
  func forgotten() throws(StorageError) -> DocumentVersion? {
    let key = rows.key(.forgotten)
    guard let bytes = try get(key) else { return nil }
    var reader = ByteReader(bytes)
    guard let version = reader.bigEndian(Int64.self), reader.isAtEnd else {
      throw .corruptRecord(key: key)
    }
    return DocumentVersion(microseconds: version)
  }
}

extension DatabaseState {
  /// The version before which changes may be forgotten.
  var retentionFloor: DocumentVersion {
    DocumentVersion(
      microseconds: last.microseconds - DocumentAuthorityLimits.changeRetention)
  }
}

/// Undoes changes one after the other, the latest first.
///
/// A row of kind `07` leads from a document after a commit to the one before it, so the rows are
/// applied from the newest to the oldest. The result of one is the start of the next for the same
/// document.
private struct PastBuilder {
  private let reading: DocumentReading
  private let version: DocumentVersion
  /// The documents as they were before the changes that are undone so far.
  private var documents: [DocumentKey: Document] = [:]
  /// The reason to give up.
  private var failure: DocumentStatus?
  /// The rows that were looked at, wanted or not.
  private var count = 0
  /// The bytes of the documents, and those that are charged for them.
  private var byteCount = 0
  private var chargedBytes = 0

  /// Memory is charged in pieces of so many bytes; less than one is not charged.
  private static let chargeBytes = 64 << 10
  /// The bytes of a document beside those of its fields and its key.
  private static let documentBytes = 256

  init(_ reading: DocumentReading, _ version: DocumentVersion) {
    self.reading = reading
    self.version = version
  }

  /// The documents, or the reason to give up. Partial results are never handed out.
  var outcome: Result<PastDocuments, DocumentStatus> {
    if let failure { return .failure(failure) }
    return .success(PastDocuments(documents: documents, version: version))
  }

  /// Undoes the changes of the wanted documents of one collection.
  ///
  /// - Complexity: O(changes of the collection since the version), also of those that are not
  ///   wanted.
  mutating func undo(
    in scope: ScopeNumber, where isWanted: (DocumentKey) -> Bool
  ) throws(StorageError) {
    let walk = walk(scope)
    while failure == nil, let row = try walk.current() {
      walk.advance()
      try undo(row.key, row.value, isWanted)
    }
  }

  /// Undoes the changes of one document.
  ///
  /// The version of a document that exists names the commit that made it. Only where it was
  /// missing, or that commit did not note it, all changes of its collection are searched.
  mutating func undo(_ key: DocumentKey, in scope: ScopeNumber) throws(StorageError) {
    var document = try reading.document(key, in: scope)
    var rest = reading.rows.changes(scope, after: version)
    while failure == nil {
      if document.isFound, document.version <= version { return }
      var change: Row?
      if document.isFound {
        let commit = reading.rows.changes(scope, of: document.version)
        change = try lastChange(of: key, in: commit)
      }
      if change == nil { change = try lastChange(of: key, in: rest) }
      guard let change else { return }
      try undo(change.key, change.value) { _ in true }
      document = documents[key] ?? document
      rest.upper = change.key
    }
  }

  /// The last change of a document in a range, in which that of others may be.
  private mutating func lastChange(
    of key: DocumentKey, in range: KeyRange
  ) throws(StorageError) -> Row? {
    let walk = EntryWalk(reading, [range], isReversed: true)
    while let row = try walk.current() {
      walk.advance()
      guard let changed = ReverseChange.key(in: row.value) else {
        throw .corruptRecord(key: row.key)
      }
      if changed == key { return row }
      count += 1
      if count > DocumentAuthorityLimits.changesUndone {
        failure = DocumentAuthority.tooOld
        return nil
      }
    }
    return nil
  }

  /// Undoes the changes of all nested collections of a group. Its rows are pointers: the scope of a
  /// collection, under the version and number that the row there has as well.
  mutating func undo(inGroup scope: ScopeNumber) throws(StorageError) {
    let rows = reading.rows
    let prefixCount = rows.key(.change, scope).count
    let walk = walk(scope)
    while failure == nil, let row = try walk.current() {
      walk.advance()
      var reader = ByteReader(row.value)
      guard let collection = reader.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      let key = rows.key(.change, collection) + row.key[prefixCount...]
      guard let change = try reading.get(key) else { throw .corruptRecord(key: key) }
      try undo(key, change) { _ in true }
    }
  }

  /// Undoes the changes of all collections below a document, or of the direct ones alone.
  mutating func undo(below parent: DocumentKey?, isRecursive: Bool) throws(StorageError) {
    let base = parent.map { $0.text + "/" } ?? ""
    let walk = EntryWalk(
      reading, [reading.rows.collections(below: parent?.text ?? "")], isReversed: false)
    while failure == nil, let row = try walk.current() {
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

  /// The changes of a scope since the version, the latest first.
  private func walk(_ scope: ScopeNumber) -> EntryWalk {
    EntryWalk(reading, [reading.rows.changes(scope, after: version)], isReversed: true)
  }

  /// Undoes one change.
  ///
  /// - Parameters:
  ///   - key: The key of its row, for the error.
  ///   - value: Its row.
  private mutating func undo(
    _ key: [UInt8], _ value: [UInt8], _ isWanted: (DocumentKey) -> Bool
  ) throws(StorageError) {
    count += 1
    // The limit bounds the time of a read. To the client it is the same as a time that is not kept
    // any more.
    if count > DocumentAuthorityLimits.changesUndone {
      failure = DocumentAuthority.tooOld
      return
    }
    guard let name = ReverseChange.key(in: value) else { throw .corruptRecord(key: key) }
    guard isWanted(name) else { return }
    guard let change = ReverseChange(value) else { throw .corruptRecord(key: key) }
    let after: Document
    if let known = documents[change.key] {
      after = known
    } else {
      after = try reading.document(change.key)
    }
    let before = change.undone(after)
    byteCount += Self.bytes(of: before) - (documents[change.key].map(Self.bytes) ?? 0)
    documents[change.key] = before
    hold()
  }

  private static func bytes(of document: Document) -> Int {
    documentBytes + (document.fields?.bytes.count ?? 0) + 2 * document.key.text.utf8.count
  }

  /// Charges the memory of the documents to the client that reads, as far as that was not done.
  private mutating func hold() {
    while byteCount >= chargedBytes + Self.chargeBytes {
      guard chargedBytes + Self.chargeBytes <= DocumentAuthorityLimits.pastBytes,
        (reading.reader as? any ReadMemory)?.hold(Self.chargeBytes) ?? true
      else {
        failure = DocumentAuthority.tooMuchChanged
        return
      }
      chargedBytes += Self.chargeBytes
    }
  }
}
