package import TernCore
package import TernSync
import TernTransactions
package import TernTreeReplica

// Writes and their durable queue: what it answered, what it held at the start, and what may be
// asked of it.

extension TreeMachine {
  /// Takes a write that keeps the limits of the tree.
  ///
  /// Listeners hear it now; the rest follows under the returned id.
  package mutating func write(_ write: TreeWrite) -> WriteID {
    use()
    let record = WriteRecord.write(write).encode()
    return exchange.write(write, .append(record), &transactions) { .append($0) }
  }

  /// Sends a rejected write again, as it was or with another one in its place.
  ///
  /// - Returns: `nil` when no rejected write has this row.
  package mutating func retry(row: UInt64, with edited: TreeWrite? = nil) -> WriteID? {
    guard let rejected = exchange.writes.users.present.rejected[id: row] else { return nil }
    use()
    let write = edited ?? rejected.write
    let payload = edited.map { WriteRecord.write($0).encode() }
    return exchange.write(write, .retry(id: row, payload: payload), &transactions) {
      .retry($0, row: row)
    }
  }

  /// Gives a rejected write up.
  package mutating func discard(row: UInt64) -> OperationID {
    let id = exchange.channel.nextOperationID()
    exchange.change(.discard(id: row), about: .discard(id, row: row))
    return id
  }

  /// Gives up every pending write and transaction.
  package mutating func purge() -> OperationID {
    let id = exchange.channel.nextOperationID()
    let newClient = exchange.channel.ambient.randomID()
    exchange.change(.purge(newClient: newClient), about: .purge(id, newClient: newClient))
    return id
  }

  /// The queue answered; answers come in the order in which the changes were requested.
  package mutating func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    guard let (owner, about) = exchange.writes.redeem(ticket) else { return }
    switch about {
    case .append(let id): exchange.stored(id, of: owner, result, &transactions)
    case .settle(let sequence, let rejected):
      exchange.writes.users.update(of: owner) { $0.rowSettled(sequence, result) }
      if let rejected {
        exchange.channel.emit(.settled(rejected.id, .rejected(rejected.rejection)))
      }
    case .keep(let id): transactions.kept(id, of: owner, result, &exchange)
    case .retry(let id, let row):
      if case .stored = result { forgetRejected(row, of: owner) }
      exchange.stored(id, of: owner, result, &transactions)
      exchange.channel.emit(.queueChanged)
    case .discard(let id, let row):
      if result == .changed { forgetRejected(row, of: owner) }
      exchange.channel.emit(.queueAnswered(id, result))
      exchange.channel.emit(.queueChanged)
    case .purge(let id, let newClient):
      if case .purged = result { exchange.purged(newClient, of: owner, &transactions) }
      exchange.channel.emit(.queueAnswered(id, result))
    case .unattended: break
    }
  }

  private mutating func forgetRejected(_ row: UInt64, of owner: QueueUser) {
    exchange.writes.users.update(of: owner) { $0.rejected[id: row] = nil }
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
        exchange.restore(write, row: row.id, sequence: sequence)
      case (.rejected(let rejection), .write(let write)):
        exchange.writes.users.present.rejected[id: row.id] = RejectedTreeWrite(
          id: row.id, write: write, reason: rejection)
      case (.kept, .transaction(let transaction)):
        exchange.writes.users.present.dormant.append((row.id, transaction))
      case (.kept, .closure(let path)):
        lost.append(LostTransaction(row: row.id, path: path))
        exchange.change(.settle(id: row.id), about: .unattended)
      case (.pending, _), (.rejected, _), (.kept, _):
        throw .damaged(id: row.id)
      }
    }
    return lost
  }
}

/// A transaction that was given as a closure and had not been decided when its program ended.
package struct LostTransaction: Hashable, Sendable {
  package let row: UInt64
  package let path: TreePath
}

// MARK: - Users

extension TreeMachine {
  /// Switches to another user, or none: their writes take the place of the former user's, which
  /// wait for their return.
  ///
  /// Transactions given as closures end; declared ones wait as well. What the former user had the
  /// server defer stays with the connection, as the server keeps it.
  ///
  /// - Parameters:
  ///   - token: What shows the server who it is.
  ///   - opened: What their queue holds; `nil` when it was opened before in this run, and a
  ///     failure when it does not open: then what they write is not taken.
  /// - Returns: The transactions of an earlier run that are lost, and why the queue makes no sense.
  package mutating func switchUser(
    to user: QueueUser, showing token: String?, _ opened: Result<OpenedQueue, QueueError>?
  ) -> (lost: [LostTransaction], failure: QueueError?) {
    var lost: [LostTransaction] = []
    var failure: QueueError?
    if user != self.user {
      if presence.endAll(because: .rejected(.userChanged), &exchange.channel) {
        connectionEvent(.redirected)
      }
      exchange.channel.userChanged()
      transactions.setAside(&exchange)
      // One step for listeners: what no user has must not show in between.
      exchange.views.replica.beginWriteGroup()
      exchange.hideWrites()
      exchange.writes.users.leave(for: user)
      do throws(QueueError) {
        if let queue = try opened?.get() { lost = try takeUp(queue) }
      } catch {
        failure = error
        dropAll()
      }
      if let known = exchange.writes.users.takeOwn() { exchange.takeUp(known) }
      exchange.perform(exchange.views.replica.endWriteGroup())
      exchange.channel.emit(.queueChanged)
    }
    setCredential(token)
    return (lost, failure)
  }

  /// Takes up a queue that was opened for the first time in this run.
  private mutating func takeUp(
    _ queue: OpenedQueue
  ) throws(QueueError) -> [LostTransaction] {
    _ = exchange.writes.users.takeOwn()
    exchange.writes.users.present = UserWrites(
      client: queue.client, nextSequence: queue.nextSequence)
    return try restore(queue.rows)
  }

  /// The queue makes no sense: nothing of it is shown or sent, and nothing is changed in it.
  private mutating func dropAll() {
    exchange.hideWrites()
    exchange.writes.users.present = UserWrites(
      client: exchange.channel.ambient.randomID(), nextSequence: 1)
  }
}
