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

  /// The subject of a change of the queue.
  enum Ticket: Sendable {
    /// A batch becomes durable; `row` is the rejected one it takes the place of.
    case store(batch: UInt64, insteadOf: UInt64?)
    /// The batch of this number leaves, or becomes a rejected one.
    case settle(sequence: UInt64)
    /// A rejected batch is given up.
    case discard(row: UInt64)
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
  /// The last number whose row is known to be gone, and all before it.
  private(set) var settledThrough: UInt64
  /// The first number that was answered while its row could not be changed.
  private var firstUnsettled: UInt64?

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
    settledThrough = nextSequence - 1
  }

  mutating func restore(_ queued: DocumentQueuedBatch) {
    contents[queued.batch.id] = queued.batch.mutations
    settledThrough = min(settledThrough, queued.sequence - 1)
    remember(queued.batch.id, row: queued.row, sequence: queued.sequence)
  }

  mutating func restore(_ batch: RejectedDocumentBatch) { rejected[batch.id] = batch }

  /// Notes that a batch is rejected, and kept in its row.
  mutating func note(_ batch: RejectedDocumentBatch) { rejected[batch.id] = batch }

  /// Notes that a rejected batch has left the queue.
  mutating func forgetRejected(_ row: UInt64) { rejected[row] = nil }

  /// Notes that the row of an answered batch was changed, or not.
  ///
  /// A row that the disk would not change is sent again by the next run, which then needs the
  /// outcome.
  mutating func rowSettled(_ sequence: UInt64, _ result: QueueResult) {
    if case .failed(.storage) = result {
      firstUnsettled = min(firstUnsettled ?? sequence, sequence)
    } else if result == .changed, firstUnsettled == nil {
      settledThrough = max(settledThrough, sequence)
    }
  }

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
    return (batch, DocumentWriteHeader(sequence: row.sequence, acknowledged: settledThrough))
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
