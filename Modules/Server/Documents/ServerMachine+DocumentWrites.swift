import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernLedger
import TernSecurity
import TernStorage

extension ServerMachine {
  /// Takes a message of a write call. Source: documents reference, section 6.5.
  mutating func write(
    _ request: DocumentWriteRequest, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    if case .handshake(let stream) = request.content {
      if call.handshake != nil { return finish(call, ServerMachine.secondHandshake, &batch) }
      call.handshake = DocumentCall.Handshake(stream: stream)
      let last = try stream.map { stream throws(StorageError) in
        try state(of: stream, &batch).last
      }
      let id = SessionID.text(UInt128(randomBits()) << 64 | UInt128(randomBits()))
      return reply(.handshake(id: id, lastSequence: last), call, &batch)
    }
    guard let handshake = call.handshake else {
      let text = "A write stream begins with a message that names its database alone."
      return finish(call, DocumentStatus(.invalidArgument, text), &batch)
    }
    switch request.content {
    case .handshake: break
    case .outcomes(let range):
      let outcomes = try outcomes(range, of: handshake.stream, &batch)
      reply(.outcomes(outcomes), call, &batch)
    // Clients say goodbye with an empty batch; nothing answers it.
    case .writes(let writes, nil) where writes.isEmpty: break
    case .writes(let writes, let mark):
      try apply(writes, mark, handshake, call, room, &batch)
    }
  }

  private static var secondHandshake: DocumentStatus {
    DocumentStatus(.invalidArgument, "A write stream has one handshake.")
  }

  private mutating func apply(
    _ writes: [DocumentMutation], _ mark: DocumentWriteMark?, _ handshake: DocumentCall.Handshake,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let mark, let stream = mark.stream ?? handshake.stream else {
      switch try commit(writes, nil, nil, call, room, &batch) {
      case .success(let done): reply(.committed(done.version, done.results), call, &batch)
      case .failure(let status): finish(call, status, &batch)
      }
      return
    }
    let outcome: DocumentWriteOutcome
    switch try once(writes, mark, stream, call, room, &batch) {
    case .success(let found): outcome = found
    // Without an outcome the client sends it again on another stream.
    case .failure(let status): return finish(call, status, &batch)
    }
    if handshake.stream == nil, case .rejected(let status) = outcome.verdict {
      return finish(call, status, &batch)
    }
    reply(.outcome(outcome), call, &batch)
  }

  private func reply(
    _ content: DocumentWriteResponse.Content, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    call.handshake?.answers += 1
    let count = call.handshake?.answers ?? 0
    let token = (0..<8).map { UInt8(truncatingIfNeeded: count >> UInt64(56 - 8 * $0)) }
    let response = DocumentResponse.write(DocumentWriteResponse(content, token: token))
    send(response.encode(call.room?.names ?? DocumentNames()), call, &batch)
  }

