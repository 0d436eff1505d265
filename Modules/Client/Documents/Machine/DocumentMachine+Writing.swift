package import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernSync

// Writes: shown at once, durable before they are sent, and settled exactly once.
// Source: documents reference, section 5.15; Docs/Formats/document-wire.md, section 2.

extension DocumentMachine {
  /// Takes a batch of writes, each of which keeps the limits of documents; listeners hear it at
  /// once. One that is too large for a request is rejected here, without an event.
  ///
  /// - Parameter row: That of the rejected batch which is sent again.
  /// - Returns: Its name in the effects that follow.
  package mutating func write(
    _ mutations: [DocumentMutation], insteadOf row: UInt64? = nil
  ) -> UInt64 {
    let time = DocumentTimestamp(
      uncheckedMicroseconds: ambient.millisecondsSinceEpoch() * 1_000)
    let batch = replica.prepare(mutations, id: writeNames.nextBatch(), user: user.id, at: time)
    let (record, writeBytes) = DocumentBatchRecord.encode(batch, in: database)
    guard writeBytes <= limits.batchBytes else {
      let error = DocumentError.batchTooLarge(byteCount: writeBytes, limit: limits.batchBytes)
      emit(.invalid(batch: batch.id, error))
      return batch.id
    }
    let change: QueueChange = row.map { .retry(id: $0, payload: record) } ?? .append(record)
    self.change(change, about: .store(batch: batch.id, insteadOf: row))
    writes.note(batch)
    run(replica.plan(batch))
    emit(.queueChanged)
    return batch.id
  }

  /// Waits until everything that is pending now is settled.
  package mutating func waitForPendingWrites() -> DocumentWaitID {
    let (id, effects) = replica.waitForPendingWrites()
    run(effects)
    return id
  }

  /// The queue has made a change, or not.
  package mutating func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    guard let (owner, about) = writeNames.redeem(ticket) else { return }
    switch about {
    case .store(let batch, let rejected): stored(batch, of: owner, insteadOf: rejected, result)
    case .settle(let sequence): withBook(of: owner) { $0.rowSettled(sequence, result) }
    case .discard(let row):
      if result == .changed { withBook(of: owner) { $0.forgetRejected(row) } }
      emit(.discarded(row: row, result))
    }
    emit(.queueChanged)
  }

  /// Hands a change to the queue of the user.
  private mutating func change(_ change: QueueChange, about: OutboundWrites.Ticket) {
    emit(.change(change, ticket: writeNames.ticket(about, of: user), of: user))
  }

  private mutating func stored(
    _ batch: UInt64, of owner: QueueUser, insteadOf rejected: UInt64?, _ result: QueueResult
  ) {
    switch result {
    case .stored(let row, let sequence):
      withBook(of: owner) { book in
        if let rejected { book.forgetRejected(rejected) }
        book.remember(batch, row: row, sequence: sequence)
      }
      emit(.stored(batch: batch))
      sendWrites()
    case .failed(let error):
      emit(.notStored(batch: batch, error))
      withBook(of: owner) { _ = $0.forget(batch) }
      run(replica.reject(batch, DocumentStatus(.resourceExhausted, "it could not be queued")))
    case .changed, .purged: break
    }
  }

  /// Gives a rejected batch up; the queue's answer comes as an effect.
  package mutating func discard(row: UInt64) {
    change(.discard(id: row), about: .discard(row: row))
  }

  /// The batches that wait for the server, and those it rejected.
  package var queueStatus: DocumentQueueStatus {
    let pending = writes.contents.sorted { $0.key < $1.key }.map { id, mutations in
      PendingDocumentBatch(id: id, mutations: mutations, row: writes.row(of: id))
    }
    return DocumentQueueStatus(
      pending: pending, rejected: writes.rejected.values.sorted { $0.id < $1.id })
  }

  mutating func openWriting() {
    writing.isWanted = true
    use()
    guard let stream = writes.stream, connection.isOnline, writing.call == nil,
      !writing.isResting, !holdsBack
    else { return }
    writes.streamEnded()
    let call = open(.write)
    writing.call = call
    send(DocumentWriteRequest(.handshake(stream: stream)))
  }

  mutating func closeWriting() {
    writing.isWanted = false
    if let call = writing.call { send(.cancel(stream: call)) }
    writing.call = nil
    writes.streamEnded()
  }

  mutating func queueToSend(_ batch: DocumentBatch) {
    // A server without numbers takes a batch of nothing for a goodbye, and does not miss it.
    if batch.mutations.isEmpty, !writes.numbersWrites, writes.isDurable(batch.id) {
      return settleUnsent(batch.id)
    }
    writes.queue(batch)
    sendWrites()
  }

  /// Takes a batch that says nothing for accepted.
  private mutating func settleUnsent(_ batch: UInt64) {
    if let (row, sequence) = writes.forget(batch) {
      change(.settle(id: row), about: .settle(sequence: sequence))
    }
    run(replica.acknowledge(batch, version: .none, results: []))
  }

  private mutating func sendWrites() {
    guard writing.call != nil else { return }
    while let (batch, mark) = writes.nextToSend() {
      send(DocumentWriteRequest(.writes(batch.mutations, mark), token: writes.token))
    }
  }

  private mutating func send(_ request: DocumentWriteRequest) {
    guard let call = writing.call else { return }
    let message = DocumentRequest(.write(request), in: database).encode()
    send(.message(stream: call, message))
  }

  mutating func writingEnded(_ status: DocumentStatus?) {
    // A server that numbers writes tells of a rejection in the stream; elsewhere its end does.
    let head = writes.numbersWrites ? nil : writes.sent.first
    writing.isWanted = false
    let delay = writing.ended(status, unit: ambient.randomUnit())
    emit(.startTimer(.writeRetry, delay))
    if let status, status.code == .resourceExhausted, lastWords != status.message {
      lastWords = status.message
      emit(.serverSays(status.message))
    }
    writes.streamEnded()
    if let head, let status, status.code.rejectsWrite {
      settle(head, rejected: status, word: "\(status.code)")
    }
    run(replica.writeStreamClosed(nil))
  }
}

