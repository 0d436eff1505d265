import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernSync

/// The batches of the device's users: durable before they are sent, and settled exactly once.
///
/// Each user's batches are queued and numbered apart, shown to that user alone, and sent with no
/// other credential. Source: documents reference, sections 3.7 and 5.15;
/// Docs/Formats/document-wire.md, section 2.
struct DocumentOutbox: Sendable {
  private(set) var stream: DocumentStream
  private(set) var users: PerUser<OutboundWrites>
  private var tickets = QueueTickets<Ticket>()
  private var lastBatch: UInt64 = 0
  /// The most bytes of the writes of one batch.
  private let batchBytes: Int
  /// The server's latest reason for taking no writes, as the developer was told.
  private var lastReason: String?

  /// The subject of a change of a queue.
  private enum Ticket: Sendable {
    /// A batch becomes durable; `row` is the rejected one it takes the place of.
    case store(batch: UInt64, insteadOf: UInt64?)
    /// The batch of this number leaves, or becomes a rejected one: that is told once it is durable,
    /// so that no crash takes it back.
    case settle(sequence: UInt64, telling: (batch: UInt64, status: DocumentStatus)? = nil)
    /// A rejected batch is given up.
    case discard(row: UInt64)
  }

  init(
    _ user: QueueUser, stream name: UInt128?, nextSequence: UInt64,
    _ limits: DocumentMachine.Limits
  ) {
    users = PerUser(user, OutboundWrites(stream: name, nextSequence: nextSequence))
    stream = DocumentStream(.write, retriedAfter: .writeRetry, limits.backoff)
    batchBytes = limits.batchBytes
  }

  /// The user of this device.
  var user: QueueUser { users.user }

  /// Names a batch.
  mutating func nextBatch() -> UInt64 {
    lastBatch += 1
    return lastBatch
  }

  /// The batches that wait for the server, and those it rejected.
  var status: DocumentQueueStatus {
    DocumentQueueStatus(pending: users.present.pending, rejected: users.present.rejected)
  }
}

// MARK: - The durable queue

extension DocumentOutbox {
  /// Hands a batch to the queue, unless it is too large for a request.
  ///
  /// - Parameter row: That of the rejected batch which is sent again.
  mutating func add(
    _ batch: DocumentBatch, insteadOf row: UInt64?, _ channel: inout DocumentChannel
  ) -> Bool {
    let (record, writeBytes) = DocumentBatchRecord.encode(batch, in: channel.database)
    guard writeBytes <= batchBytes else {
      let error = DocumentError.batchTooLarge(byteCount: writeBytes, limit: batchBytes)
      channel.emit(.invalid(batch: batch.id, error))
      return false
    }
    let change: QueueChange = row.map { .retry(id: $0, payload: record) } ?? .append(record)
    self.change(change, about: .store(batch: batch.id, insteadOf: row), &channel)
    users.present.note(batch)
    return true
  }

  /// Gives a rejected batch up; the queue's answer comes as an effect.
  mutating func discard(row: UInt64, _ channel: inout DocumentChannel) {
    change(.discard(id: row), about: .discard(row: row), &channel)
  }

  /// Hands a change to the queue of the present user.
  private mutating func change(
    _ change: QueueChange, about: Ticket, _ channel: inout DocumentChannel
  ) {
    let ticket = tickets.issue(about, of: user)
    channel.emit(.change(change, ticket: ticket, of: user))
  }

  /// The consequence of a queue's answer.
  enum Answer {
    /// The ticket is not known.
    case unknown
    case taken
    /// The batch could not be made durable, and is gone.
    case failed(batch: UInt64)
  }

  /// The queue has made a change, or not.
  mutating func queueAnswered(
    _ ticket: UInt64, _ result: QueueResult, _ channel: inout DocumentChannel
  ) -> Answer {
    guard let (owner, about) = tickets.redeem(ticket) else { return .unknown }
    switch about {
    case .store(let batch, let rejected):
      return stored(batch, of: owner, insteadOf: rejected, result, &channel)
    case .settle(let sequence, let rejection):
      users.update(of: owner) { $0.rowSettled(sequence, result) }
      if let rejection { channel.emit(.settled(batch: rejection.batch, rejection.status)) }
    case .discard(let row):
      if result == .changed { users.update(of: owner) { $0.forgetRejected(row) } }
      channel.emit(.discarded(row: row, result))
    }
    return .taken
  }

