import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

/// The transactions: computed here, decided by the server, computed again when they come too late.
/// Source: realtime reference, section 7.
struct TreeTransactions: Sendable {
  var table = TransactionTable()
  /// The most transactions that may be undecided.
  private let limit: Int

  init(_ limits: TreeMachine.Limits) { limit = limits.waiting.transactions }

  /// Begins a transaction given as a closure; it does not outlive the program.
  mutating func transact(
    at path: TreePath, appliesLocally: Bool, _ update: @escaping TransactionUpdate,
    _ exchange: inout TreeExchange
  ) -> OperationID {
    let id = exchange.channel.nextOperationID()
    let begun = begin(id, at: path, appliesLocally, nil, update, &exchange)
    if begun { exchange.change(.keep(WriteRecord.closure(path).encode()), about: .keep(id)) }
    return id
  }

  /// Begins a transaction given by name; it survives a restart of the program.
  mutating func transact(
    _ name: String, at path: TreePath, arguments: TreeNode, appliesLocally: Bool,
    _ update: @escaping TransactionUpdate, _ exchange: inout TreeExchange
  ) -> OperationID {
    let id = exchange.channel.nextOperationID()
    let declared = DeclaredTransaction(
      stream: exchange.channel.ambient.randomID(), path: path, name: name, arguments: arguments,
      appliesLocally: appliesLocally)
    if begin(id, at: path, appliesLocally, declared, update, &exchange) {
      exchange.change(.keep(WriteRecord.transaction(declared).encode()), about: .keep(id))
    }
    return id
  }

  /// Takes up a declared transaction of an earlier run, whose function is known now.
  mutating func resume(
    _ declared: DeclaredTransaction, row: UInt64, _ update: @escaping TransactionUpdate,
    _ exchange: inout TreeExchange
  ) -> OperationID {
    let id = exchange.channel.nextOperationID()
    let begun = begin(
      id, at: declared.path, declared.appliesLocally, declared, isRestored: true, update,
      &exchange)
    if begun, let index = table.index(of: id) {
      table.list[index].row = row
    } else {
      exchange.change(.settle(id: row), about: .unattended)
    }
    if exchange.channel.isReady { askForOutcomes(&exchange) }
    return id
  }

  /// Computes a transaction for the first time.
  ///
  /// - Returns: Whether it goes on; if not, its end is requested already.
  private mutating func begin(
    _ id: OperationID, at path: TreePath, _ appliesLocally: Bool,
    _ declared: DeclaredTransaction?, isRestored: Bool = false,
    _ update: @escaping TransactionUpdate, _ exchange: inout TreeExchange
  ) -> Bool {
    // Those of an earlier run were counted then.
    guard isRestored || table.list.count < limit else {
      let reason = TransactionError.tooManyWaiting(limit: limit)
      exchange.channel.emit(.transactionEnded(id, .failed(reason)))
      return false
    }
    let (listener, listening) = exchange.views.replica.listen(at: path, for: [])
    exchange.perform(listening)
    let input = exchange.views.replica.transactionInput(at: path) ?? .empty
    let computed = Computation(of: update, input, at: path)
    guard case .output(let output) = computed else {
      exchange.perform(exchange.views.replica.unlisten(listener))
      exchange.channel.emit(.transactionEnded(id, computed.end(input)))
      return false
    }
    let (write, planned) = exchange.views.replica.plan(
      .set(path, output), isVisible: appliesLocally, now: exchange.channel.serverNow)
    table.list.append(
      TreeTransaction(
        id: id, path: path, update: update, appliesLocally: appliesLocally, listener: listener,
        declared: declared, write: write, input: input, output: output,
        awaitsOutcome: isRestored))
    exchange.perform(planned)
    send(at: table.root(above: path), &exchange)
    return true
  }

