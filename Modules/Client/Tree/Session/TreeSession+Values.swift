import TernCore
import TernQuery
import TernSync
import TernTreeReplica

/// A listener for the values of a query.
struct ValueObserver: Sendable {
  let path: TreePath
  let query: TreeQuery
  let box: Mailbox<TreeSnapshot, ListenError>
  /// The snapshot that was posted last.
  var last: TreeSnapshot?

  /// True when a snapshot differs from the one posted last in what this listener hears about.
  func isNews(_ snapshot: TreeSnapshot) -> Bool {
    guard let last else { return snapshot.isComplete || snapshot.hasPendingWrites }
    return snapshot.isComplete != last.isComplete
      || snapshot.node != last.node || snapshot.differsInPendingWrites(from: last)
  }
}

extension TreeSession {
  /// Tells a query's complete results, the incomplete ones that local writes are part of, and when
  /// only completeness or pending writes change.
  func observeValues(
    at path: TreePath, query: TreeQuery, _ box: Mailbox<TreeSnapshot, ListenError>
  ) -> ListenerID? {
    drain()
    // The events of the registration itself come before there is an observer: what they told is
    // looked up afterwards.
    let listener = listen(
      at: path, query: query, for: .value, heard: { _ in }, ended: { box.fail($0) })
    guard let listener else { return nil }
    values[listener] = ValueObserver(path: path, query: query, box: box)
    tellValue(of: listener)
    return listener
  }

  func stopObservingValues(_ listener: ListenerID) {
    values[listener] = nil
    unsettledValues.remove(listener)
    unlisten(listener)
  }

  /// Tells the event of a value listener; `false` when the registration is none.
  func tellValue(_ event: TreeEvent, of listener: ListenerID) -> Bool {
    guard let observer = values[listener] else { return false }
    post(
      TreeSnapshot(
        path: event.path, node: event.change.node, query: observer.query,
        isFromCache: event.isFromCache, pending: event.pending), to: listener)
    return true
  }

  /// Tells the observers whose snapshot has another state without an event.
  ///
  /// - Parameter writesChanged: Whether local writes came or went, which can concern every
  ///   observer; otherwise only those with pending writes or an incomplete result are looked at.
  func tellValues(writesChanged: Bool) {
    if values.isEmpty { return }
    if writesChanged {
      for listener in values.keys { tellValue(of: listener) }
    } else {
      for listener in unsettledValues { tellValue(of: listener) }
    }
  }

  private func tellValue(of listener: ListenerID) {
    guard let observer = values[listener] else { return }
    let snapshot = machine.snapshot(at: observer.path, query: observer.query)
    if observer.isNews(snapshot) { post(snapshot, to: listener) }
  }

  private func post(_ snapshot: TreeSnapshot, to listener: ListenerID) {
    values[listener]?.last = snapshot
    if snapshot.isComplete, !snapshot.hasPendingWrites {
      unsettledValues.remove(listener)
    } else {
      unsettledValues.insert(listener)
    }
    values[listener]?.box.post(snapshot)
  }
}