  private mutating func stored(
    _ batch: UInt64, of owner: QueueUser, insteadOf rejected: UInt64?, _ result: QueueResult,
    _ channel: inout DocumentChannel
  ) -> Answer {
    switch result {
    case .stored(let row, let sequence):
      users.update(of: owner) { writes in
        if let rejected { writes.forgetRejected(rejected) }
        writes.stored(batch, row: row, sequence: sequence)
      }
      channel.emit(.stored(batch: batch))
      send(&channel)
    case .failed(let error):
      channel.emit(.notStored(batch: batch, error))
      users.update(of: owner) { _ = $0.remove(batch) }
      return .failed(batch: batch)
    case .changed, .purged: break
    }
    return .taken
  }
}

// MARK: - The stream

extension DocumentOutbox {
  /// Notes that the replica requests the stream.
  mutating func wantStream() { stream.isWanted = true }

  /// Opens the stream with a greeting, unless something keeps it from being opened.
  mutating func openStream(_ channel: inout DocumentChannel) {
    guard let name = users.present.stream, stream.canOpen(channel) else { return }
    users.present.streamEnded()
    stream.open(&channel)
    stream.send(.write(DocumentWriteRequest(.handshake(stream: name))), &channel)
  }

  /// Ends the stream because it is not wanted any more.
  mutating func closeStream(_ channel: inout DocumentChannel) {
    stream.close(&channel)
    users.present.streamEnded()
  }

  /// The server has answered the greeting, with the last number it has.
  ///
  /// - Returns: Whether batches can be sent now; else outcomes have to come first.
  mutating func greeted(_ last: UInt64?, _ channel: inout DocumentChannel) -> Bool {
    users.present.numbersWrites = last != nil
    if let last { users.present.serverKnows(through: last) }
    guard let last, let unknown = users.present.open(upTo: last) else { return true }
    users.present.asked = unknown
    let token = users.present.token
    stream.send(.write(DocumentWriteRequest(.outcomes(unknown), token: token)), &channel)
    return false
  }

  /// The outcomes that were requested were told.
  mutating func reconciled() { users.present.asked = nil }

  /// Begins to send batches.
  mutating func opened() { users.present.isOpen = true }

  /// The server has sent a message on the stream.
  mutating func heard(_ response: DocumentWriteResponse) {
    stream.heard()
    users.present.token = response.token
  }

  /// Sends a batch, in its turn and once it is durable.
  mutating func send(_ batch: DocumentBatch, _ channel: inout DocumentChannel) {
    users.present.queue(batch)
    send(&channel)
  }

  private mutating func send(_ channel: inout DocumentChannel) {
    guard stream.call != nil else { return }
    while let (batch, mark) = users.present.nextToSend() {
      let token = users.present.token
      stream.send(
        .write(DocumentWriteRequest(.writes(batch.mutations, mark), token: token)), &channel)
    }
  }

  /// The server has ended the stream.
  ///
  /// - Returns: The number that the end rejects, if any: a server that numbers writes tells of a
  ///   rejection in the stream; elsewhere its end does.
  mutating func streamEnded(
    _ status: DocumentStatus?, _ channel: inout DocumentChannel
  ) -> UInt64? {
    let head = users.present.numbersWrites ? nil : users.present.sent.first
    stream.ended(status, &channel)
    if let status, status.code == .resourceExhausted, lastReason != status.message {
      lastReason = status.message
      channel.emit(.serverSays(status.message))
    }
    users.present.streamEnded()
    return head
  }

  /// Gives the stream up, and opens another one later.
  mutating func breakStream(_ status: DocumentStatus, _ channel: inout DocumentChannel) {
    stream.cancel(&channel)
    stream.ended(status, &channel)
    users.present.streamEnded()
  }

  /// The pause of the stream is over.
  ///
  /// - Returns: Whether the stream is to be opened now.
  mutating func rested() -> Bool { stream.rested() }

