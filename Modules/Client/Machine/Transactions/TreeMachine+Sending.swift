import TernCore
import TernSync
import TernTransactions
import TernTreeReplica
import TernTreeWire

// Sending transactions, and taking the server's answers.

extension TreeMachine {
  /// Sends every group of transactions that waits for nothing.
  mutating func sendTransactions() {
    for root in transactions.waitingRoots { sendTransactions(at: root) }
  }

  /// Sends the transactions at and below `root` as one conditional write, if none of them is on
  /// its way or has something to wait for.
  mutating func sendTransactions(at root: TreePath) {
    let group = transactions.group(at: root)
    let waiting = group.compactMap { transactions.index(of: $0) }.map { transactions.list[$0] }
    let mayGo = waiting.allSatisfy {
      $0.progress.phase == .runnable && $0.progress.verdict == nil && !$0.awaitsOutcome
        && $0.rest == nil
    }
    guard mayGo, let oldest = waiting.first else { return }
    // Declared transactions are numbered one by one, so they cannot share a write.
    let batch = waiting.contains { $0.declared != nil } ? [oldest] : waiting
    let path = batch.count == 1 ? oldest.path : root
    if rest(waiting, at: path) { return }
    let base = replica.transactionInput(at: path, excluding: Set(waiting.map(\.write))) ?? .empty
    var node = base
    for transaction in batch {
      guard let place = transaction.path.relative(to: path) else { continue }
      node.setNode(transaction.output, at: place)
    }
    let id = transactions.send(batch.map(\.id), at: path, node, hash: base.hash)
    outbox.append(.batch(id))
    sendReady()
  }

  /// The server answered a conditional write.
  mutating func batchAnswered(_ id: UInt64, _ status: TreeStatus, detail: String) {
    outbox.answered(.batch(id))
    guard let batch = transactions.batches.removeValue(forKey: id) else { return }
    if status == .ok {
      committed(batch)
      return
    }
    // A gap means that an earlier attempt of the stream did not arrive: try again as well.
    let isStale = status == .dataStale || status == .gap
    for member in batch.members {
      guard let index = transactions.index(of: member) else { continue }
      if isStale {
        transactions.list[index].progress.becameStale()
      } else {
        let rejection = Rejection(status: status.rawValue, detail: detail)
        transactions.list[index].progress.wasRejected(.rejected(rejection))
      }
    }
    if isStale { transactions.note(at: batch.path) { $0.attemptFailed() } }
    rerunTransactions(at: batch.path)
    sendReady()
  }

  /// Lets transactions of a crowded place rest before their next attempt.
  ///
  /// - Returns: Whether they rest now, and are to be looked at again when they have.
  private mutating func rest(_ members: [TreeTransaction], at path: TreePath) -> Bool {
    guard let owner = members.first, !owner.hasRested else { return false }
    let duration = transactions.contention(at: path).rest(unit: ambient.randomUnit())
    guard duration > .zero else { return false }
    for member in members {
      if let index = transactions.index(of: member.id) {
        transactions.list[index].rest = owner.id
      }
    }
    emit(.startTimer(.rest(owner.id), duration))
    return true
  }

  mutating func rested(_ id: OperationID) {
    for index in transactions.list.indices where transactions.list[index].rest == id {
      transactions.list[index].rest = nil
      transactions.list[index].hasRested = true
    }
    sendTransactions()
  }

  private mutating func committed(_ batch: TransactionBatch) {
    var outcome = ReplicaOutcome()
    var ends: [(TreeTransaction, TransactionOutcome)] = []
    transactions.note(at: batch.path) { $0.attemptSucceeded(wasDisturbed: batch.wasDisturbed) }
    for member in batch.members {
      guard let index = transactions.index(of: member) else { continue }
      let transaction = transactions.list[index]
      let node = resolvedOutput(of: transaction)
      if let ended = end(member, .accepted, &outcome) { ends.append((ended, .committed(node))) }
    }
    perform(outcome)
    tell(ends)
    rerunTransactions(at: batch.path)
    sendTransactions()
    sendReady()
  }

  /// Returns the transaction's output, with server values as estimated here.
  private func resolvedOutput(of transaction: TreeTransaction) -> TreeNode {
    guard case .set(_, let node) = replica.overlay[transaction.write]?.write else {
      return transaction.output
    }
    return node
  }
}

// MARK: - Declared transactions of an earlier run

extension TreeMachine {
  /// The most attempts a declared transaction can have made in its life.
  private static let attemptsAsked: UInt64 = 1_000

  /// Asks whether an attempt of an earlier run was committed.
  mutating func askForTransactionOutcomes() {
    let asked = requests.values.compactMap { request -> OperationID? in
      if case .transactionOutcomes(let id) = request { id } else { nil }
    }
    for transaction in transactions.list
    where transaction.awaitsOutcome && !asked.contains(transaction.id) {
      guard let stream = transaction.declared?.stream else { continue }
      _ = send(
        .outcomes(stream: stream, first: 1, last: Self.attemptsAsked),
        about: .transactionOutcomes(transaction.id))
    }
  }

  mutating func transactionOutcomesAnswered(_ id: OperationID, _ outcomes: [TreeResponse.Outcome]) {
    guard let index = transactions.index(of: id) else { return }
    transactions.list[index].awaitsOutcome = false
    transactions.list[index].nextSequence = (outcomes.map(\.sequence).max() ?? 0) + 1
    if outcomes.contains(where: { $0.status == .ok }) {
      let transaction = transactions.list[index]
      var outcome = ReplicaOutcome()
      let node = replica.value(at: transaction.path) ?? transaction.output
      let ended = end(id, .accepted, &outcome)
      perform(outcome)
      if let ended { tell([(ended, .committed(node))]) }
    }
    rerunTransactions(at: transactions.list.first { $0.id == id }?.path ?? .root)
    sendTransactions()
  }
}
