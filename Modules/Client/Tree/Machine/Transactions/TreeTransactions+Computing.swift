import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

// Computing transactions again when what they were computed from has changed.

extension TreeTransactions {
  mutating func rerun(touchedBy write: TreeWrite, _ exchange: inout TreeExchange) {
    guard !table.isEmpty else { return }
    for assignment in write.assignments { rerun(at: assignment.path, &exchange) }
  }

  /// Computes again what depends on `path`, in the old order, then sends what may go.
  mutating func rerun(at path: TreePath, _ exchange: inout TreeExchange) {
    guard !table.overlapping(path).isEmpty else { return }
    rerun(table.group(at: table.root(above: path)), &exchange)
    send(&exchange)
  }

  private mutating func rerun(_ group: [OperationID], _ exchange: inout TreeExchange) {
    var excluded = Set(
      group.compactMap { table.index(of: $0) }.map { table.list[$0] }
        .filter { !$0.progress.isSent }.map(\.write))
    var ends = Ends()
    for id in group {
      guard let index = table.index(of: id) else { continue }
      let transaction = table.list[index]
      guard !transaction.progress.isSent else { continue }
      if let reason = transaction.progress.verdict {
        end(id, .rejected, as: .failed(reason), &ends, &exchange)
        continue
      }
      let input =
        exchange.views.replica.transactionInput(at: transaction.path, excluding: excluded)
        ?? .empty
      excluded.remove(transaction.write)
      // The same input gives the same output: there is nothing to compute.
      if input == transaction.input { continue }
      let computed = Computation(of: transaction.update, input, at: transaction.path)
      guard case .output(let output) = computed else {
        end(id, .rejected, as: computed.end(input), &ends, &exchange)
        continue
      }
      let (write, planned) = exchange.views.replica.plan(
        .set(transaction.path, output), isVisible: transaction.appliesLocally,
        replacing: transaction.write, now: exchange.channel.serverNow)
      ends.outcome.append(planned)
      table.list[index].write = write
      table.list[index].input = input
      table.list[index].output = output
      table.list[index].wasDisturbed = true
    }
    tell(ends, &exchange)
  }
}
