import TernCore
import TernTreeReplica

/// A write of this client that the server has not answered yet.
struct LocalWrite: Sendable {
  enum Stage: Sendable, Equatable {
    /// On its way to the disk.
    case storing
    /// Durable; `sequence` is its number in the client's stream.
    case durable(row: UInt64, sequence: UInt64)
  }

  /// As the application gave it, with its server values unresolved.
  let write: TreeWrite
  var stage = Stage.storing
  /// True when the server may have seen it.
  var wasSent = false

  /// True when it only fills the number of a corrupt write: no caller waits for its outcome.
  var isFiller: Bool { write.assignments.isEmpty }

  /// The row of the queue that holds it; `nil` until it is durable.
  var row: UInt64? {
    if case .durable(let row, _) = stage { row } else { nil }
  }

  var sequence: UInt64? {
    if case .durable(_, let sequence) = stage { sequence } else { nil }
  }
}

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
