import TernCore
import TernSync
import TernTransactions
import TernTreeReplica
import TernTreeWire

// Sending transactions, and taking the server's answers.

extension TreeTransactions {
  /// Sends every group of transactions that waits for nothing.
  mutating func send(_ exchange: inout TreeExchange) {
    for root in table.waitingRoots { send(at: root, &exchange) }
  }

  /// Sends the transactions at and below `root` as one conditional write, if none of them is on
  /// its way or has something to wait for.
  mutating func send(at root: TreePath, _ exchange: inout TreeExchange) {
    guard let waiting = table.runnable(at: root), let oldest = waiting.first else { return }
    // Declared transactions are numbered one by one, so they cannot share a write.
    let batch = waiting.contains { $0.declared != nil } ? [oldest] : waiting
    let path = batch.count == 1 ? oldest.path : root
    if rest(waiting, at: path, &exchange) { return }
    let base =
      exchange.views.replica.transactionInput(at: path, excluding: Set(waiting.map(\.write)))
      ?? .empty
    var node = base
    for transaction in batch {
      guard let place = transaction.path.relative(to: path) else { continue }
      node.setNode(transaction.output, at: place)
    }
    let id = table.send(
      batch.map(\.id), at: path, node, hash: base.hash, in: &exchange.outbox.batches)
    exchange.outbox.append(.batch(id))
    exchange.sendReady()
  }

  /// The server answered a conditional write.
  mutating func batchAnswered(
    _ id: UInt64, _ status: TreeStatus, detail: String, _ exchange: inout TreeExchange
  ) {
    exchange.outbox.answered(.batch(id))
    guard let batch = exchange.outbox.batches.remove(id) else { return }
    if status == .ok { return committed(batch, &exchange) }
    // A gap means that an earlier attempt of the stream did not arrive: try again as well.
    let isStale = status == .dataStale || status == .gap
    for member in batch.members {
      guard let index = table.index(of: member) else { continue }
      if isStale {
        table.list[index].progress.becameStale()
      } else {
        let rejection = Rejection(status: status.rawValue, detail: detail)
        table.list[index].progress.wasRejected(.rejected(rejection))
      }
    }
    if isStale { table.note(at: batch.path) { $0.attemptFailed() } }
    rerun(at: batch.path, &exchange)
    exchange.sendReady()
  }

  private mutating func committed(_ batch: TransactionBatch, _ exchange: inout TreeExchange) {
    var ends = Ends()
    table.note(at: batch.path) { $0.attemptSucceeded(wasDisturbed: batch.wasDisturbed) }
    for member in batch.members {
      guard let index = table.index(of: member) else { continue }
      let node = resolvedOutput(of: table.list[index], &exchange)
      end(member, .accepted, as: .committed(node), &ends, &exchange)
    }
    tell(ends, &exchange)
    rerun(at: batch.path, &exchange)
    send(&exchange)
    exchange.sendReady()
  }

  /// Returns the transaction's output, with server values as estimated here.
  private func resolvedOutput(
    of transaction: TreeTransaction, _ exchange: inout TreeExchange
  ) -> TreeNode {
    guard case .set(_, let node) = exchange.views.replica.overlay[transaction.write]?.write
    else { return transaction.output }
    return node
  }
}

// MARK: - Rests

extension TreeTransactions {
  /// Lets transactions of a crowded place rest before their next attempt.
  ///
  /// - Returns: Whether they rest now, and are to be looked at again when they have.
  private mutating func rest(
    _ members: [TreeTransaction], at path: TreePath, _ exchange: inout TreeExchange
  ) -> Bool {
    guard let owner = members.first, !owner.hasRested else { return false }
    let duration = table.contention(at: path).rest(
      unit: exchange.channel.ambient.randomUnit())
    guard duration > .zero else { return false }
    for member in members {
      if let index = table.index(of: member.id) { table.list[index].rest = owner.id }
    }
    exchange.channel.emit(.startTimer(.rest(owner.id), duration))
    return true
  }

  /// The rest of a transaction, and of those that share it, is over.
  mutating func rested(_ id: OperationID, _ exchange: inout TreeExchange) {
    for index in table.list.indices where table.list[index].rest == id {
      table.list[index].rest = nil
      table.list[index].hasRested = true
    }
    send(&exchange)
  }
}

// MARK: - Declared transactions of an earlier run

extension TreeTransactions {
  /// The most attempts a declared transaction can have made in its life.
  private static let attemptsAsked: UInt64 = 1_000

  /// Asks whether an attempt of an earlier run was committed.
  func askForOutcomes(_ exchange: inout TreeExchange) {
    let asked = exchange.channel.transactionsAskedFor
    for transaction in table.list
    where transaction.awaitsOutcome && !asked.contains(transaction.id) {
      guard let stream = transaction.declared?.stream else { continue }
      exchange.channel.send(
        .outcomes(stream: stream, first: 1, last: Self.attemptsAsked),
        about: .transactionOutcomes(transaction.id))
    }
  }

  /// The server told what became of a transaction's attempts.
  mutating func outcomesAnswered(
    _ id: OperationID, _ outcomes: [TreeResponse.Outcome], _ exchange: inout TreeExchange
  ) {
    guard let index = table.index(of: id) else { return }
    table.list[index].awaitsOutcome = false
    table.list[index].nextSequence = (outcomes.map(\.sequence).max() ?? 0) + 1
    if outcomes.contains(where: { $0.status == .ok }) {
      let transaction = table.list[index]
      let node = exchange.views.replica.value(at: transaction.path) ?? transaction.output
      var ends = Ends()
      end(id, .accepted, as: .committed(node), &ends, &exchange)
      tell(ends, &exchange)
    }
    rerun(at: table.list.first { $0.id == id }?.path ?? .root, &exchange)
    send(&exchange)
  }
}
