import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// Sending what waits, in order, with a bounded number of unanswered requests.

extension TreeMachine {
  /// Sends from the front of the outbox what may go.
  ///
  /// A write that is not durable yet holds back everything behind it: order is kept.
  mutating func sendReady() {
    guard isReady, !isOutboxResting else { return }
    while hasRoom, let item = outbox.next {
      switch item {
      case .write(let id):
        guard let local = book.writes[id] else {
          outbox.drop()
          continue
        }
        guard let sequence = local.sequence else { return }
        if awaitsOutcome(sequence) { return }
        sendWrite(id, local.write, sequence)
      case .batch(let id):
        guard let request = transactions.request(forBatch: id) else {
          outbox.drop()
          continue
        }
        transactions.batches[id]?.wasSent = true
        sendNext(request, about: .batch(id))
      case .disconnect(let id):
        guard let request = disconnectRequests[id] else {
          outbox.drop()
          continue
        }
        guard request.user == user else {
          outbox.drop()
          disconnectAnswered(id, rejection: .userChanged)
          continue
        }
        sendNext(request.message, about: .disconnect(id))
      }
    }
  }

  /// True when one more may be on its way.
  private var hasRoom: Bool {
    outbox.inFlightCount < limits.window && outbox.inFlightBytes < limits.windowBytes
  }

  /// The server said nothing about an item but that it cannot take it now, as with a full disk: it
  /// goes again after a rest, over the same connection, and so does all behind it.
  mutating func restOutbox(_ item: Outbox.Item, because detail: String) {
    outbox.rest(item)
    rest(because: detail)
  }

  /// The same for an announcement.
  mutating func restPresence(_ id: OperationID, because detail: String) {
    presences[id]?.phase = .idle
    rest(because: detail)
  }

  private mutating func rest(because detail: String) {
    notice(.serverSays(detail))
    guard !isOutboxResting else { return }
    isOutboxResting = true
    // The first delay of a schedule is none.
    var delay = outboxBackoff.next(unit: ambient.randomUnit())
    if delay == .zero { delay = outboxBackoff.next(unit: ambient.randomUnit()) }
    emit(.startTimer(.outbox, delay))
  }

  /// Sends again what the server did not take.
  mutating func resumeOutbox() {
    guard isOutboxResting else { return }
    isOutboxResting = false
    outbox.rested()
    sendReady()
    sendPresences()
  }

  private mutating func sendWrite(_ id: WriteID, _ write: TreeWrite, _ sequence: UInt64) {
    book.writes[id]?.wasSent = true
    let stamp = WriteIdempotencyKey(
      stream: announcedClient == book.client ? nil : book.client, sequence: sequence)
    let mark = WriteHeader(stamp, acknowledged: book.settledThrough)
    let request: TreeRequest =
      switch write {
      case .set(let path, let node): .put(path, node, expectedHash: nil, mark)
      case .merge(let path, let merge): .merge(path, merge, mark)
      }
    sendNext(request, about: .write(id))
  }
}
