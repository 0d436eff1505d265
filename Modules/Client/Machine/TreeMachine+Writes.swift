package import TernCore
import TernSync
import TernTransactions
package import TernTreeReplica

// A write: seen here at once, made durable, sent, answered.

extension TreeMachine {
  /// Takes a write that keeps the limits of the tree.
  ///
  /// Listeners hear it now; the rest follows under the returned id.
  package mutating func write(_ write: TreeWrite) -> WriteID {
    use()
    return self.write(write, .append(WriteRecord.write(write).encode())) { .append($0) }
  }

  /// Shows a write and hands it to the queue; its place among all writes is taken now.
  mutating func write(
    _ write: TreeWrite, _ queued: QueueChange, about: (WriteID) -> Ticket
  ) -> WriteID {
    abortTransactions(touchedBy: write)
    let id = plan(write)
    book.writes[id] = LocalWrite(write: write)
    outbox.append(.write(id))
    change(queued, about: about(id))
    emit(.queueChanged)
    rerunTransactions(touchedBy: write)
    return id
  }

  /// Puts a write found in the queue back where it was when the program ended.
  mutating func restore(_ write: TreeWrite, row: UInt64, sequence: UInt64) {
    let id = plan(write)
    book.writes[id] = LocalWrite(
      write: write, stage: .durable(row: row, sequence: sequence), wasSent: true)
    outbox.append(.write(id))
  }

  private mutating func plan(_ write: TreeWrite) -> WriteID {
    let (id, outcome) = replica.plan(write, now: serverNow)
    perform(outcome)
    return id
  }

  /// The queue answered.
  mutating func stored(_ id: WriteID, of owner: QueueUser, _ result: QueueResult) {
    guard owner == user else { return storedFormer(id, of: owner, result) }
    guard book.writes[id] != nil else { return }
    switch result {
    case .stored(let row, let sequence):
      book.writes[id]?.stage = .durable(row: row, sequence: sequence)
      emit(.stored(id))
      emit(.queueChanged)
      sendReady()
    case .failed(let error):
      takeBack(id)
      emit(.notStored(id, error))
    case .changed, .purged:
      break
    }
  }

  /// Removes a write from the overlay with the events that undo it.
  mutating func takeBack(_ id: WriteID) {
    guard let local = book.writes[id] else { return }
    book.writes[id] = nil
    perform(replica.acknowledge(id, .rejected))
    rerunTransactions(touchedBy: local.write)
    emit(.queueChanged)
  }

  /// The server decided about a write.
  mutating func decided(_ id: WriteID, rejection: Rejection?) {
    outbox.answered(.write(id))
    guard let local = book.writes[id], case .durable(let row, let sequence) = local.stage else {
      return
    }
    if let rejection, !local.isFiller {
      book.rejected[id: row] = RejectedTreeWrite(
        id: row, write: local.write, reason: rejection)
      change(.reject(id: row, rejection), about: .settle(sequence: sequence))
      takeBack(id)
      emit(.settled(id, .rejected(rejection)))
    } else {
      change(.settle(id: row), about: .settle(sequence: sequence))
      book.writes[id] = nil
      perform(replica.acknowledge(id, .accepted))
      rerunTransactions(touchedBy: local.write)
      emit(.settled(id, .accepted))
      emit(.queueChanged)
    }
  }
}
