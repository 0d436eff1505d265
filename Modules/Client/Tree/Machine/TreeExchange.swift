import TernCore
import TernSync
import TernTransactions
import TernTreeReplica
import TernTreeWire

/// The tree on this device and on its way to the server: views, writes, outbox and channel, which
/// every operation on the tree changes together.
struct TreeExchange: Sendable {
  var channel: TreeChannel
  var views: TreeViews
  var writes: TreeWrites
  var outbox: TreeOutbox

  /// Performs the outcome of a replica's step: starts, stops, events, cancellations.
  mutating func perform(_ outcome: ReplicaOutcome) { views.perform(outcome, &channel) }

  /// Hands a change to the queue of a user; by default to that of the present user.
  mutating func change(_ change: QueueChange, about: TreeTicket, of owner: QueueUser? = nil) {
    writes.change(change, about: about, of: owner, &channel)
  }

  /// Sends from the front of the outbox what may go.
  mutating func sendReady() { outbox.send(&writes, &channel) }

  /// The connection is lost: nothing on its way will be answered.
  mutating func disconnected() {
    channel.disconnected()
    views.disconnected()
    outbox.disconnected()
    writes.disconnected()
  }
}

// MARK: - A write: seen here at once, made durable, sent, answered

extension TreeExchange {
  /// Shows a write and hands it to the queue; its place among all writes is taken now.
  mutating func write(
    _ write: TreeWrite, _ queued: QueueChange, _ transactions: inout TreeTransactions,
    about: (WriteID) -> TreeTicket
  ) -> WriteID {
    transactions.abort(touchedBy: write, &self)
    let id = plan(write)
    writes.users.present.add(write, as: id)
    outbox.append(.write(id))
    change(queued, about: about(id))
    channel.emit(.queueChanged)
    transactions.rerun(touchedBy: write, &self)
    return id
  }

  /// Puts a write found in the queue back where it was when the program ended.
  mutating func restore(_ write: TreeWrite, row: UInt64, sequence: UInt64) {
    let id = plan(write)
    writes.users.present.restore(write, as: id, row: row, sequence: sequence)
    outbox.append(.write(id))
  }

  private mutating func plan(_ write: TreeWrite) -> WriteID {
    let (id, outcome) = views.replica.plan(write, now: channel.serverNow)
    perform(outcome)
    return id
  }

  /// The queue answered.
  mutating func stored(
    _ id: WriteID, of owner: QueueUser, _ result: QueueResult,
    _ transactions: inout TreeTransactions
  ) {
    guard owner == writes.user else { return writes.storedAway(id, of: owner, result, &channel) }
    guard writes.write(id) != nil else { return }
    switch result {
    case .stored(let row, let sequence):
      writes.users.present.stored(id, row: row, sequence: sequence)
      channel.emit(.stored(id))
      channel.emit(.queueChanged)
      sendReady()
    case .failed(let error):
      takeBack(id, &transactions)
      channel.emit(.notStored(id, error))
    case .changed, .purged:
      break
    }
  }

  /// Removes a write from the overlay with the events that undo it.
  private mutating func takeBack(_ id: WriteID, _ transactions: inout TreeTransactions) {
    guard let write = writes.write(id) else { return }
    writes.users.present.remove(id)
    perform(views.replica.acknowledge(id, .rejected))
    transactions.rerun(touchedBy: write, &self)
    channel.emit(.queueChanged)
  }

  /// The server decided about a write.
  mutating func decided(
    _ id: WriteID, rejection: Rejection?, _ transactions: inout TreeTransactions
  ) {
    outbox.answered(.write(id))
    guard let write = writes.write(id), let entry = writes.users.present.numbers[id.number] else {
      return
    }
    let row = entry.row
    // The filler of a corrupt write's number changes nothing: no caller waits for its outcome.
    if let rejection, !write.assignments.isEmpty {
      writes.users.present.rejected[id: row] = RejectedTreeWrite(
        id: row, write: write, reason: rejection)
      change(
        .reject(id: row, rejection),
        about: .settle(sequence: entry.sequence, telling: (id, rejection)))
      takeBack(id, &transactions)
    } else {
      change(.settle(id: row), about: .settle(sequence: entry.sequence))
      writes.users.present.remove(id)
      perform(views.replica.acknowledge(id, .accepted))
      transactions.rerun(touchedBy: write, &self)
      channel.emit(.settled(id, .accepted))
      channel.emit(.queueChanged)
    }
  }

  /// The server told what became of writes whose answers were lost.
  mutating func outcomesAnswered(
    _ outcomes: [TreeResponse.Outcome], of stream: UInt128, through last: UInt64,
    _ transactions: inout TreeTransactions
  ) {
    let verdicts = writes.outcomesAnswered(outcomes, of: stream, through: last)
    for (id, rejection) in verdicts { decided(id, rejection: rejection, &transactions) }
    sendReady()
  }

  /// All pending writes and transactions of a user were given up.
  mutating func purged(
    _ newClient: UInt128, of owner: QueueUser, _ transactions: inout TreeTransactions
  ) {
    guard owner == writes.user else { return writes.purgedAway(newClient, of: owner, &channel) }
    let gone = writes.purged(newClient)
    transactions.cancelAll(because: .cancelled, &self)
    views.replica.beginWriteGroup()
    for id in gone {
      outbox.answered(.write(id))
      writes.users.present.remove(id)
      perform(views.replica.acknowledge(id, .rejected))
    }
    perform(views.replica.endWriteGroup())
    for id in gone { channel.emit(.settled(id, .purged)) }
    if !gone.isEmpty { channel.emit(.queueChanged) }
    sendReady()
  }

  /// Takes everything that the user has written out of sight, and off the way; within a group of
  /// writes.
  mutating func hideWrites() {
    outbox.removeWrites()
    writes.hidden()
    for write in writes.users.present.pending.reversed() {
      perform(views.replica.acknowledge(WriteID(write.id), .rejected))
    }
  }

  /// Restores the writes that a user made before another one took over, under the old names; within
  /// a group of writes.
  mutating func takeUp(_ known: UserWrites) {
    writes.users.present = known
    for write in known.pending {
      let id = WriteID(write.id)
      perform(views.replica.plan(write.write, id: id, now: channel.serverNow).outcome)
      outbox.append(.write(id))
    }
  }
}