  /// Carries out a numbered batch unless that was done; whoever sends it again is told the same.
  ///
  /// - Returns: A failure when nothing was decided about it.
  mutating func once(
    _ writes: [DocumentMutation], _ mark: DocumentWriteMark, _ stream: UInt128,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> Result<DocumentWriteOutcome, DocumentStatus> {
    let claim = CommitClaim(
      id: CommitID(stream: stream, sequence: mark.sequence),
      payloadHash: DocumentOutcome.payloadHash(writes, in: room.database),
      acknowledged: mark.acknowledged)
    let passed = call.link.refused.passed(by: claim)
    if let earlier = try state(of: stream, &batch).verdict(on: passed) {
      return .success(DocumentWriteOutcome(mark.sequence, ServerMachine.verdict(of: earlier)))
    }
    guard hasRoom(for: writes) else { return .failure(Self.fullStatus) }
    let verdict: DocumentWriteOutcome.Verdict =
      switch try commit(writes, nil, claim, call, room, &batch) {
      case .success(let done): .committed(done.version, done.results)
      case .failure(let status): .rejected(status)
      }
    return .success(DocumentWriteOutcome(mark.sequence, verdict))
  }

  /// Refuses a numbered batch that cannot be read, as an outcome like every other.
  ///
  /// - Returns: `false` when the stream numbers no batches, or the batch has no number.
  mutating func refuse(
    _ unread: UnreadDocumentWrite, _ status: DocumentStatus, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> Bool {
    guard let stream = call.handshake?.stream, unread.mark.sequence > 0 else { return false }
    let sequence = unread.mark.sequence
    let claim = CommitClaim(
      id: CommitID(stream: stream, sequence: sequence), payloadHash: unread.payloadHash,
      acknowledged: unread.mark.acknowledged)
    let verdict: DocumentWriteOutcome.Verdict
    let passed = call.link.refused.passed(by: claim)
    if let earlier = try state(of: stream, &batch).verdict(on: passed) {
      verdict = ServerMachine.verdict(of: earlier)
    } else {
      verdict = .rejected(refuse(status, claim, call, &batch))
    }
    reply(.outcome(DocumentWriteOutcome(sequence, verdict)), call, &batch)
    return true
  }

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

  private mutating func outcomes(
    _ range: ClosedRange<UInt64>, of stream: UInt128?, _ batch: inout ServerBatch
  ) throws(StorageError) -> [DocumentWriteOutcome] {
    guard let stream else { return [] }
    let state = try state(of: stream, &batch)
    let (first, last) = (max(range.lowerBound, state.first), min(range.upperBound, state.last))
    if first > last { return [] }
    return (first...last).compactMap { sequence in
      state[sequence].map {
        DocumentWriteOutcome(sequence, ServerMachine.verdict(of: $0.detail))
      }
    }
  }

  /// What a commit has made.
  struct DocumentsWritten {
    let version: DocumentVersion
    let results: [DocumentWriteResult]
  }

  /// Decides writes, stores them and tells everybody who watches; or says why not.
  ///
  /// - Parameters:
  ///   - reads: What a transaction has read.
  ///   - claim: Under which a refusal for good is stored as well.
  mutating func commit(
    _ writes: [DocumentMutation], _ reads: DocumentReadSet?, _ claim: CommitClaim?,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> Result<DocumentsWritten, DocumentStatus> {
    guard hasRoom(for: writes) else { return .failure(Self.fullStatus) }
    let (decision, mutations, record): (DocumentDecision, [Mutation], [UInt8])
    do throws(StorageError) {
      switch try decide(writes, reads, call, room, batch) {
      case .failure(let status): return .failure(refuse(status, claim, call, &batch))
      case .success(let made): decision = made
      }
      (mutations, record) = try room.authority.apply(decision, to: batch.changes)
    } catch {
      // Nothing was changed yet.
      return .failure(refuse(try DocumentStatus(damage: error), claim, call, &batch))
    }
    room.note(decision.version)
    let outcome = DocumentOutcome.committed(decision.version, decision.results).encode()
    if claim != nil || !mutations.isEmpty {
      let stored = claim == nil ? [] : outcome
      if let claim { store(&call.link.refused, before: claim, &batch) }
      batch.add(Commit(claim: claim, mutations: mutations, record: record, outcome: stored))
      if let claim { self.record(claim, batch.version, outcome) }
    }
    try fanOut(decision, in: room, &batch)
    return .success(DocumentsWritten(version: decision.version, results: decision.results))
  }

  /// Decides writes of somebody who may make them.
  private func decide(
    _ writes: [DocumentMutation], _ reads: DocumentReadSet?, _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<DocumentDecision, DocumentStatus> {
    if deniesEverything(call, room) { return .failure(Self.denied) }
    let decided = try room.authority.decide(
      writes, validating: reads, now: batch.now * 1_000, in: batch.reader)
    switch decided {
    case .success(let decision):
      return try allows(decision, of: writes, call, room, batch)
        ? decided : .failure(ServerMachine.denied)
    case .failure(let status):
      // What a document is not tells about it; only who may make such a write is told.
      return try mayTry(writes, call, room, batch) ? .failure(status) : .failure(Self.denied)
    }
  }

  /// Whether somebody may make writes whose conditions do not hold.
  private func mayTry(
    _ writes: [DocumentMutation], _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Bool {
    let bare = writes.filter { $0.change != .verify }.map { $0.requiring(.none) }
    let decided = try room.authority.decide(bare, now: batch.now * 1_000, in: batch.reader)
    // What can never be written is told to everybody.
    guard case .success(let decision) = decided else { return true }
    return try allows(decision, of: writes, call, room, batch)
  }

  private mutating func refuse(
    _ status: DocumentStatus, _ claim: CommitClaim?, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) -> DocumentStatus {
    if let claim, status.code.rejectsWrite {
      let outcome = DocumentOutcome.rejected(status).encode()
      guard hasStanding(call.identity, claim) else {
        call.link.refused.note(claim, outcome)
        return status
      }
      store(&call.link.refused, before: claim, &batch)
      batch.add(Commit(claim: claim, mutations: [], record: [], outcome: outcome))
      record(claim, batch.version, outcome)
    }
    return status
  }
}
