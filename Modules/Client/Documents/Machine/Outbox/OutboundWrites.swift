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
  /// The stream that this user's writes are numbered in; `nil` when their queue does not open.
  let stream: UInt128?
  /// The rows and the numbers of batches that are durable.
  private var numbers: NumberedWrites
  /// Batches the replica has handed out for sending, and that are not sent yet.
  private var unsent: [DocumentBatch] = []
  /// The numbers on their way on this stream, in order.
  private(set) var sent: [UInt64] = []
  /// The batches that the server has not answered.
  private(set) var pending = WriteList<PendingDocumentBatch>()
  /// The batches the server rejected; their ids are their rows.
  private(set) var rejected = WriteList<RejectedDocumentBatch>()

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
    numbers = NumberedWrites(nextSequence: nextSequence)
  }

  /// Takes up what the queue held at its opening.
  mutating func restore(_ queue: [DocumentQueuedBatch], _ rejected: [RejectedDocumentBatch]) {
    for queued in queue {
      pending[id: queued.batch.id] = PendingDocumentBatch(
        id: queued.batch.id, mutations: queued.batch.mutations, row: queued.row)
      numbers.restore(queued.batch.id, row: queued.row, sequence: queued.sequence)
    }
    for batch in rejected { note(batch) }
  }

  /// Notes that a batch is rejected, and kept in its row.
  mutating func note(_ batch: RejectedDocumentBatch) { rejected[id: batch.id] = batch }

  /// Notes that a rejected batch has left the queue.
  mutating func forgetRejected(_ row: UInt64) { rejected[id: row] = nil }

  mutating func note(_ batch: DocumentBatch) {
    pending[id: batch.id] = PendingDocumentBatch(
      id: batch.id, mutations: batch.mutations, row: nil)
  }

  /// Returns true when a batch survives the end of the program.
  func isDurable(_ batch: UInt64) -> Bool { numbers[batch] != nil }

  /// Notes that a batch is durable.
  mutating func stored(_ batch: UInt64, row: UInt64, sequence: UInt64) {
    numbers.add(batch, row: row, sequence: sequence)
    guard let mutations = pending[id: batch]?.mutations else { return }
    pending[id: batch] = PendingDocumentBatch(id: batch, mutations: mutations, row: row)
  }

  /// Notes that the row of an answered batch was changed, or not.
  mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    numbers.rowSettled(sequence, result)
  }

  /// Takes a batch out.
  ///
  /// - Returns: The row it had in the queue, and its number.
  mutating func remove(_ batch: UInt64) -> NumberedWrites.Entry? {
    pending[id: batch] = nil
    unsent.removeAll { $0.id == batch }
    guard let entry = numbers.remove(batch) else { return nil }
    sent.removeAll { $0 == entry.sequence }
    return entry
  }

  func batch(numbered sequence: UInt64) -> UInt64? { numbers.id(numbered: sequence) }

  /// The numbers up to one that have no outcome yet.
  func open(upTo last: UInt64) -> ClosedRange<UInt64>? { numbers.span(through: last) }

  /// Notes the last number that the server says it has.
  mutating func serverKnows(through last: UInt64) { numbers.serverKnows(through: last) }

  mutating func queue(_ batch: DocumentBatch) { unsent.append(batch) }

  /// The next batch to send, once it is durable.
  mutating func nextToSend() -> (batch: DocumentBatch, mark: DocumentWriteHeader)? {
    guard isOpen, let batch = unsent.first, let entry = numbers[batch.id] else { return nil }
    unsent.removeFirst()
    sent.append(entry.sequence)
    let header = DocumentWriteHeader(
      sequence: entry.sequence, acknowledged: numbers.settledThrough)
    return (batch, header)
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
