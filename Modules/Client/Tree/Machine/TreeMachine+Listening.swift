package import TernCore
package import TernQuery
import TernSync
import TernTransactions
package import TernTreeReplica

// Listeners, one-time reads, transactions and presence: each is the business of its part, and the
// first use of any opens the connection.

extension TreeMachine {
  /// Registers a listener, and requests the delivery of what is known already.
  package mutating func listen(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds
  ) -> ListenerID {
    use()
    return exchange.views.listen(at: path, query: query, for: kinds, &exchange.channel)
  }

  /// Ends a listener; it hears nothing any more.
  package mutating func unlisten(_ id: ListenerID) {
    exchange.views.unlisten(id, &exchange.channel)
  }

  /// Keeps a query in sync without a listener, or no longer.
  package mutating func keepSynced(_ isKept: Bool, at path: TreePath, query: TreeQuery) {
    guard !path.isInfo else { return }
    use()
    exchange.perform(exchange.views.replica.keepSynced(isKept, at: path, query: query))
  }

  /// A query's result as listeners have it, with what is known about it.
  package func snapshot(at path: TreePath, query: TreeQuery) -> TreeSnapshot {
    exchange.views.snapshot(at: path, query: query)
  }

  /// Returns the data of a query's listeners, with its metadata; `nil` without listeners.
  package func viewState(at path: TreePath, query: TreeQuery) -> ViewState? {
    exchange.views.replica.state(at: path, query: query)
  }

  /// Reads a query's result once.
  package mutating func read(at path: TreePath, query: TreeQuery) -> OperationID {
    use()
    return reads.read(at: path, query: query, &exchange)
  }
}

// MARK: - Transactions

extension TreeMachine {
  /// Begins a transaction given as a closure; it does not outlive the program.
  package mutating func transact(
    at path: TreePath, appliesLocally: Bool, _ update: @escaping TransactionUpdate
  ) -> OperationID {
    use()
    return transactions.transact(at: path, appliesLocally: appliesLocally, update, &exchange)
  }

  /// Begins a transaction given by name; it survives a restart of the program.
  package mutating func transact(
    _ name: String, at path: TreePath, arguments: TreeNode, appliesLocally: Bool,
    _ update: @escaping TransactionUpdate
  ) -> OperationID {
    use()
    return transactions.transact(
      name, at: path, arguments: arguments, appliesLocally: appliesLocally, update, &exchange)
  }

  /// Says what a name means; transactions of that name from earlier runs go on.
  package mutating func declare(
    _ name: String, _ update: @escaping @Sendable (TreeNode, TreeNode) -> TreeNode?
  ) -> [OperationID] {
    var resumed: [OperationID] = []
    for (row, declared) in exchange.writes.takeDormant(named: name) {
      use()
      let arguments = declared.arguments
      let id = transactions.resume(declared, row: row, { update(arguments, $0) }, &exchange)
      resumed.append(id)
    }
    return resumed
  }
}

// MARK: - Presence

extension TreeMachine {
  /// Announces this client, now and on every later connection.
  package mutating func announce(_ plan: PresencePlan) -> OperationID {
    use()
    return presence.announce(plan, &exchange.channel)
  }

  /// Takes an announcement back.
  package mutating func leave(_ id: OperationID) { presence.leave(id, &exchange.channel) }

  /// Asks the server to carry out a write when the connection ends.
  package mutating func onDisconnect(_ write: TreeWrite) -> OperationID {
    request(.write(write))
  }

  /// Takes back the onDisconnect operations at a path and below it.
  package mutating func cancelOnDisconnect(_ path: TreePath) -> OperationID {
    request(.cancel(path))
  }

  private mutating func request(_ verb: DisconnectRequest.Verb) -> OperationID {
    use()
    let id = exchange.channel.nextOperationID()
    let request = DisconnectRequest(user: user, verb: verb)
    if exchange.outbox.add(request, as: id, &exchange.channel) { exchange.sendReady() }
    return id
  }
}
