import TernTreeReplica

/// The subject of a change of the queue.
enum TreeTicket: Sendable {
  case append(WriteID)
  /// The row of the write numbered `sequence` goes, or becomes a rejected one.
  case settle(sequence: UInt64)
  /// The row that remembers a transaction.
  case keep(OperationID)
  case retry(WriteID, row: UInt64)
  case discard(OperationID, row: UInt64)
  case purge(OperationID, newClient: UInt128)
  case unattended
}
