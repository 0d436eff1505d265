package import TernCore
package import TernLedger
package import TernStorage

extension DocumentAuthority {
  /// Works out a commit: all writes in order, each seeing those before it, or none.
  ///
  /// A precondition that fails, a value that breaks a rule, and a document that cannot be stored or
  /// indexed are rejections. Inside of a transaction a failed precondition is ABORTED, so that the
  /// client reads again.
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
  /// - Parameters:
  ///   - decision: Made in the state that `reader` shows, without a commit in between.
  ///   - reader: The changes of the batch so far; those of the decision are added to it.
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
///
/// It has each document twice: before the commit, and after the writes so far. A write sees the
/// effects of earlier ones. Nothing of it reaches the store when a write is rejected.
private struct CommitDraft {
  /// The version of the commit and the value of its server timestamps.
  private let version: DocumentVersion
  /// The latest time that a precondition may name, in microseconds.
  private let now: Int64
  /// The database, for names in texts.
  private let database: DocumentDatabase
  /// True when preconditions and the size of documents do not count.
  private let isRehearsal: Bool
  /// The effect of each write, for the rules of access.
  private(set) var steps: [DocumentCommitStep] = []
  /// The documents as they are stored.
  private var before: [DocumentKey: Document] = [:]
  /// The documents after the writes so far. A key is here exactly when it is in ``before``.
  private var current: [DocumentKey: Document] = [:]
  /// The keys in the order of their first write; changes come in this order.
  private var order: [DocumentKey] = []
  /// The transforms of each document over all writes, for the limit.
  private var transformCounts: [DocumentKey: Int] = [:]
  /// One result for each write so far.
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

  /// Adds a document that a write is about, as it is stored.
  mutating func load(_ document: Document) {
    before[document.key] = document
    current[document.key] = document
    order.append(document.key)
  }

  /// Applies one write to the document that was loaded for it.
  ///
  /// - Throws: `DocumentStatus`, and then the draft is of no further use, apart from its ``steps``.
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
    // Every step keeps a document of its own, so a large one that is written often counts as often.
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

  /// Checks a write by itself, and the transforms of its document so far.
  ///
  /// - Throws: INVALID_ARGUMENT.
  private mutating func check(_ mutation: DocumentMutation) throws(DocumentStatus) {
    let key = mutation.key
    do throws(DocumentError) { try mutation.check() } catch {
      throw DocumentStatus(.invalidArgument, error.serviceText)
    }
    // No document has a version that is yet to come. The service tells the client of the mistake.
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
  ///
  /// Makes the result of a write that was applied. Deletions and verifications have no version, and
  /// transforms of arrays have null for a value.
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
  /// - Returns: A failure when a document is too large for the store or for its indexes.
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
  ///
  /// - Complexity: O(1) for small documents; otherwise the index entries are counted, as far as
  ///   the limits.
  private static func limits(of document: Document) -> DocumentStatus? {
    guard let fields = document.fields else { return nil }
    if fields.bytes.count > DocumentAuthorityLimits.packedBytes {
      return DocumentStatus(
        .invalidArgument, "\(document.key) takes \(fields.bytes.count) bytes in the store.")
    }
    // Every entry stems from a byte of its own, and none has more than two thousand.
    if fields.bytes.count < 4_000 { return nil }
    var walk = FieldEntryWalk(
      countLimit: DocumentAuthorityLimits.entriesPerDocument,
      byteLimit: DocumentAuthorityLimits.entryBytesPerDocument,
      bytesPerEntry: document.key.text.utf8.count)
    walk.visit(fields)
    if !walk.isExceeded { return nil }
    let limits =
      "\(DocumentAuthorityLimits.entriesPerDocument), or "
      + "\(DocumentAuthorityLimits.entryBytesPerDocument) bytes of them"
    return DocumentStatus(
      .invalidArgument, "\(document.key) has too many index entries: more than \(limits).")
  }
}
