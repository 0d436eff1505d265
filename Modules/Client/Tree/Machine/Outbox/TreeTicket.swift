import TernSync
import TernTreeReplica

/// The subject of a change of the queue.
enum TreeTicket: Sendable {
  case append(WriteID)
  /// The row of the write numbered `sequence` goes, or becomes a rejected one: that is told once it
  /// is durable, so that no crash takes it back.
  case settle(sequence: UInt64, telling: (id: WriteID, rejection: Rejection)? = nil)
  /// The row that remembers a transaction.
  case keep(OperationID)
  case retry(WriteID, row: UInt64)
  case discard(OperationID, row: UInt64)
  case purge(OperationID, newClient: UInt128)
  case unattended
}
