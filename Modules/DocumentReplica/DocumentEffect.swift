package import TernCore
package import TernQuery

/// The pending effects of a replica after an event, in order.
package enum DocumentEffect: Sendable {
  /// Open the listen stream, now or after a delay; the replica is told when it is open.
  case openWatchStream
  case closeWatchStream
  /// Send a request on the open listen stream.
  case watch(WatchTarget)
  case unwatch(Int32)

  /// Open the write stream and greet; the replica is told when the server has answered.
  case openWriteStream
  case closeWriteStream
  /// Send a batch on the open write stream.
  case send(DocumentBatch)

  /// Tell the replica when this much time has passed; a timer that runs is replaced.
  case startOnlineTimer(Duration)
  case stopOnlineTimer

  /// A listener hears this.
  case snapshot(DocumentListenerID, DocumentViewSnapshot)
  /// A listener hears nothing more.
  case failed(DocumentListenerID, DocumentStatus)
  /// A single read is answered.
  case answered(DocumentListenerID, DocumentGetResult)
  /// A batch was accepted, or rejected with a reason.
  case settled(batch: UInt64, DocumentStatus?)
  /// All writes that were pending are settled; or the user is another one now.
  case writesSettled(DocumentWaitID, isCancelled: Bool)
  /// All listeners have heard the same state of the world.
  case inSync(DocumentListenerID)
}

/// Names one wait for pending writes.
package struct DocumentWaitID: Hashable, Sendable {
  package let number: UInt64
}
