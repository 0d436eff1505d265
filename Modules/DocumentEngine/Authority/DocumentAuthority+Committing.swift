package import TernCore
package import TernLedger
package import TernStorage

extension DocumentAuthority {
  /// Works out a commit: all writes in order, each seeing those before it, or none.
  ///
  /// - Parameters:
  ///   - mutations: The writes.
  ///   - reads: What a transaction has read; refused with ABORTED when any of it has changed.
  ///   - now: Wall-clock time in microseconds since 1970.
  ///   - reader: The state that is written to.
  /// - Returns: What would change, or why nothing may. Source: documents reference, section 3.6.
  package func decide(
    _ mutations: [DocumentMutation], validating reads: DocumentReadSet? = nil, now: Int64,
    in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentDecision, DocumentStatus> {
    let reading = DocumentReading(rows, reader)
    if let reads, let status = try conflict(with: reads, reading) { return .failure(status) }
    let state = try reading.state()
    let version = state.nextVersion(now: now)
    var draft = CommitDraft(version: version, database: rows.database)
    for mutation in mutations {
      if !draft.knows(mutation.key) {
        draft.load(try reading.document(mutation.key))
      }
      do throws(DocumentStatus) {
        try draft.apply(mutation)
      } catch {
        // A transaction whose base has moved is to be tried again as a whole.
        let isStale = reads != nil && error.code == .failedPrecondition
        return .failure(isStale ? DocumentStatus(.aborted, error.message) : error)
      }
    }
    return draft.finish(unchanged: max(state.last, DocumentClock.first))
  }

  /// The rows that carry out a decision, seen by later reads of `reader`, and its log record.
  ///
  /// - Returns: Nothing to commit when the decision changes no document.
  /// - Throws: Also ``StorageError/keyTooLong(bytes:)`` and ``StorageError/valueTooLong(bytes:)``
  ///   for a decision that no store takes; it changes nothing.
  package func apply(
    _ decision: DocumentDecision, to reader: PendingReader
  ) throws(StorageError) -> (mutations: [Mutation], record: [UInt8]) {
    if decision.changes.isEmpty { return ([], []) }
    let reading = DocumentReading(rows, reader)
    var writer = try DocumentRowWriter(reading, version: decision.version)
    for (index, change) in decision.changes.enumerated() {
      try writer.write(change, index: UInt32(index))
    }
    writer.finish()
    try writer.mutations.checkLimits()
    reader.apply(writer.mutations)
    return (writer.mutations, DocumentRecord(of: decision, in: rows).encode())
  }
}

/// The documents of one commit while its writes are applied in order.
private struct CommitDraft {
  private let version: DocumentVersion
  private let database: DocumentDatabase
  private var before: [DocumentKey: Document] = [:]
  private var current: [DocumentKey: Document] = [:]
  private var order: [DocumentKey] = []
  private var deleted: Set<DocumentKey> = []
  private var transformCounts: [DocumentKey: Int] = [:]
  private var results: [DocumentWriteResult] = []

  init(version: DocumentVersion, database: DocumentDatabase) {
    self.version = version
    self.database = database
  }

  func knows(_ key: DocumentKey) -> Bool { current[key] != nil }

  mutating func load(_ document: Document) {
    before[document.key] = document
    current[document.key] = document
    order.append(document.key)
  }

  mutating func apply(_ mutation: DocumentMutation) throws(DocumentStatus) {
    let key = mutation.key
    try check(mutation)
    guard let document = current[key] else { return }
    let outcome: (document: Document, results: [DocumentValue])
    do throws(DocumentConflict) {
      outcome = try mutation.commit(over: document, at: version)
    } catch {
      throw DocumentStatus(error)
    }
    current[key] = outcome.document
    switch mutation.change {
    case .delete: deleted.insert(key)
    case .set, .patch: deleted.remove(key)
    case .verify: break
    }
    results.append(result(of: mutation, outcome.document, outcome.results))
  }

  private mutating func check(_ mutation: DocumentMutation) throws(DocumentStatus) {
    let key = mutation.key
    do throws(DocumentError) { try mutation.check(in: database) } catch {
      throw DocumentStatus(.invalidArgument, "\(key): \(error)")
    }
    if deleted.contains(key), mutation.precondition == .exists(true) {
      throw DocumentStatus(.invalidArgument, "A document cannot be updated once deleted: \(key)")
    }
    let count = transformCounts[key, default: 0] + mutation.transforms.count
    transformCounts[key] = count
    if count > DocumentAuthorityLimits.transformsPerDocument {
      throw DocumentStatus(.invalidArgument, "\(key) has \(count) transforms in one commit.")
    }
  }

  /// Source: documents reference, sections 3.3 and 3.5.
  private func result(
    of mutation: DocumentMutation, _ document: Document, _ values: [DocumentValue]
  ) -> DocumentWriteResult {
    switch mutation.change {
    case .delete, .verify: return DocumentWriteResult(version: nil)
    case .set, .patch: break
    }
    let results = zip(mutation.transforms, values).map { item, value in
      switch item.transform {
      case .arrayUnion, .arrayRemove: DocumentValue.null
      case .serverTimestamp, .increment, .maximum, .minimum: value
      }
    }
    return DocumentWriteResult(version: document.version, transformResults: results)
  }

  /// - Parameter last: The version of a commit that changes nothing, which leaves no trace: told
  ///   another one, a client would ignore what is committed before that.
  func finish(unchanged last: DocumentVersion) -> Result<DocumentDecision, DocumentStatus> {
    var changes: [DocumentCommitChange] = []
    for key in order {
      guard let old = before[key], let new = current[key] else { continue }
      // A document that never was, or that stays as it is, is no change.
      if old.state == new.state, old.version == new.version || !old.isFound { continue }
      if let status = CommitDraft.limits(of: new) { return .failure(status) }
      changes.append(DocumentCommitChange(before: old, after: new))
    }
    return .success(
      DocumentDecision(
        version: changes.isEmpty ? last : version, results: results, changes: changes))
  }

  /// The reason a document cannot be stored or indexed; `nil` when it can.
  private static func limits(of document: Document) -> DocumentStatus? {
    guard let fields = document.fields else { return nil }
    if fields.bytes.count > DocumentAuthorityLimits.packedBytes {
      return DocumentStatus(
        .invalidArgument, "\(document.key) takes \(fields.bytes.count) bytes in the store.")
    }
    // Every entry stems from a byte of its own, and none has more than two thousand.
    if fields.bytes.count < 4_000 { return nil }
    let entries = FieldEntries(fields).entries
    let size = entries.reduce(0) { $0 + $1.count + document.key.text.utf8.count }
    if entries.count <= DocumentAuthorityLimits.entriesPerDocument,
      size <= DocumentAuthorityLimits.entryBytesPerDocument
    {
      return nil
    }
    return DocumentStatus(
      .invalidArgument, "\(document.key) has too many index entries: \(entries.count).")
  }
}
