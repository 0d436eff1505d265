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
      uncheckedMicroseconds: channel.ambient.millisecondsSinceEpoch() * 1_000)
    let batch = replica.cache.prepare(mutations, id: outbox.nextBatch(), user: user.id, at: time)
    guard outbox.add(batch, insteadOf: row, &channel) else { return batch.id }
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

  /// Gives a rejected batch up; the queue's answer comes as an effect.
  package mutating func discard(row: UInt64) { outbox.discard(row: row, &channel) }

  /// The batches that wait for the server, and those it rejected.
  package var queueStatus: DocumentQueueStatus { outbox.status }

  /// The queue has made a change, or not.
  package mutating func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    switch outbox.queueAnswered(ticket, result, &channel) {
    case .unknown: return
    case .taken: break
    case .failed(let batch):
      let status = DocumentStatus(.resourceExhausted, "it could not be queued")
      emit(.settled(batch: batch, status))
      run(replica.reject(batch, status))
    }
    emit(.queueChanged)
  }
}

// MARK: - The stream

extension DocumentMachine {
  mutating func openWriting() {
    outbox.wantStream()
    use()
    outbox.openStream(&channel)
  }

  mutating func queueToSend(_ batch: DocumentBatch) {
    guard outbox.skips(batch) else { return outbox.send(batch, &channel) }
    accept(batch.id, version: .none, results: [])
  }

  mutating func writingEnded(_ status: DocumentStatus?) {
    let head = outbox.streamEnded(status, &channel)
    if let head, let status, status.code.rejectsWrite {
      reject(head, status, word: "\(status.code)")
    }
    run(replica.writeStreamClosed(nil))
  }

  /// A message of the write stream.
  mutating func answered(_ message: [UInt8]) {
    do throws(DocumentWireError) {
      let response = try DocumentResponse.decode(.write, message, channel.names)
      guard case .write(let response) = response else { return }
      outbox.heard(response)
      take(response.content)
    } catch {
      breakWriting(error.status)
    }
  }

  private mutating func take(_ content: DocumentWriteResponse.Content) {
    switch content {
    case .handshake(_, let last): if outbox.greeted(last, &channel) { startWriting() }
    case .committed(let version, let results):
      guard let sequence = outbox.users.present.sent.first else { return }
      take(DocumentWriteOutcome(sequence, .committed(version, results)))
    case .outcome(let outcome): take(outcome)
    case .outcomes(let outcomes): reconcile(outcomes)
    }
  }

  private mutating func startWriting() {
    outbox.opened()
    run(replica.writeStreamOpened())
  }

  /// Applies the outcomes of writes whose answers were lost; missing ones are unknown.
  private mutating func reconcile(_ outcomes: [DocumentWriteOutcome]) {
    for outcome in outcomes.sorted(by: { $0.sequence < $1.sequence }) { take(outcome) }
    if let asked = outbox.users.present.asked {
      let text = "the server no longer knows what became of the write"
      for sequence in asked {
        reject(sequence, DocumentStatus(.unknown, text), word: Rejection.unknownOutcome)
      }
    }
    outbox.reconciled()
    startWriting()
  }

  private mutating func take(_ outcome: DocumentWriteOutcome) {
    switch outcome.verdict {
    case .committed(let version, let results):
      guard let batch = outbox.users.present.batch(numbered: outcome.sequence) else { return }
      accept(batch, version: version, results: results)
    case .rejected(let status):
      reject(outcome.sequence, status, word: "\(status.code)")
    case .gap:
      breakWriting(DocumentStatus(.aborted, "the server misses writes before this one"))
    }
  }

  private mutating func accept(
    _ batch: UInt64, version: DocumentVersion, results: [DocumentWriteResult]
  ) {
    outbox.accepted(batch, &channel)
    run(replica.acknowledge(batch, version: version, results: results))
  }

  /// Rejects the batch of a number, if it is pending.
  private mutating func reject(_ sequence: UInt64, _ status: DocumentStatus, word: String) {
    guard let batch = outbox.users.present.batch(numbered: sequence) else { return }
    outbox.rejected(batch, status, word: word, &channel)
    run(replica.reject(batch, status))
  }

  /// Gives the stream up, and opens another one later.
  private mutating func breakWriting(_ status: DocumentStatus) {
    outbox.breakStream(status, &channel)
    run(replica.writeStreamClosed(nil))
  }
}
