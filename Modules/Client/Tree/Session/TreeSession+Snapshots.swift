import TernCore
import TernQuery
import TernSync

/// A listener that also wants to know what is known about its data.
struct SnapshotObserver: Sendable {
  let path: TreePath
  let query: TreeQuery
  let box: Mailbox<TreeSnapshot, ListenError>
  var last: TreeSnapshot?

  /// True when a snapshot differs from the last one.
  func isNews(_ snapshot: TreeSnapshot) -> Bool {
    guard let last else { return true }
    return snapshot.isComplete != last.isComplete || snapshot.isFromCache != last.isFromCache
      || snapshot.node != last.node || snapshot.differsInPendingWrites(from: last)
  }
}

extension TreeSession {
  /// Tells a query's result with what is known about it, complete or not.
  func observeSnapshots(
    at path: TreePath, query: TreeQuery, _ box: Mailbox<TreeSnapshot, ListenError>
  ) -> ListenerID? {
    let listener = listen(
      at: path, query: query, for: [], heard: { _ in }, ended: { box.fail($0) })
    guard let listener else { return nil }
    snapshots[listener] = SnapshotObserver(path: path, query: query, box: box)
    tellSnapshots()
    return listener
  }

  func stopObservingSnapshots(_ listener: ListenerID) {
    snapshots[listener] = nil
    unlisten(listener)
  }

  /// Tells those whose snapshot is another one now.
  func tellSnapshots() {
    for (listener, observer) in snapshots {
      let snapshot = machine.snapshot(at: observer.path, query: observer.query)
      guard observer.isNews(snapshot) else { continue }
      snapshots[listener]?.last = snapshot
      observer.box.post(snapshot)
    }
  }
}
