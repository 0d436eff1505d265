package import TernCore
package import TernQuery
package import TernSync

/// Who wants to know about the session itself.
struct SessionObservers {
  var connections: [UInt64: Mailbox<ConnectionState, Never>] = [:]
  var queues: [UInt64: Mailbox<QueueStatus, Never>] = [:]
  var snapshots: [UInt64: SnapshotObserver] = [:]
  var queueHasChanged = false
  private var last: UInt64 = 0

  mutating func nextID() -> UInt64 {
    last += 1
    return last
  }
}

/// A listener that also wants to know what is known about its data.
struct SnapshotObserver: Sendable {
  let path: TreePath
  let query: TreeQuery
  let listener: ListenerID
  let box: Mailbox<TreeSnapshot, ListenError>
  var last: TreeSnapshot?
}

extension TreeSession {
  /// Tells the connection's state, now and whenever it changes.
  package func observeConnection(_ box: Mailbox<ConnectionState, Never>) -> UInt64 {
    drain()
    let id = observers.nextID()
    box.post(machine.connectionState)
    observers.connections[id] = box
    return id
  }

  /// The pending and rejected writes, everything counted that was asked for before.
  package var queueStatus: QueueStatus {
    drain()
    return machine.queueStatus
  }

  /// Tells the pending and rejected writes, now and whenever they change.
  package func observeQueue(_ box: Mailbox<QueueStatus, Never>) -> UInt64 {
    drain()
    let id = observers.nextID()
    box.post(machine.queueStatus)
    observers.queues[id] = box
    return id
  }

  /// Tells a query's result with what is known about it, complete or not.
  package func observeSnapshots(
    at path: TreePath, query: TreeQuery, _ box: Mailbox<TreeSnapshot, ListenError>
  ) -> UInt64? {
    let listener = listen(
      at: path, query: query, for: [], heard: { _ in }, ended: { box.fail($0) })
    guard let listener else { return nil }
    let id = observers.nextID()
    observers.snapshots[id] = SnapshotObserver(
      path: path, query: query, listener: listener, box: box)
    refreshObservers()
    return id
  }

  package func stopObserving(_ id: UInt64) {
    observers.connections[id] = nil
    observers.queues[id] = nil
    if let observer = observers.snapshots.removeValue(forKey: id) { unlisten(observer.listener) }
  }

  /// Tells those observers whose answer is another one now.
  func refreshObservers() {
    if observers.queueHasChanged {
      observers.queueHasChanged = false
      if !observers.queues.isEmpty {
        let status = machine.queueStatus
        for box in observers.queues.values { box.post(status) }
      }
    }
    for (id, observer) in observers.snapshots {
      let snapshot = machine.snapshot(at: observer.path, query: observer.query)
      guard snapshot != observer.last else { continue }
      observers.snapshots[id]?.last = snapshot
      observer.box.post(snapshot)
    }
  }

  func finishObservers() {
    for box in observers.connections.values { box.finish() }
    for box in observers.queues.values { box.finish() }
    for observer in observers.snapshots.values { observer.box.fail(.closed) }
    observers = SessionObservers()
  }
}
