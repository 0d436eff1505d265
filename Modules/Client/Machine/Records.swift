import TernCore
import TernQuery
import TernSync
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

/// The subject of a request on the wire.
enum Request: Sendable {
  case listen(ListenRequest)
  case unlisten(ListenRequest)
  case write(WriteID)
  case batch(UInt64)
  case read(OperationID)
  case disconnect(OperationID)
  case presence(OperationID)
  /// The outcomes of the writes of a stream up to a number.
  case outcomes(of: UInt128, through: UInt64)
  /// The outcomes of a declared transaction's attempts.
  case transactionOutcomes(OperationID)
  /// A credential was shown.
  case credential(String)
  /// No caller waits for the answer.
  case unattended
}

/// The subject of a change of the queue.
enum Ticket: Sendable {
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

/// A one-time read that waits.
struct PendingRead: Sendable {
  let path: TreePath
  let query: TreeQuery
  var isSent = false
}

/// A deferred write that the server has not answered yet.
struct DisconnectRequest: Sendable {
  enum Verb: Sendable {
    case write(TreeWrite)
    case cancel(TreePath)
  }

  /// The user who asked; no other user's credential registers it.
  let user: QueueUser
  let verb: Verb
}
