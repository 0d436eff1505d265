import TernCore
import TernQuery

/// The listeners and single reads, by id, and the listeners of the in-sync event.
struct ListenerTable: Sendable {
  private var listeners: [DocumentListenerID: DocumentListener] = [:]
  /// The number of listeners that are single reads.
  private(set) var readCount = 0
  /// The listeners of the in-sync event, in order of registration.
  var inSync: [DocumentListenerID] = []

  subscript(id: DocumentListenerID) -> DocumentListener? { listeners[id] }

  /// Adds a listener under a new id.
  mutating func add(_ listener: DocumentListener, _ id: DocumentListenerID) {
    listeners[id] = listener
    if listener.isRead { readCount += 1 }
  }

  /// Removes and returns a listener.
  mutating func remove(_ id: DocumentListenerID) -> DocumentListener? {
    let listener = listeners.removeValue(forKey: id)
    if listener?.isRead == true { readCount -= 1 }
    return listener
  }

  /// Ends a listener with an error, or answers a read with it.
  mutating func fail(
    _ id: DocumentListenerID, _ status: DocumentStatus, _ effects: inout [DocumentEffect]
  ) {
    switch remove(id)?.purpose {
    case .get: effects.append(.answered(id, .failure(status)))
    case .snapshots: effects.append(.failed(id, status))
    case nil: break
    }
  }

  /// Takes in a snapshot; returns the one that the listener hears, if any.
  mutating func hear(
    _ snapshot: DocumentViewSnapshot, _ id: DocumentListenerID, _ state: DocumentOnlineState
  ) -> DocumentViewSnapshot? {
    listeners[id]?.hear(snapshot, state)
  }

  /// Takes in a change of the connection; returns the snapshot that the listener hears, if any.
  mutating func connectionChanged(
    _ state: DocumentOnlineState, _ id: DocumentListenerID
  ) -> DocumentViewSnapshot? {
    listeners[id]?.connectionChanged(state)
  }
}