  /// The queue remembered a transaction, or could not.
  ///
  /// One that has ended since is forgotten again. One that could not be remembered ends, unless an
  /// attempt that is on its way commits it.
  mutating func kept(
    _ id: OperationID, of owner: QueueUser, _ result: QueueResult,
    _ exchange: inout TreeExchange
  ) {
    let waiting = exchange.writes.takeRemembered(id, of: owner)
    switch result {
    case .stored(let row, _):
      if let index = table.index(of: id) {
        table.list[index].row = row
      } else if let waiting {
        exchange.writes.users.update(of: owner) { $0.dormant.append((row, waiting)) }
      } else {
        exchange.change(.settle(id: row), about: .unattended, of: owner)
      }
    case .failed(let error):
      guard let index = table.index(of: id) else { return }
      let path = table.list[index].path
      table.withdraw(id, from: &exchange.outbox.batches)
      abort([id], because: .notStored(error), &exchange)
      rerun(at: path, &exchange)
      send(&exchange)
    case .changed, .purged:
      break
    }
  }
}

// MARK: - Ends

extension TreeTransactions {
  /// Transactions that have ended; the ends are told after the events that they led to.
  struct Ends {
    var outcome = ReplicaOutcome()
    fileprivate var list: [(transaction: TreeTransaction, outcome: TransactionOutcome)] = []
  }

  /// Takes a transaction off the list; its end is to be told with the others.
  mutating func end(
    _ id: OperationID, _ verdict: WriteVerdict, as outcome: TransactionOutcome,
    _ ends: inout Ends, _ exchange: inout TreeExchange
  ) {
    guard let index = table.index(of: id) else { return }
    finish(table.list.remove(at: index), verdict, as: outcome, &ends, &exchange)
  }

  /// Takes the write of a transaction that has left the list out of what is shown.
  private func finish(
    _ ended: TreeTransaction, _ verdict: WriteVerdict, as outcome: TransactionOutcome,
    _ ends: inout Ends, _ exchange: inout TreeExchange
  ) {
    ends.outcome.append(exchange.views.replica.acknowledge(ended.write, verdict))
    if let row = ended.row { exchange.change(.settle(id: row), about: .unattended) }
    ends.list.append((ended, outcome))
  }

  /// Tells the ends, and lets go of the data that was only kept for these transactions.
  func tell(_ ends: Ends, _ exchange: inout TreeExchange) {
    exchange.perform(ends.outcome)
    for end in ends.list {
      exchange.channel.emit(.transactionEnded(end.transaction.id, end.outcome))
    }
    for end in ends.list {
      exchange.perform(exchange.views.replica.unlisten(end.transaction.listener))
    }
  }

  /// Ends the transactions that a local write replaces.
  mutating func abort(touchedBy write: TreeWrite, _ exchange: inout TreeExchange) {
    guard !table.isEmpty else { return }
    for assignment in write.assignments {
      abort(table.overlapping(assignment.path), because: .overridden, &exchange)
    }
  }

  private mutating func abort(
    _ ids: [OperationID], because reason: TransactionError, _ exchange: inout TreeExchange
  ) {
    var ends = Ends()
    for id in ids {
      guard let index = table.index(of: id),
        table.list[index].progress.abort(reason) == .endsNow
      else { continue }
      end(id, .rejected, as: .failed(reason), &ends, &exchange)
    }
    tell(ends, &exchange)
  }

  /// Ends all transactions, also those on their way.
  mutating func cancelAll(because reason: TransactionError, _ exchange: inout TreeExchange) {
    exchange.outbox.batches.removeAll()
    var ends = Ends()
    exchange.views.replica.beginWriteGroup()
    let all = table.list
    table.list = []
    for transaction in all {
      finish(transaction, .rejected, as: .failed(reason), &ends, &exchange)
    }
    ends.outcome.append(exchange.views.replica.endWriteGroup())
    tell(ends, &exchange)
  }

  /// Ends all transactions because another user takes over: those given as closures for good,
  /// declared ones until their user returns.
  mutating func setAside(_ exchange: inout TreeExchange) {
    for index in table.list.indices {
      guard let declared = table.list[index].declared else { continue }
      if let row = table.list[index].row {
        exchange.writes.users.present.dormant.append((row, declared))
        table.list[index].row = nil
      } else {
        exchange.writes.users.present.remembering[table.list[index].id] = declared
      }
    }
    cancelAll(because: .cancelled, &exchange)
  }
}
