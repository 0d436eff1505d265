import TernCore
package import TernDocumentEngine
import TernDocumentWire

/// A batch as the durable queue holds it.
package struct DocumentQueuedBatch: Sendable {
  package let batch: DocumentBatch
  /// The row of the queue.
  package let row: UInt64
  /// Its number in the client's stream of writes.
  package let sequence: UInt64

  package init(batch: DocumentBatch, row: UInt64, sequence: UInt64) {
    self.batch = batch
    self.row = row
    self.sequence = sequence
  }
}

/// Where each pending batch is: in the queue, on the stream, or both.
struct WriteBook: Sendable {
  private struct Row: Sendable {
    let row: UInt64
    let sequence: UInt64
  }

  private(set) var lastBatch: UInt64 = 0
  /// Batches that are durable.
  private var rows: [UInt64: Row] = [:]
  private var batches: [UInt64: UInt64] = [:]
  /// Batches the replica has handed out for sending, and that are not sent yet.
  private var unsent: [DocumentBatch] = []
  /// The numbers on their way on this stream, in order.
  private(set) var sent: [UInt64] = []
  private var lastTicket: UInt64 = 0
  private var tickets: [UInt64: UInt64] = [:]

  /// Whether the server has answered the greeting, and knows numbers.
  var isOpen = false
  var numbersWrites = false
  /// The newest token of the stream.
  var token: [UInt8] = []
  /// The numbers whose outcomes were asked for.
  var asked: ClosedRange<UInt64>?

  mutating func restore(_ queued: DocumentQueuedBatch) {
    lastBatch = max(lastBatch, queued.batch.id)
    remember(queued.batch.id, row: queued.row, sequence: queued.sequence)
  }

  mutating func nextBatch() -> UInt64 {
    lastBatch += 1
    return lastBatch
  }

  /// A ticket for a change of the queue, which is about a batch or about none that waits.
  mutating func ticket(for batch: UInt64?) -> UInt64 {
    lastTicket += 1
    if let batch { tickets[lastTicket] = batch }
    return lastTicket
  }

  mutating func redeem(_ ticket: UInt64) -> UInt64? { tickets.removeValue(forKey: ticket) }

  mutating func remember(_ batch: UInt64, row: UInt64, sequence: UInt64) {
    rows[batch] = Row(row: row, sequence: sequence)
    batches[sequence] = batch
  }

  /// Takes a batch out.
  ///
  /// - Returns: The row it had in the queue.
  mutating func forget(_ batch: UInt64) -> UInt64? {
    unsent.removeAll { $0.id == batch }
    guard let row = rows.removeValue(forKey: batch) else { return nil }
    batches[row.sequence] = nil
    sent.removeAll { $0 == row.sequence }
    return row.row
  }

  func batch(numbered sequence: UInt64) -> UInt64? { batches[sequence] }

  /// The numbers up to one that have no outcome yet.
  func open(upTo last: UInt64) -> ClosedRange<UInt64>? {
    let numbers = batches.keys.filter { $0 <= last }
    guard let first = numbers.min(), let end = numbers.max() else { return nil }
    return first...end
  }

  mutating func queue(_ batch: DocumentBatch) { unsent.append(batch) }

  /// The next batch to send, once it is durable.
  mutating func nextToSend() -> (batch: DocumentBatch, mark: DocumentWriteMark)? {
    guard isOpen, let batch = unsent.first, let row = rows[batch.id] else { return nil }
    unsent.removeFirst()
    sent.append(row.sequence)
    // Everything before the first that is on its way has its outcome.
    let acknowledged = (sent.first ?? row.sequence) - 1
    return (batch, DocumentWriteMark(sequence: row.sequence, acknowledged: acknowledged))
  }

  /// The stream is gone; the replica hands out again what has no outcome.
  mutating func streamEnded() {
    isOpen = false
    unsent = []
    sent = []
    token = []
    asked = nil
  }
}
