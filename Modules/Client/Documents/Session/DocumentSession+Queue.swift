import TernStorage
import TernSync

// Looking at the queue, and what may be asked of it.

extension DocumentSession {
  var queueStatus: DocumentQueueStatus {
    drain()
    return machine.queueStatus
  }

  /// Tells the pending and refused batches, now and whenever they change.
  func observeQueue(_ box: Mailbox<DocumentQueueStatus, Never>) -> UInt64 {
    drain()
    lastObserver += 1
    box.post(machine.queueStatus)
    queueObservers[lastObserver] = box
    return lastObserver
  }

  /// Tells the connection's state, now and whenever it changes.
  func observeConnection(_ box: Mailbox<ConnectionState, Never>) -> UInt64 {
    drain()
    lastObserver += 1
    box.post(machine.connectionState)
    connectionObservers[lastObserver] = box
    return lastObserver
  }

  func stopObserving(_ id: UInt64) {
    queueObservers[id] = nil
    connectionObservers[id] = nil
  }

  /// Gives a refused batch up.
  func discard(row: UInt64, _ answer: @escaping @Sendable (QueueResult) -> Void) {
    drain()
    guard !isClosed else { return answer(.failed(.storage(.closed))) }
    discards[row] = answer
    machine.discard(row: row)
    carryOut()
  }

  func tellQueueObservers() {
    guard queueHasChanged else { return }
    queueHasChanged = false
    if queueObservers.isEmpty { return }
    let status = machine.queueStatus
    for box in queueObservers.values { box.post(status) }
  }
}
