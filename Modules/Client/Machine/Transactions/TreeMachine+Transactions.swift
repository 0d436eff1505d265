package import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

// Transactions: computed here, decided by the server, computed again when they come too late.
// Source: realtime reference, section 7.

extension TreeMachine {
  /// Begins a transaction given as a closure; it does not outlive the program.
  package mutating func transact(
    at path: TreePath, appliesLocally: Bool, _ update: @escaping TransactionUpdate
  ) -> OperationID {
    use()
    let id = nextOperationID()
    let begun = begin(id, at: path, appliesLocally, nil, update)
    if begun { change(.keep(WriteRecord.closure(path).encode()), about: .keep(id)) }
    return id
  }

  /// Begins a transaction given by name; it survives a restart of the program.
  package mutating func transact(
    _ name: String, at path: TreePath, arguments: TreeNode, appliesLocally: Bool,
    _ update: @escaping TransactionUpdate
  ) -> OperationID {
    use()
    let id = nextOperationID()
    let declared = DeclaredTransaction(
      stream: ambient.randomID(), path: path, name: name, arguments: arguments,
      appliesLocally: appliesLocally)
    let begun = begin(id, at: path, appliesLocally, declared, update)
    if begun { change(.keep(WriteRecord.transaction(declared).encode()), about: .keep(id)) }
    return id
  }

  /// Says what a name means; transactions of that name from earlier runs go on.
  package mutating func declare(
    _ name: String, _ update: @escaping @Sendable (TreeNode, TreeNode) -> TreeNode?
  ) -> [OperationID] {
    let woken = transactions.dormant.filter { $0.transaction.name == name }
    transactions.dormant.removeAll { $0.transaction.name == name }
    return woken.map { row, declared in
      use()
      let id = nextOperationID()
      let arguments = declared.arguments
      let begun = begin(
        id, at: declared.path, declared.appliesLocally, declared, isRestored: true
      ) { update(arguments, $0) }
      if begun, let index = transactions.index(of: id) {
        transactions.list[index].row = row
      } else {
        change(.settle(id: row), about: .unattended)
      }
      if isReady { askForTransactionOutcomes() }
      return id
    }
  }

  /// Computes a transaction for the first time.
  ///
  /// - Returns: Whether it goes on; if not, its end is owed already.
  private mutating func begin(
    _ id: OperationID, at path: TreePath, _ appliesLocally: Bool,
    _ declared: DeclaredTransaction?, isRestored: Bool = false,
    _ update: @escaping TransactionUpdate
  ) -> Bool {
    // Those of an earlier run were counted then.
    guard isRestored || transactions.list.count < limits.waiting.transactions else {
      let reason = TransactionError.tooManyWaiting(limit: limits.waiting.transactions)
      emit(.transactionEnded(id, .failed(reason)))
      return false
    }
    let (listener, listening) = replica.listen(at: path, for: [])
    perform(listening)
    let input = replica.transactionInput(at: path) ?? .empty
    let computed = compute(update, input, at: path)
    guard case .output(let output) = computed else {
      perform(replica.unlisten(listener))
      emit(.transactionEnded(id, computed.end(input)))
      return false
    }
    let (write, planned) = replica.plan(
      .set(path, output), isVisible: appliesLocally, now: serverNow)
    transactions.list.append(
      TreeTransaction(
        id: id, path: path, update: update, appliesLocally: appliesLocally, listener: listener,
        declared: declared, write: write, input: input, output: output,
        awaitsOutcome: isRestored))
    perform(planned)
    sendTransactions(at: transactions.root(above: path))
    return true
  }

  /// The queue remembered a transaction, or could not.
  ///
  /// One that has ended since is forgotten again. One that could not be remembered ends, unless an
  /// attempt that is on its way commits it.
  mutating func kept(_ id: OperationID, of owner: QueueUser, _ result: QueueResult) {
    let waiting = waitsForUser(id, owner)
    switch result {
    case .stored(let row, _):
      if let index = transactions.index(of: id) {
        transactions.list[index].row = row
      } else if let waiting {
        putToSleep(waiting, row: row, of: owner)
      } else {
        change(.settle(id: row), about: .unattended, of: owner)
      }
    case .failed(let error):
      guard let index = transactions.index(of: id) else { return }
      let path = transactions.list[index].path
      transactions.withdraw(id)
      abort([id], because: .notStored(error))
      rerunTransactions(at: path)
      sendTransactions()
    case .changed, .purged:
      break
    }
  }

  /// Takes a transaction off the list; its end is owed after the events of `outcome`.
  mutating func end(
    _ id: OperationID, _ verdict: WriteVerdict, _ outcome: inout ReplicaOutcome
  ) -> TreeTransaction? {
    guard let index = transactions.index(of: id) else { return nil }
    let ended = transactions.list.remove(at: index)
    outcome.append(replica.acknowledge(ended.write, verdict))
    if let row = ended.row { change(.settle(id: row), about: .unattended) }
    return ended
  }

  /// Tells the ends, and lets go of the data that was only kept for these transactions.
  mutating func tell(_ ends: [(TreeTransaction, TransactionOutcome)]) {
    for (transaction, end) in ends { emit(.transactionEnded(transaction.id, end)) }
    for (transaction, _) in ends { perform(replica.unlisten(transaction.listener)) }
  }
}

// MARK: - Aborting

extension TreeMachine {
  /// Ends the transactions that a local write replaces.
  mutating func abortTransactions(touchedBy write: TreeWrite) {
    guard !transactions.isEmpty else { return }
    for assignment in write.assignments {
      abort(transactions.overlapping(assignment.path), because: .overridden)
    }
  }

  /// Ends all transactions, also those on their way.
  mutating func cancelTransactions(because reason: TransactionError) {
    transactions.batches.removeAll()
    var outcome = ReplicaOutcome()
    var ends: [(TreeTransaction, TransactionOutcome)] = []
    for id in transactions.list.map(\.id) {
      if let ended = end(id, .rejected, &outcome) { ends.append((ended, .failed(reason))) }
    }
    perform(outcome)
    tell(ends)
  }

  private mutating func abort(_ ids: [OperationID], because reason: TransactionError) {
    var outcome = ReplicaOutcome()
    var ends: [(TreeTransaction, TransactionOutcome)] = []
    for id in ids {
      guard let index = transactions.index(of: id),
        transactions.list[index].progress.abort(reason) == .endsNow
      else { continue }
      if let ended = end(id, .rejected, &outcome) { ends.append((ended, .failed(reason))) }
    }
    perform(outcome)
    tell(ends)
  }
}

// MARK: - Computing

/// The result of an update function.
enum Computation {
  case output(TreeNode)
  case abandoned
  case invalid(TreeError)

  func end(_ input: TreeNode) -> TransactionOutcome {
    switch self {
    case .output, .abandoned: .abandoned(input)
    case .invalid(let error): .failed(.invalidResult("\(error)"))
    }
  }
}

extension TreeMachine {
  func compute(
    _ update: TransactionUpdate, _ input: TreeNode, at path: TreePath
  ) -> Computation {
    guard let output = update(input) else { return .abandoned }
    do throws(TreeError) {
      try TreeWrite.set(path, output).validateForStoring()
      return .output(output)
    } catch {
      return .invalid(error)
    }
  }
}
