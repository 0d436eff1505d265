import TernCore
package import TernSync
import TernTransactions
import TernTreeReplica

// Who uses the device. Each user's writes are queued and numbered apart, shown to them alone, and
// sent with no credential but theirs. Source: Docs/Decisions/0018.

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
      endPresences(because: .rejected(.userChanged))
      setAside()
      former[self.user] = book
      self.user = user
      do throws(QueueError) {
        if let queue = try opened?.get() {
          former[user] = nil
          book = UserWrites(client: queue.client, nextSequence: queue.nextSequence)
          lost = try restore(queue.rows)
        }
      } catch {
        failure = error
        dropAll()
      }
      if let book = former.removeValue(forKey: user) { takeUp(book) }
      emit(.queueChanged)
    }
    setCredential(token)
    return (lost, failure)
  }

  /// Takes everything the user has written out of sight, and off the way.
  private mutating func setAside() {
    for index in transactions.list.indices {
      guard let declared = transactions.list[index].declared else { continue }
      if let row = transactions.list[index].row {
        transactions.dormant.append((row, declared))
        transactions.list[index].row = nil
      } else {
        book.remembering[transactions.list[index].id] = declared
      }
    }
    cancelTransactions(because: .cancelled)
    book.dormant = transactions.dormant
    transactions.dormant = []
    hideWrites()
  }

  private mutating func hideWrites() {
    outbox.removeWrites()
    lastAnswered = 0
    for (id, _) in book.writes.inOrder.reversed() { perform(replica.acknowledge(id, .rejected)) }
  }

  /// The queue makes no sense: nothing of it is shown or sent, and nothing is changed in it.
  private mutating func dropAll() {
    hideWrites()
    transactions.dormant = []
    book = UserWrites(client: ambient.randomID(), nextSequence: 1)
  }

  /// Restores the writes that a user made before another one took over, under the old names.
  private mutating func takeUp(_ known: UserWrites) {
    book = known
    transactions.dormant = known.dormant
    book.dormant = []
    for (id, local) in known.writes.inOrder {
      perform(replica.plan(local.write, id: id, now: serverNow).outcome)
      outbox.append(.write(id))
    }
  }

  /// Does something with the writes of a user.
  mutating func withBook(of owner: QueueUser, _ body: (inout UserWrites) -> Void) {
    if owner == user { return body(&book) }
    guard var book = former.removeValue(forKey: owner) else { return }
    body(&book)
    former[owner] = book
  }
}

// MARK: - What the disk says about those who are gone

extension TreeMachine {
  /// A write was made durable, or not, after its user has gone.
  mutating func storedFormer(_ id: WriteID, of owner: QueueUser, _ result: QueueResult) {
    switch result {
    case .stored(let row, let sequence):
      withBook(of: owner) { $0.writes[id]?.stage = .durable(row: row, sequence: sequence) }
      emit(.stored(id))
    case .failed(let error):
      withBook(of: owner) { $0.writes[id] = nil }
      emit(.notStored(id, error))
    case .changed, .purged:
      break
    }
  }

  mutating func purgedFormer(_ newClient: UInt128, of owner: QueueUser) {
    var gone: [WriteID] = []
    withBook(of: owner) { book in
      gone = book.purged(newClient)
      for id in gone { book.writes[id] = nil }
    }
    for id in gone { emit(.settled(id, .purged)) }
  }

  /// A declared transaction that ended here because its user has gone, if this is one; taken off
  /// the list of those that have no row.
  mutating func waitsForUser(_ id: OperationID, _ owner: QueueUser) -> DeclaredTransaction? {
    var found: DeclaredTransaction?
    withBook(of: owner) { found = $0.remembering.removeValue(forKey: id) }
    return found
  }

  /// Lets a declared transaction wait until its user is there and its name is declared.
  mutating func putToSleep(
    _ transaction: DeclaredTransaction, row: UInt64, of owner: QueueUser
  ) {
    if owner == user {
      transactions.dormant.append((row, transaction))
    } else {
      withBook(of: owner) { $0.dormant.append((row, transaction)) }
    }
  }
}

extension Rejection {
  /// The rejection of requests that were not passed on, because another user signed in first. The
  /// text is this client's, not the server's.
  static let userChanged = Rejection(
    status: "user_changed", detail: "Somebody else uses the device now.")
}
