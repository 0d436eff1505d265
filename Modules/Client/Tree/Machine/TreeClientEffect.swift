package import TernCore
package import TernSync
package import TernTransactions
package import TernTreeReplica

/// Something a ``TreeMachine`` owes the world; to be carried out in order.
package enum TreeClientEffect: Sendable {
  /// Open a link and report about it under this number.
  case openLink(Int, address: Int)
  /// Close the link; no news of it is wanted.
  case closeLink(Int)
  /// Send a frame on the current link; one flush after all effects is enough.
  case send([UInt8])
  case startTimer(TreeTimer, Duration)
  case stopTimer(TreeTimer)
  /// Hand a change to the durable queue of a user, and report the result under this ticket.
  case change(QueueChange, ticket: UInt64, of: QueueUser)
  /// Tell listeners, in this order.
  case deliver([TreeEvent], to: ListenerID.Tree)
  /// These listeners ended without being asked to.
  case cancelled([ListenerID], ListenError)
  /// The write is durable on this device.
  case stored(WriteID)
  /// The write could not be made durable, and was taken back.
  case notStored(WriteID, QueueError)
  /// The server's verdict on a write, or its end without one.
  case settled(WriteID, WriteEnd)
  /// The answer to a one-time read.
  case read(OperationID, Result<ReadAnswer, ReadError>)
  case transactionEnded(OperationID, TransactionOutcome)
  /// The server's answer to a deferred write; `nil` when it was registered.
  case presenceEnded(OperationID, DisconnectError)
  case disconnectAnswered(OperationID, DisconnectError?)
  /// The answer to a request about the queue.
  case queueAnswered(OperationID, QueueResult)
  /// The list of pending and rejected writes is another one.
  case queueChanged
  /// Pending writes came or went at these places of the tree.
  case pendingChanged([TreePath])
  case connectionChanged(ConnectionState)
  /// The server's verdict on the credential.
  case credential(CredentialVerdict)
  /// Something for the developer's log.
  case noticed(ClientNotice)
}

/// A timer of a ``TreeMachine``; starting one again replaces it.
package enum TreeTimer: Hashable, Sendable {
  case connection(Connection.Timer)
  /// A one-time read has waited long enough for a connection.
  case read(OperationID)
  /// A transaction that came too late again and again has rested long enough.
  case rest(OperationID)
  /// The server has rested long enough from what it did not take.
  case outbox
  /// The pause before listens that the server could not serve are requested again has passed.
  case listens
}

/// Names something a caller waits for.
package struct OperationID: Hashable, Comparable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (left: OperationID, right: OperationID) -> Bool {
    left.number < right.number
  }
}

/// Names a listener: of the shared tree, or of what this client says about itself.
package struct ListenerID: Hashable, Sendable {
  package enum Tree: Hashable, Sendable {
    case shared
    /// The tree below `.info`.
    case info
  }

  package let tree: Tree
  package let registration: RegistrationID

  package init(tree: Tree, registration: RegistrationID) {
    self.tree = tree
    self.registration = registration
  }
}

/// The end of the wait for the server's verdict on a write.
package enum WriteEnd: Sendable, Equatable {
  case accepted
  case rejected(Rejection)
  /// The write was purged, and may or may not have reached the server.
  case purged
  /// The database was closed; the write stays in the queue.
  case closed
  /// The queue could not store it, and it was taken back.
  case notStored(QueueError)
  /// The waiting task was cancelled.
  case waitCancelled
  /// The wait took longer than its limit.
  case waitExpired
}

/// The result of a one-time read.
package struct ReadAnswer: Sendable {
  package var node: TreeNode
  /// True when the server was not asked, or did not answer.
  package var isFromCache: Bool
  /// The places at and below the location whose writes wait for the server.
  package var pending: PendingPaths
}

/// The end of a transaction.
package enum TransactionOutcome: Sendable {
  /// The server has it; the node is what it made of the place.
  case committed(TreeNode)
  /// The update function gave up on this node.
  case abandoned(TreeNode)
  case failed(TransactionError)
}
