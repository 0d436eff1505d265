public import TernCore
public import TernQuery
public import TernSync

/// The reason a write was not taken; nothing was changed.
public enum WriteError: Error, Hashable, Sendable {
  /// The path or the value breaks a rule of the tree. Correct it.
  case invalid(TreeError)
  /// The value could not be turned into a node.
  case coding(TreeCodingError)
  /// The queue could not store it: it is full, or its disk failed.
  case queue(QueueError)
  /// The database was closed.
  case closed
}

/// The reason a write that is durable on this device was not acknowledged.
public enum AcknowledgementError: Error, Hashable, Sendable {
  /// The server refused it. It was taken back here, and is kept among the rejected writes.
  case rejected(Rejection)
  /// It was purged before the server answered; it may still have been applied.
  case purged
  /// The database was closed first. The write stays queued, and is sent when it is opened again.
  case closed
  /// The queue could not store it. It was taken back here.
  case notStored(QueueError)
  /// The waiting task was cancelled. The write goes on.
  case cancelled
  /// The server did not answer in this time. The write goes on.
  case timedOut(after: Duration)
}

/// The reason a one-time read has no answer.
public enum ReadError: Error, Hashable, Sendable {
  /// The path or a value breaks a rule.
  case invalid(TreeError)
  /// The query breaks a rule.
  case invalidQuery(TreeQueryError)
  /// The server refused it.
  case rejected(Rejection)
  /// The server cannot be reached, and the cache does not hold the whole answer.
  case offline
  /// As many reads wait for an answer as ``WaitingLimits/reads`` allows. Wait for some.
  case tooManyWaiting(limit: Int)
  /// The waiting task was cancelled.
  case cancelled
  /// The database is closed.
  case closed
}

/// The reason a listener ended by itself.
public enum ListenError: Error, Hashable, Sendable {
  /// The path or a value breaks a rule.
  case invalid(TreeError)
  /// The query breaks a rule.
  case invalidQuery(TreeQueryError)
  /// The server refused the listen, or took it back.
  case rejected(Rejection)
  /// The reader fell this many events behind. Read faster, or listen to values.
  case overflow(limit: Int)
  /// The database is closed.
  case closed
}

/// The reason an onDisconnect operation was not registered with the server.
public enum DisconnectError: Error, Hashable, Sendable {
  /// The path or a value breaks a rule.
  case invalid(TreeError)
  /// The server rejected the operation.
  case rejected(Rejection)
  /// As many wait for their confirmation as ``WaitingLimits/deferredWrites`` allows. Wait for some.
  case tooManyWaiting(limit: Int)
  /// The waiting task was cancelled. The registration goes on.
  case cancelled
  /// The database was closed first.
  case closed
}

/// The state of the client's connection.
public enum ConnectionState: Hashable, Sendable {
  /// The server has greeted this client, and what was restored is being sent.
  case online
  /// An attempt is under way.
  case connecting
  /// The next attempt waits for its turn.
  case waiting
  /// No connection is wanted: nothing was used yet, or the application or the server asked for it.
  case offline

  init(_ phase: Connection.Phase) {
    self =
      switch phase {
      case .idle: .offline
      case .waiting: .waiting
      case .opening, .greeting: .connecting
      case .online: .online
      }
  }
}
