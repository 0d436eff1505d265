import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

// Computing transactions again when what they were computed from has changed.

extension TreeMachine {
  mutating func rerunTransactions(touchedBy write: TreeWrite) {
    guard !transactions.isEmpty else { return }
    for assignment in write.assignments { rerunTransactions(at: assignment.path) }
  }

  /// Computes again what depends on `path`, in the old order, then sends what may go.
  mutating func rerunTransactions(at path: TreePath) {
    guard !transactions.overlapping(path).isEmpty else { return }
    rerun(transactions.group(at: transactions.root(above: path)))
    sendTransactions()
  }

  private mutating func rerun(_ group: [OperationID]) {
    var excluded = Set(
      group.compactMap { transactions.index(of: $0) }.map { transactions.list[$0] }
        .filter { !$0.progress.isSent }.map(\.write))
    var outcome = ReplicaOutcome()
    var ends: [(TreeTransaction, TransactionOutcome)] = []
    for id in group {
      guard let index = transactions.index(of: id) else { continue }
      let transaction = transactions.list[index]
      guard !transaction.progress.isSent else { continue }
      if let reason = transaction.progress.verdict {
        if let ended = end(id, .rejected, &outcome) { ends.append((ended, .failed(reason))) }
        continue
      }
      let input = replica.transactionInput(at: transaction.path, excluding: excluded) ?? .empty
      excluded.remove(transaction.write)
      // The same input gives the same output: there is nothing to compute.
      if input == transaction.input { continue }
      let computed = compute(transaction.update, input, at: transaction.path)
      guard case .output(let output) = computed else {
        if let ended = end(id, .rejected, &outcome) { ends.append((ended, computed.end(input))) }
        continue
      }
      let (write, planned) = replica.plan(
        .set(transaction.path, output), isVisible: transaction.appliesLocally,
        replacing: transaction.write, now: serverNow)
      outcome.append(planned)
      transactions.list[index].write = write
      transactions.list[index].input = input
      transactions.list[index].output = output
      transactions.list[index].wasDisturbed = true
    }
    perform(outcome)
    tell(ends)
  }
}
