import TernCore
package import TernDocumentReplica
import TernDocumentWire
import TernSync

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

/// The pending batches of one user: in the queue, on the stream, or both.
struct OutboundWrites: Sendable {
  private struct Row: Sendable {
    let row: UInt64
    let sequence: UInt64
  }

  /// The stream that this user's writes are numbered in; `nil` when their queue does not open.
  let stream: UInt128?
  /// Batches that are durable.
  private var rows: [UInt64: Row] = [:]
  private var batches: [UInt64: UInt64] = [:]
  /// Batches the replica has handed out for sending, and that are not sent yet.
  private var unsent: [DocumentBatch] = []
  /// The numbers on their way on this stream, in order.
  private(set) var sent: [UInt64] = []
  /// The writes of each pending batch.
  private(set) var contents: [UInt64: [DocumentMutation]] = [:]
  /// The batches the server rejected, by their rows.
  private(set) var rejected: [UInt64: RejectedDocumentBatch] = [:]
  /// The numbers of the stream whose outcomes are not needed any more.
  var settled: SettledSequence

  /// True when the server has answered the greeting, and knows numbers.
  var isOpen = false
  var numbersWrites = false
  /// The newest token of the stream.
  var token: [UInt8] = []
  /// The numbers whose outcomes were asked for.
  var asked: ClosedRange<UInt64>?

  /// - Parameter nextSequence: The number that the queue gives next.
  init(stream: UInt128? = nil, nextSequence: UInt64 = 1) {
    self.stream = stream
    settled = SettledSequence(nextSequence: nextSequence)
  }

  /// Takes up what the queue held at its opening.
  mutating func restore(_ pending: [DocumentQueuedBatch], _ rejected: [RejectedDocumentBatch]) {
    for queued in pending {
      contents[queued.batch.id] = queued.batch.mutations
      settled.restore(queued.sequence)
      remember(queued.batch.id, row: queued.row, sequence: queued.sequence)
    }
    for batch in rejected { note(batch) }
  }

  /// Notes that a batch is rejected, and kept in its row.
  mutating func note(_ batch: RejectedDocumentBatch) { rejected[batch.id] = batch }

  /// Notes that a rejected batch has left the queue.
  mutating func forgetRejected(_ row: UInt64) { rejected[row] = nil }

  mutating func note(_ batch: DocumentBatch) { contents[batch.id] = batch.mutations }

  /// Returns true when a batch survives the end of the program.
  func isDurable(_ batch: UInt64) -> Bool { rows[batch] != nil }

  /// The row of the queue that holds a batch; `nil` until it is durable.
  func row(of batch: UInt64) -> UInt64? { rows[batch]?.row }

  mutating func remember(_ batch: UInt64, row: UInt64, sequence: UInt64) {
    rows[batch] = Row(row: row, sequence: sequence)
    batches[sequence] = batch
  }

  /// Takes a batch out.
  ///
  /// - Returns: The row it had in the queue, and its number.
  mutating func forget(_ batch: UInt64) -> (row: UInt64, sequence: UInt64)? {
    contents[batch] = nil
    unsent.removeAll { $0.id == batch }
    guard let row = rows.removeValue(forKey: batch) else { return nil }
    batches[row.sequence] = nil
    sent.removeAll { $0 == row.sequence }
    return (row.row, row.sequence)
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
  mutating func nextToSend() -> (batch: DocumentBatch, mark: DocumentWriteHeader)? {
    guard isOpen, let batch = unsent.first, let row = rows[batch.id] else { return nil }
    unsent.removeFirst()
    sent.append(row.sequence)
    return (batch, DocumentWriteHeader(sequence: row.sequence, acknowledged: settled.through))
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
