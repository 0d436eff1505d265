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
    var draft = CommitDraft(
      version: version, now: max(version.microseconds, now), database: rows.database)
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

  /// Works out what writes would do if their preconditions held and nothing were too large: what
  /// access to documents is judged by, whatever they are.
  ///
  /// - Parameters:
  ///   - mutations: The writes.
  ///   - now: Wall-clock time in microseconds since 1970.
  ///   - reader: The state that is written to.
  /// - Returns: The effect of each write and the time of the commit; `nil` for writes that are
  ///   invalid whatever the documents are.
  package func rehearse(
    _ mutations: [DocumentMutation], now: Int64, in reader: any StoreReader
  ) throws(StorageError) -> (steps: [DocumentCommitStep], time: DocumentVersion)? {
    let reading = DocumentReading(rows, reader)
    let version = try reading.state().nextVersion(now: now)
    var draft = CommitDraft(
      version: version, now: max(version.microseconds, now), database: rows.database,
      isRehearsal: true)
    for mutation in mutations {
      if !draft.knows(mutation.key) {
        draft.load(try reading.document(mutation.key))
      }
      do throws(DocumentStatus) { try draft.apply(mutation) } catch {
        // The writes so far are judged: the size of stored documents is no caller's to learn.
        if draft.isTooLarge { break }
        return nil
      }
    }
    return (draft.steps, version)
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
  private let now: Int64
  private let database: DocumentDatabase
  /// True when preconditions and the size of documents do not count.
  private let isRehearsal: Bool
  private(set) var steps: [DocumentCommitStep] = []
  private var before: [DocumentKey: Document] = [:]
  private var current: [DocumentKey: Document] = [:]
  private var order: [DocumentKey] = []
  private var transformCounts: [DocumentKey: Int] = [:]
  private var results: [DocumentWriteResult] = []
  /// The bytes of the documents after each step, which are in memory together.
  private var stepBytes = 0

  /// True when a write was rejected because of ``DocumentAuthorityLimits/commitBytes``.
  var isTooLarge: Bool { stepBytes > DocumentAuthorityLimits.commitBytes }

  init(
    version: DocumentVersion, now: Int64, database: DocumentDatabase, isRehearsal: Bool = false
  ) {
    self.version = version
    self.now = now
    self.database = database
    self.isRehearsal = isRehearsal
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
      outcome = try (isRehearsal ? mutation.requiring(.none) : mutation).commit(
        over: document, at: version, checksSize: !isRehearsal)
    } catch {
      throw status(of: error, mutation, document)
    }
    stepBytes += outcome.document.fields?.bytes.count ?? 0
    if isTooLarge {
      throw DocumentStatus(
        .invalidArgument,
        "The documents of all writes take more than \(DocumentAuthorityLimits.commitBytes) bytes.")
    }
    current[key] = outcome.document
    steps.append(
      DocumentCommitStep(mutation: mutation, before: document, after: outcome.document))
    results.append(result(of: mutation, outcome.document, outcome.results))
  }

  private mutating func check(_ mutation: DocumentMutation) throws(DocumentStatus) {
    let key = mutation.key
    do throws(DocumentError) { try mutation.check() } catch {
      throw DocumentStatus(.invalidArgument, error.serviceText)
    }
    if case .version(let wanted) = mutation.precondition, wanted.microseconds > now {
      throw DocumentStatus(.invalidArgument, "The precondition 'update_time' is in the future.")
    }
    let count = transformCounts[key, default: 0] + mutation.transforms.count
    transformCounts[key] = count
    if count > DocumentAuthorityLimits.transformsPerDocument {
      throw DocumentStatus(
        .invalidArgument,
        DocumentError.tooManyTransforms(
          count: count, limit: DocumentAuthorityLimits.transformsPerDocument
        ).serviceText)
    }
  }

  /// The answer to a write that met another document than it wants, in the words of the service.
  ///
  /// Source: firestore server reference, section 2.5.
  private func status(
    of conflict: DocumentConflict, _ mutation: DocumentMutation, _ document: Document
  ) -> DocumentStatus {
    let name = DocumentName(mutation.key, in: database).resourceName
    switch conflict {
    case .notFound: return DocumentStatus(.notFound, "No document to update: \(name)")
    case .alreadyExists:
      return DocumentStatus(.alreadyExists, "Document already exists: \(name)")
    case .changed:
      let stored = document.isFound ? document.version.microseconds : 0
      guard case .version(let wanted) = mutation.precondition else {
        return DocumentStatus(conflict)
      }
      return DocumentStatus(
        .failedPrecondition,
        "the stored version (\(stored)) does not match the required base version "
          + "(\(wanted.microseconds))")
    case .invalid(_, let error):
      return DocumentStatus(.invalidArgument, error.serviceText)
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
        version: changes.isEmpty ? last : version, results: results, changes: changes,
        steps: steps, time: version))
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
