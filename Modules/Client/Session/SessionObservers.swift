import TernSync

/// The observers of a session itself: its connection, and its queue.
struct SessionObservers<Status: Sendable>: Sendable {
  private var connections: [UInt64: Mailbox<ConnectionState, Never>] = [:]
  private var queues: [UInt64: Mailbox<Status, Never>] = [:]
  private var last: UInt64 = 0
  private var isFinished = false
  /// True when the queue differs from the state reported last.
  var queueHasChanged = false

  /// Tells the connection's state, now and whenever it changes.
  mutating func add(
    _ box: Mailbox<ConnectionState, Never>, telling state: ConnectionState
  ) -> UInt64 {
    box.post(state)
    if isFinished { box.finish() } else { connections[last + 1] = box }
    last += 1
    return last
  }

  /// Tells what is in the queue, now and whenever it changes.
  mutating func add(_ box: Mailbox<Status, Never>, telling status: Status) -> UInt64 {
    box.post(status)
    if isFinished { box.finish() } else { queues[last + 1] = box }
    last += 1
    return last
  }

  mutating func remove(_ id: UInt64) {
    connections[id] = nil
    queues[id] = nil
  }

  func tell(_ state: ConnectionState) {
    for box in connections.values { box.post(state) }
  }

  /// - Parameter status: Called only when there are observers.
  mutating func tellQueue(_ status: () -> Status) {
    guard queueHasChanged else { return }
    queueHasChanged = false
    if queues.isEmpty { return }
    let status = status()
    for box in queues.values { box.post(status) }
  }

  /// The session has ended: so do those who observe it, now or later.
  mutating func finish() {
    for box in connections.values { box.finish() }
    for box in queues.values { box.finish() }
    (connections, queues) = ([:], [:])
    isFinished = true
  }
}

extension LinkedSession {
  /// The pending and the rejected writes of the queue, after all earlier calls.
  var queueStatus: Machine.Status {
    drain()
    return machine.queueStatus
  }

  /// Tells the connection's state, now and whenever it changes.
  func observeConnection(_ box: Mailbox<ConnectionState, Never>) -> UInt64 {
    drain()
    return observers.add(box, telling: machine.connectionState)
  }

  /// Tells ``queueStatus``, now and whenever it changes.
  func observeQueue(_ box: Mailbox<Machine.Status, Never>) -> UInt64 {
    drain()
    return observers.add(box, telling: machine.queueStatus)
  }

  func stopObserving(_ id: UInt64) { observers.remove(id) }
}
