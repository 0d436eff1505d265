package import TernCore
package import TernSync
import TernTransactions
package import TernTreeReplica

// The durable queue: what it answered, what it held at the start, and what may be asked of it.

extension TreeMachine {
  /// The queue answered; answers come in the order in which the changes were owed.
  package mutating func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    guard let (owner, about) = tickets.removeValue(forKey: ticket) else { return }
    switch about {
    case .append(let id): stored(id, of: owner, result)
    case .settle(let sequence): withBook(of: owner) { $0.rowSettled(sequence, result) }
    case .keep(let id): kept(id, of: owner, result)
    case .retry(let id, let row):
      if case .stored = result { withBook(of: owner) { $0.rejected[id: row] = nil } }
      stored(id, of: owner, result)
      emit(.queueChanged)
    case .discard(let id, let row):
      if result == .changed { withBook(of: owner) { $0.rejected[id: row] = nil } }
      emit(.queueAnswered(id, result))
      emit(.queueChanged)
    case .purge(let id, let newClient):
      if case .purged = result { purged(newClient, of: owner) }
      emit(.queueAnswered(id, result))
    case .unattended: break
    }
  }

  /// Puts back what the queue held when the program ended, before anything else happens.
  ///
  /// - Returns: The transactions that were given as closures, and are lost: their rows and paths.
  /// - Throws: ``QueueError/damaged(id:)`` when a row says nothing this library understands.
  package mutating func restore(_ rows: [QueuedWrite]) throws(QueueError) -> [LostTransaction] {
    var lost: [LostTransaction] = []
    for row in rows {
      guard let record = WriteRecord(decoding: row.payload) else { throw .damaged(id: row.id) }
      switch (row.state, record) {
      case (.pending(let sequence), .write(let write)):
        restore(write, row: row.id, sequence: sequence)
      case (.rejected(let rejection), .write(let write)):
        book.rejected[id: row.id] = RejectedTreeWrite(
          id: row.id, write: write, reason: rejection)
      case (.kept, .transaction(let transaction)):
        transactions.dormant.append((row.id, transaction))
      case (.kept, .closure(let path)):
        lost.append(LostTransaction(row: row.id, path: path))
        change(.settle(id: row.id), about: .unattended)
      case (.pending, _), (.rejected, _), (.kept, _):
        throw .damaged(id: row.id)
      }
    }
    let oldest = rows.lazy.compactMap { row -> UInt64? in
      if case .pending(let sequence) = row.state { sequence } else { nil }
    }.first
    if let oldest { book.settledThrough = oldest - 1 }
    return lost
  }

  /// Sends a rejected write again, as it was or with another one in its place.
  ///
  /// - Returns: `nil` when no rejected write has this row.
  package mutating func retry(row: UInt64, with edited: TreeWrite? = nil) -> WriteID? {
    guard let rejected = book.rejected[id: row] else { return nil }
    use()
    let write = edited ?? rejected.write
    let payload = edited.map { WriteRecord.write($0).encode() }
    return self.write(write, .retry(id: row, payload: payload)) { .retry($0, row: row) }
  }

  /// Gives a rejected write up.
  package mutating func discard(row: UInt64) -> OperationID {
    let id = nextOperationID()
    change(.discard(id: row), about: .discard(id, row: row))
    return id
  }

  /// Gives up every pending write and transaction.
  package mutating func purge() -> OperationID {
    let id = nextOperationID()
    let newClient = ambient.randomID()
    change(.purge(newClient: newClient), about: .purge(id, newClient: newClient))
    return id
  }

  private mutating func purged(_ newClient: UInt128, of owner: QueueUser) {
    guard owner == user else { return purgedFormer(newClient, of: owner) }
    let gone = book.purged(newClient)
    lastAnswered = 0
    cancelTransactions(because: .cancelled)
    transactions.dormant.removeAll()
    for id in gone {
      outbox.answered(.write(id))
      takeBack(id)
      emit(.settled(id, .purged))
    }
    sendReady()
  }
}

/// A transaction that was given as a closure and had not been decided when its program ended.
package struct LostTransaction: Hashable, Sendable {
  package let row: UInt64
  package let path: TreePath
}
