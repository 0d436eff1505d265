/// One record of the write queue.
package struct QueuedWrite: Hashable, Sendable {
  /// The state of a record.
  package enum State: Hashable, Sendable {
    /// For the server's answer; `sequence` is its number in the stream of the queue's client.
    case pending(sequence: UInt64)
    /// For the application to look at it.
    case rejected(Rejection)
    /// Stored for its owner: work that is remembered, but not sent as it is.
    case kept
  }

  /// Grows with every record of this store, for ever; the order of the queue.
  package var id: UInt64
  package var state: State
  /// The payload to send; opaque here.
  package var payload: [UInt8]

  package init(id: UInt64, state: State, payload: [UInt8]) {
    self.id = id
    self.state = state
    self.payload = payload
  }
}

/// A request to change the queue.
package enum QueueChange: Sendable {
  /// Adds a write at the end.
  case append([UInt8])
  /// Adds a record that is remembered, but not numbered.
  case keep([UInt8])
  /// The write was answered: its record goes.
  case settle(id: UInt64)
  /// The write was refused: its record stays, with the reason.
  case reject(id: UInt64, Rejection)
  /// A refused write goes to the end of the queue again, changed if a payload is given.
  case retry(id: UInt64, payload: [UInt8]?)
  /// A refused write is given up.
  case discard(id: UInt64)
  /// Every pending write is given up, and the client gets a new id: numbers already used under
  /// the old one may have reached the server.
  case purge(newClient: UInt128)
}

/// The outcome of a ``QueueChange``.
package enum QueueResult: Sendable, Equatable {
  /// The record is durable; `sequence` is 0 for a kept one.
  case stored(id: UInt64, sequence: UInt64)
  case changed
  case purged([QueuedWrite])
  case failed(QueueError)
}
