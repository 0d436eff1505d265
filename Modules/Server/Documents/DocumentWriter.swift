import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Decides writes of documents.
///
/// A commit passes through review by the rules, decision by the authority, application to the
/// batch's view, the ledger commit, and the fan-out to listeners, in this order. Numbered batches
/// are exactly-once: the outcome is stored in the commit that has the effect.
struct DocumentWriter {
  let context: ServerContext
  let judge: DocumentJudge
  let registry: DatabaseRegistry
  let listens: DocumentListens

  /// Takes a message of a write call. Source: documents reference, section 6.5.
  ///
  /// The first message names the database and may name the writer's stream; the answer tells the
  /// last number the server has. Each later message is a batch, and its answer carries a token that
  /// counts the answers. Stock clients send the token back, and nothing depends on it.
  func write(
    _ request: DocumentWriteRequest, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    if case .handshake(let stream) = request.content {
      if call.handshake != nil { return registry.finish(call, Self.secondHandshake, &batch) }
      call.handshake = DocumentCall.Handshake(stream: stream)
      let last = try stream.map { stream throws(StorageError) in
        try batch.state(of: stream).last
      }
      let id = SessionID.text(context.nextID())
      return reply(.handshake(id: id, lastSequence: last), call, &batch)
    }
    guard let handshake = call.handshake else {
      let text = "A write stream begins with a message that names its database alone."
      return registry.finish(call, DocumentStatus(.invalidArgument, text), &batch)
    }
    switch request.content {
    case .handshake: break
    case .outcomes(let range):
      let outcomes = try outcomes(range, of: handshake.stream, &batch)
      reply(.outcomes(outcomes), call, &batch)
    // Clients say goodbye with an empty batch; nothing answers it.
    case .writes(let writes, nil) where writes.isEmpty: break
    case .writes(let writes, let mark):
      try apply(writes, mark, handshake, call, database, &batch)
    }
  }

  private static var secondHandshake: DocumentStatus {
    DocumentStatus(.invalidArgument, "A write stream has one handshake.")
  }

  /// Applies a batch of a write call, and answers it.
  ///
  /// Three cases differ in what a rejection does. An unnumbered batch that fails ends the call, as
  /// Firestore does; stock clients then open another stream. A numbered batch on a stream of its
  /// own gets an outcome. A numbered batch of a client without a stream in its handshake gets its
  /// commit as an outcome, and a rejection as the end of the call.
  private func apply(
    _ writes: [DocumentMutation], _ mark: DocumentWriteHeader?, _ handshake: DocumentCall.Handshake,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let mark, let stream = mark.stream ?? handshake.stream else {
      switch try commit(writes, nil, nil, call, database, &batch) {
      case .success(let done): reply(.committed(done.version, done.results), call, &batch)
      case .failure(let status): registry.finish(call, status, &batch)
      }
      return
    }
    let outcome: DocumentWriteOutcome
    switch try once(writes, mark, stream, call, database, &batch) {
    case .success(let found): outcome = found
    // Without an outcome the client sends it again on another stream.
    case .failure(let status): return registry.finish(call, status, &batch)
    }
    if handshake.stream == nil, case .rejected(let status) = outcome.verdict {
      return registry.finish(call, status, &batch)
    }
    reply(.outcome(outcome), call, &batch)
  }

  /// Answers one message of a write call.
  ///
  /// The token is the number of answers so far, 8 bytes, the most significant one first.
  private func reply(
    _ content: DocumentWriteResponse.Content, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    call.handshake?.answers += 1
    let count = call.handshake?.answers ?? 0
    let token = (0..<8).map { UInt8(truncatingIfNeeded: count >> UInt64(56 - 8 * $0)) }
    let response = DocumentResponse.write(DocumentWriteResponse(content, token: token))
    call.send(response.encode(call.database?.names ?? DocumentNames()), &batch)
  }

