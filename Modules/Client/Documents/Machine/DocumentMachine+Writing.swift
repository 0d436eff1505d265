package import TernCore
package import TernDocumentEngine
import TernDocumentWire
package import TernStorage
package import TernSync

// Writes: shown at once, durable before they are sent, and settled exactly once.
// Source: documents reference, section 5.15; Docs/Formats/document-wire.md, section 2.

extension DocumentMachine {
  /// Takes a batch of writes that keep the limits of documents; listeners hear it at once.
  ///
  /// - Returns: Its name in the effects that follow.
  package mutating func write(_ mutations: [DocumentMutation]) -> UInt64 {
    let time = DocumentTimestamp(
      uncheckedMicroseconds: ambient.millisecondsSinceEpoch() * 1_000)
    let batch = replica.prepare(mutations, id: writes.nextBatch(), user: "", at: time)
    let record = DocumentBatchRecord.encode(batch, in: database)
    owe(.change(.append(record), ticket: writes.ticket(for: batch.id)))
    run(replica.plan(batch))
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
    guard let batch = writes.redeem(ticket) else { return }
    switch result {
    case .stored(let row, let sequence):
      writes.remember(batch, row: row, sequence: sequence)
      owe(.stored(batch: batch))
      sendWrites()
    case .failed(let error):
      owe(.notStored(batch: batch, error))
      _ = writes.forget(batch)
      run(replica.reject(batch, DocumentStatus(.resourceExhausted, "it could not be queued")))
    case .changed, .purged: break
    }
  }

  mutating func openWriting() {
    writing.isWanted = true
    use()
    guard connection.isOnline, writing.call == nil, !writing.isResting else { return }
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
    writes.queue(batch)
    sendWrites()
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
    // A server that numbers writes tells of a refusal in the stream; elsewhere its end does.
    let head = writes.numbersWrites ? nil : writes.sent.first
    writing.isWanted = false
    let delay = writing.ended(status, unit: ambient.randomUnit())
    owe(.startTimer(.writeRetry, delay))
    writes.streamEnded()
    if let head, let status, status.code.refusesWrite {
      settle(head, refused: status, word: "\(status.code)")
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

  /// The outcomes of writes whose answers were lost; those that are missing nobody knows.
  private mutating func reconcile(_ outcomes: [DocumentWriteOutcome]) {
    for outcome in outcomes.sorted(by: { $0.sequence < $1.sequence }) { take(outcome) }
    if let asked = writes.asked {
      for sequence in asked where writes.batch(numbered: sequence) != nil {
        let text = "the server no longer knows what became of the write"
        settle(sequence, refused: DocumentStatus(.unknown, text), word: Rejection.unknownOutcome)
      }
    }
    writes.asked = nil
    startWriting()
  }

  private mutating func take(_ outcome: DocumentWriteOutcome) {
    switch outcome.verdict {
    case .committed(let version, let results):
      guard let batch = writes.batch(numbered: outcome.sequence) else { return }
      if let row = writes.forget(batch) {
        owe(.change(.settle(id: row), ticket: writes.ticket(for: nil)))
      }
      run(replica.acknowledge(batch, version: version, results: results))
    case .refused(let status):
      settle(outcome.sequence, refused: status, word: "\(status.code)")
    case .gap:
      breakWriting(DocumentStatus(.aborted, "the server misses writes before this one"))
    }
  }

  fileprivate mutating func settle(
    _ sequence: UInt64, refused status: DocumentStatus, word: String
  ) {
    guard let batch = writes.batch(numbered: sequence) else { return }
    if let row = writes.forget(batch) {
      let rejection = Rejection(status: word, detail: status.message)
      owe(.change(.reject(id: row, rejection), ticket: writes.ticket(for: nil)))
    }
    run(replica.reject(batch, status))
  }

  /// Gives the stream up, and opens another one later.
  private mutating func breakWriting(_ status: DocumentStatus) {
    if let call = writing.call { send(.cancel(stream: call)) }
    writing.isWanted = false
    let delay = writing.ended(status, unit: ambient.randomUnit())
    owe(.startTimer(.writeRetry, delay))
    writes.streamEnded()
    run(replica.writeStreamClosed(nil))
  }
}

extension DocumentMachine {
  /// Forgets everything that is cached, and gives up everything that is queued.
  package mutating func clear(newClient: UInt128) throws(StorageError) {
    try replica.cache.clearAll()
    owe(.change(.purge(newClient: newClient), ticket: writes.ticket(for: nil)))
  }
}