  /// Clears the pause of the stream: its end is deliberate.
  mutating func forgetPause(_ channel: inout DocumentChannel) { stream.forgetPause(&channel) }

  /// The link is gone.
  mutating func disconnected() {
    stream.disconnected()
    users.present.streamEnded()
  }
}

// MARK: - Outcomes

extension DocumentOutbox {
  /// Returns true when a batch is not to be sent: a server without numbers takes a batch of nothing
  /// for a goodbye, and does not miss it.
  func skips(_ batch: DocumentBatch) -> Bool {
    batch.mutations.isEmpty && !users.present.numbersWrites && users.present.isDurable(batch.id)
  }

  /// Settles a batch that is accepted.
  mutating func accepted(_ batch: UInt64, _ channel: inout DocumentChannel) {
    guard let entry = users.present.remove(batch) else { return }
    change(.settle(id: entry.row), about: .settle(sequence: entry.sequence), &channel)
  }

  /// Settles a batch that is rejected, and keeps it with the reason; its end is told when the queue
  /// has answered.
  ///
  /// - Parameter word: The kind of the reason.
  mutating func rejected(
    _ batch: UInt64, _ status: DocumentStatus, word: String, _ channel: inout DocumentChannel
  ) {
    let mutations = users.present.pending[id: batch]?.mutations ?? []
    guard let entry = users.present.remove(batch) else { return }
    let row = entry.row
    let settling = Ticket.settle(sequence: entry.sequence, telling: (batch, status))
    let rejection = Rejection(status: word, detail: status.message)
    if mutations.isEmpty {
      // It replaced a corrupt one: there is nothing to decide.
      change(.settle(id: row), about: settling, &channel)
    } else {
      users.present.note(RejectedDocumentBatch(id: row, mutations: mutations, reason: rejection))
      change(.reject(id: row, rejection), about: settling, &channel)
    }
  }
}

// MARK: - Users

extension DocumentOutbox {
  /// Takes up the queue of the first user.
  mutating func restore(
    pending: [DocumentQueuedBatch], rejected: [RejectedDocumentBatch]
  ) {
    for queued in pending { lastBatch = max(lastBatch, queued.batch.id) }
    users.present.restore(pending, rejected)
  }

  /// Sets the present user's batches aside.
  mutating func leave(for user: QueueUser) {
    users.present.streamEnded()
    users.leave(for: user)
  }

  /// Takes up the batches of the user who has just come.
  ///
  /// - Parameter opened: The contents of the queue; `nil` when it was opened before in this run.
  /// - Returns: The batches that the replica does not know, and why the queue makes no sense.
  ///   Without a queue there is nothing to send, and nothing is taken.
  mutating func takeUp(
    _ opened: Result<OpenedQueue, QueueError>?, in database: DocumentDatabase
  ) -> (batches: [DocumentBatch], failure: QueueError?) {
    let known = users.takeOwn()
    guard let opened else {
      users.present = known ?? OutboundWrites()
      return ([], nil)
    }
    do throws(QueueError) {
      let (writes, batches) = try read(try opened.get(), of: user, in: database)
      users.present = writes
      return (batches, nil)
    } catch {
      users.present = OutboundWrites()
      return ([], error)
    }
  }

  /// Restores the queue of a user who is not the present one.
  mutating func add(
    _ queue: OpenedQueue, of user: QueueUser, in database: DocumentDatabase
  ) throws(QueueError) -> [DocumentBatch] {
    let (writes, batches) = try read(queue, of: user, in: database)
    users.add(writes, of: user)
    return batches
  }

  private mutating func read(
    _ queue: OpenedQueue, of user: QueueUser, in database: DocumentDatabase
  ) throws(QueueError) -> (writes: OutboundWrites, batches: [DocumentBatch]) {
    let (pending, rejected) = try DocumentBatchRecord.batches(
      in: queue.rows, of: user, database, after: lastBatch)
    for queued in pending { lastBatch = max(lastBatch, queued.batch.id) }
    var writes = OutboundWrites(stream: queue.client, nextSequence: queue.nextSequence)
    writes.restore(pending, rejected)
    return (writes, pending.map(\.batch))
  }
}