  /// Carries out a numbered batch unless that was done; a repetition is told the same.
  ///
  /// - Parameters:
  ///   - mark: The batch's number, and the numbers whose outcomes the client has.
  ///   - stream: The writer.
  /// - Returns: A failure when nothing was decided about it.
  /// - Throws: Storage errors, also for a writer's state that cannot be read.
  func once(
    _ writes: [DocumentMutation], _ mark: DocumentWriteHeader, _ stream: UInt128,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> Result<DocumentWriteOutcome, DocumentStatus> {
    let key = IdempotencyKey(
      id: CommitID(stream: stream, sequence: mark.sequence),
      payloadHash: DocumentOutcome.payloadHash(writes, in: database.name),
      acknowledged: mark.acknowledged)
    let passed = call.link.refused.passed(by: key)
    if let earlier = try batch.state(of: stream).verdict(on: passed) {
      batch.metrics.documentWrites.repeated += 1
      return .success(DocumentWriteOutcome(mark.sequence, Self.verdict(of: earlier)))
    }
    guard batch.diskSpace.allows(writes) else { return .failure(DocumentStatus.diskFull) }
    let verdict: DocumentWriteOutcome.Verdict =
      switch try commit(writes, nil, key, call, database, &batch) {
      case .success(let done): .committed(done.version, done.results)
      case .failure(let status): .rejected(status)
      }
    return .success(DocumentWriteOutcome(mark.sequence, verdict))
  }

  /// Refuses a numbered batch that cannot be read, as an outcome like every other.
  ///
  /// The payload hash is taken of the bytes as they came, because the batch could not be decoded. A
  /// repetition of the same bytes is recognized.
  ///
  /// - Returns: `false` when the stream numbers no batches, or the batch has no number.
  func refuse(
    _ unread: UnreadDocumentWrite, _ status: DocumentStatus, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> Bool {
    guard let stream = call.handshake?.stream, unread.mark.sequence > 0 else { return false }
    let sequence = unread.mark.sequence
    let key = IdempotencyKey(
      id: CommitID(stream: stream, sequence: sequence), payloadHash: unread.payloadHash,
      acknowledged: unread.mark.acknowledged)
    let verdict: DocumentWriteOutcome.Verdict
    let passed = call.link.refused.passed(by: key)
    if let earlier = try batch.state(of: stream).verdict(on: passed) {
      verdict = Self.verdict(of: earlier)
    } else {
      verdict = .rejected(refuse(status, key, call, &batch))
    }
    reply(.outcome(DocumentWriteOutcome(sequence, verdict)), call, &batch)
    return true
  }

  /// Returns the answer to a repeated batch.
  ///
  /// `dataLoss` marks outcomes that existed and cannot be told. A batch with such an outcome must
  /// not be sent again under another number: it could apply twice.
  private static func verdict(of earlier: CommitResult) -> DocumentWriteOutcome.Verdict {
    switch earlier {
    case .duplicate(_, let bytes): verdict(of: bytes)
    case .gap(let expected): .gap(expected: expected)
    case .mismatch:
      .rejected(DocumentStatus(.invalidArgument, "Another batch has this number."))
    case .forgotten:
      .rejected(DocumentStatus(.dataLoss, "The outcome was forgotten as known."))
    case .committed, .conflict, .failedPrecondition, .exceedsLimit:
      .rejected(DocumentStatus(.dataLoss, "The outcome cannot be told."))
    }
  }

  private static func verdict(of stored: [UInt8]) -> DocumentWriteOutcome.Verdict {
    switch DocumentOutcome(stored) {
    case .committed(let version, let results): .committed(version, results)
    case .rejected(let status): .rejected(status)
    case nil:
      .rejected(DocumentStatus(.invalidArgument, "The number belongs to a write of a tree."))
    }
  }

  /// Returns the stored outcomes of a writer's batches.
  ///
  /// - Parameter range: The numbers that the client asks for. Those without a stored outcome are
  ///   left out.
  private func outcomes(
    _ range: ClosedRange<UInt64>, of stream: UInt128?, _ batch: inout ServerBatch
  ) throws(StorageError) -> [DocumentWriteOutcome] {
    guard let stream else { return [] }
    let state = try batch.state(of: stream)
    let (first, last) = (max(range.lowerBound, state.first), min(range.upperBound, state.last))
    if first > last { return [] }
    return (first...last).compactMap { sequence in
      state[sequence].map {
        DocumentWriteOutcome(sequence, Self.verdict(of: $0.detail))
      }
    }
  }

  /// The result of a commit.
  struct DocumentsWritten {
    let version: DocumentVersion
    let results: [DocumentWriteResult]
  }

  /// Decides writes, stores them and tells their listeners; or says why not.
  ///
  /// - Parameters:
  ///   - reads: What a transaction has read.
  ///   - key: Under which a refusal for good is stored as well.
  /// - Returns: The version and the results, or the status for the client. A failure has changed
  ///   nothing.
  /// - Throws: Storage errors that are not about corrupt rows.
  func commit(
    _ writes: [DocumentMutation], _ reads: DocumentReadSet?, _ key: IdempotencyKey?,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> Result<DocumentsWritten, DocumentStatus> {
    let result = try make(writes, reads, key, call, database, &batch)
    batch.metrics.documentWrites.count(result)
    return result
  }

  /// Reviews, decides and stores writes.
  ///
  /// A commit without effects and without a number, such as one that only verifies documents, is
  /// answered and not stored.
  private func make(
    _ writes: [DocumentMutation], _ reads: DocumentReadSet?, _ key: IdempotencyKey?,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> Result<DocumentsWritten, DocumentStatus> {
    guard batch.diskSpace.allows(writes) else { return .failure(DocumentStatus.diskFull) }
    do throws(DocumentStatus) { try DocumentWireLimits.checkResults(of: writes) } catch {
      return .failure(refuse(error, key, call, &batch))
    }
    let (decision, mutations, record): (DocumentDecision, [Mutation], [UInt8])
    do throws(StorageError) {
      let review = DocumentCommitReview(
        writes, validating: reads, now: batch.now * 1_000, by: database.authority, in: batch.reader)
      switch try review.decide(by: judge, call, database, batch) {
      case .failure(let status): return .failure(refuse(status, key, call, &batch))
      case .success(let made): decision = made
      }
      (mutations, record) = try database.authority.apply(decision, to: batch.changes)
    } catch {
      // Nothing was changed yet.
      return .failure(refuse(try DocumentStatus(damage: error), key, call, &batch))
    }
    database.note(decision.version)
    let outcome = DocumentOutcome.committed(decision.version, decision.results).encode()
    if key != nil || !mutations.isEmpty {
      let stored = key == nil ? [] : outcome
      if let key { batch.store(&call.link.refused, before: key) }
      batch.add(Commit(claim: key, mutations: mutations, record: record, outcome: stored))
      if let key { batch.record(key, outcome) }
    }
    try listens.fanOut(decision, in: database, &batch)
    return .success(DocumentsWritten(version: decision.version, results: decision.results))
  }

  /// Stores a final rejection as the outcome of a numbered batch. Statuses that a repetition may
  /// change, such as `unavailable`, are never stored.
  private func refuse(
    _ status: DocumentStatus, _ key: IdempotencyKey?, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) -> DocumentStatus {
    if let key, status.code.rejectsWrite {
      let outcome = DocumentOutcome.rejected(status).encode()
      guard batch.hasStanding(call.identity, key) else {
        call.link.refused.note(key, outcome)
        return status
      }
      batch.store(&call.link.refused, before: key)
      batch.add(Commit(claim: key, mutations: [], record: [], outcome: outcome))
      batch.record(key, outcome)
    }
    return status
  }
}

extension ServerMetrics.Writes {
  /// Counts the outcome of a commit.
  fileprivate mutating func count(
    _ result: Result<DocumentWriter.DocumentsWritten, DocumentStatus>
  ) {
    guard case .failure(let status) = result else {
      accepted += 1
      return
    }
    switch status.code {
    case .permissionDenied: denied += 1
    case .failedPrecondition, .aborted, .alreadyExists, .notFound: stale += 1
    case .unavailable, .resourceExhausted: unavailable += 1
    default: rejected += 1
    }
  }
}
