package import TernCore
package import TernDocumentReplica
package import TernDocumentWire
package import TernSync

/// An effect that a ``DocumentMachine`` requests, in order.
package enum DocumentClientEffect: Sendable {
  case openLink(Int, address: Int)
  case closeLink(Int)
  case send([UInt8])
  case startTimer(DocumentTimer, Duration)
  case stopTimer(DocumentTimer)
  case connectionChanged(ConnectionState)
  /// Change the durable queue of a user; the answer comes back under the ticket.
  case change(QueueChange, ticket: UInt64, of: QueueUser)
  /// Look into the queues of all other users, and tell ``DocumentMachine/restore(others:)``.
  case findOthers

  /// A listener hears this.
  case snapshot(DocumentListenerID, DocumentViewSnapshot)
  /// A listener hears nothing more.
  case failed(DocumentListenerID, DocumentStatus)
  /// A single read is answered.
  case answered(DocumentListenerID, DocumentGetResult)
  /// A batch breaks a rule, and nothing came of it.
  case invalid(batch: UInt64, DocumentError)
  /// A batch is durable on this device.
  case stored(batch: UInt64)
  /// A batch could not be queued, and was taken back.
  case notStored(batch: UInt64, QueueError)
  /// The queue's answer to giving a rejected batch up.
  case discarded(row: UInt64, QueueResult)
  /// The list of pending and rejected batches is another one.
  case queueChanged
  /// A batch was accepted, or rejected with a reason; a rejection is durable then, unless the queue
  /// could not be written.
  case settled(batch: UInt64, DocumentStatus?)
  /// The pending writes are settled; or the wait makes no sense any more.
  case writesSettled(DocumentWaitID, isCancelled: Bool)
  /// All listeners have heard the same state of the world.
  case inSync(DocumentListenerID)
  /// The server's verdict on the credential.
  case credential(CredentialVerdict)
  /// The server says why it takes no writes now.
  case serverSays(String)
  /// A call has ended.
  case called(DocumentCallID, Result<[DocumentResponse], DocumentStatus>)
}

/// A timer of a ``DocumentMachine``; starting one replaces the running one of its name.
package enum DocumentTimer: Hashable, Sendable {
  case connection(Connection.Timer)
  /// The server has been silent since the listen stream was started.
  case online
  /// Waits before the listen stream is opened again.
  case listenRetry
  /// Waits before the write stream is opened again.
  case writeRetry
  /// Time to look whether the cache is too large.
  case evict
  /// Time to go on with indexes.
  case index
}

/// Names one call of a machine.
package struct DocumentCallID: Hashable, Sendable {
  let number: UInt64
}