// MARK: Answers

extension DocumentMachine {
  /// A message of the write stream.
  mutating func answered(_ message: [UInt8]) {
    do throws(DocumentWireError) {
      guard case .write(let response) = try DocumentResponse.decode(.write, message, names) else {
        return
      }
      writing.backoff.reset()
      writes.token = response.token
      take(response.content)
    } catch {
      breakWriting(error.status)
    }
  }

  private mutating func take(_ content: DocumentWriteResponse.Content) {
    switch content {
    case .handshake(_, let last): greeted(last)
    case .committed(let version, let results):
      guard let sequence = writes.sent.first else { return }
      take(DocumentWriteOutcome(sequence, .committed(version, results)))
    case .outcome(let outcome): take(outcome)
    case .outcomes(let outcomes): reconcile(outcomes)
    }
  }

  /// The server has answered the greeting, with the last number it has.
  private mutating func greeted(_ last: UInt64?) {
    writes.numbersWrites = last != nil
    if let last, let unknown = writes.open(upTo: last) {
      writes.asked = unknown
      return send(DocumentWriteRequest(.outcomes(unknown), token: writes.token))
    }
    startWriting()
  }

  private mutating func startWriting() {
    writes.isOpen = true
    run(replica.writeStreamOpened())
  }

  /// Applies the outcomes of writes whose answers were lost; missing ones are unknown.
  private mutating func reconcile(_ outcomes: [DocumentWriteOutcome]) {
    for outcome in outcomes.sorted(by: { $0.sequence < $1.sequence }) { take(outcome) }
    if let asked = writes.asked {
      for sequence in asked where writes.batch(numbered: sequence) != nil {
        let text = "the server no longer knows what became of the write"
        settle(sequence, rejected: DocumentStatus(.unknown, text), word: Rejection.unknownOutcome)
      }
    }
    writes.asked = nil
    startWriting()
  }

  private mutating func take(_ outcome: DocumentWriteOutcome) {
    switch outcome.verdict {
    case .committed(let version, let results):
      guard let batch = writes.batch(numbered: outcome.sequence) else { return }
      if let (row, _) = writes.forget(batch) {
        change(.settle(id: row), about: .settle(sequence: outcome.sequence))
      }
      run(replica.acknowledge(batch, version: version, results: results))
    case .rejected(let status):
      settle(outcome.sequence, rejected: status, word: "\(status.code)")
    case .gap:
      breakWriting(DocumentStatus(.aborted, "the server misses writes before this one"))
    }
  }

  fileprivate mutating func settle(
    _ sequence: UInt64, rejected status: DocumentStatus, word: String
  ) {
    guard let batch = writes.batch(numbered: sequence) else { return }
    let mutations = writes.contents[batch] ?? []
    if let (row, _) = writes.forget(batch) {
      let rejection = Rejection(status: word, detail: status.message)
      if mutations.isEmpty {
        // It replaced a corrupt one: there is nothing to decide.
        change(.settle(id: row), about: .settle(sequence: sequence))
      } else {
        writes.note(RejectedDocumentBatch(id: row, mutations: mutations, reason: rejection))
        change(.reject(id: row, rejection), about: .settle(sequence: sequence))
      }
    }
    run(replica.reject(batch, status))
  }

  /// Gives the stream up, and opens another one later.
  private mutating func breakWriting(_ status: DocumentStatus) {
    if let call = writing.call { send(.cancel(stream: call)) }
    writing.isWanted = false
    let delay = writing.ended(status, unit: ambient.randomUnit())
    emit(.startTimer(.writeRetry, delay))
    writes.streamEnded()
    run(replica.writeStreamClosed(nil))
  }
}
