import TernCore
import TernQuery

extension DocumentReplica {
  /// Brings all views up to date with documents that changed, and tells the listeners.
  ///
  /// - Parameters:
  ///   - changed: The documents as they are shown now.
  ///   - event: What the server said, when it was the server.
  ///   - takesBack: Whether writes were taken back: rejected, or shown to their user alone.
  mutating func emit(
    _ changed: [DocumentKey: Document], _ event: DocumentServerEvent? = nil,
    takesBack: Bool = false
  ) {
    var snapshots: [(query: Int, snapshot: DocumentViewSnapshot)] = []
    for index in queries.indices {
      let target = queries[index].view.target
      let delta = event?.targets[target]
      let isPendingReset = event?.mismatched[target] != nil
      let relevant = changed.isEmpty ? [] : relevantDocuments(changed, index)
      let awaitsServer = event != nil && queries[index].view.awaitsServer
      if relevant.isEmpty, delta == nil, !isPendingReset, !awaitsServer { continue }
      let outcome = update(
        index, relevant, delta, isPendingReset: isPendingReset, takesBack: takesBack)
      perform(limbo.change(of: target, added: outcome.limboAdded, removed: outcome.limboRemoved))
      if delta?.resumeToken.isEmpty == false { queries[index].hasCachedResults = true }
      if let snapshot = outcome.snapshot {
        snapshots.append((queries[index].id, snapshot))
        note(snapshot, target)
      }
    }
    raise(snapshots)
  }

  private func relevantDocuments(
    _ changed: [DocumentKey: Document], _ index: Int
  ) -> [Document] {
    var relevant: [Document] = []
    for (key, document) in changed where queries[index].view.concerns(key) {
      relevant.append(document)
    }
    // The order of a dictionary differs from run to run, and events must not.
    return relevant.count > 1 ? relevant.sorted { $0.key < $1.key } : relevant
  }

  private mutating func update(
    _ index: Int, _ relevant: [Document], _ delta: DocumentServerEvent.TargetDelta?,
    isPendingReset: Bool, takesBack: Bool
  ) -> ViewOutcome {
    var changes = queries[index].view.beginChanges()
    if queries[index].view.update(relevant, &changes, takesBack: takesBack) {
      let again = cache.run(queries[index].view.query, usingPrevious: false).documents
      _ = queries[index].view.update(again, &changes)
    }
    // What damage has cost is asked for anew in this very turn; until then nothing here is certain.
    let isLost = cache.lostTargets.contains(queries[index].view.target)
    return queries[index].view.finish(
      changes, delta: delta, asOf: cache.lastSnapshotVersion,
      isPendingReset: isPendingReset || isLost)
  }

  /// Tells the cache what a view shows, so that it is not dropped.
  private mutating func note(_ snapshot: DocumentViewSnapshot, _ target: Int32) {
    var added: Set<DocumentKey> = []
    var removed: Set<DocumentKey> = []
    for change in snapshot.changes {
      switch change.kind {
      case .added: added.insert(change.document.key)
      case .removed: removed.insert(change.document.key)
      case .modified, .metadata: break
      }
    }
    cache.noteViewChanges(
      target: target, added: added, removed: removed, isFromCache: snapshot.isFromCache)
  }

  /// Hands snapshots to the listeners of their queries, after those that are being handed out.
  mutating func raise(_ snapshots: [(query: Int, snapshot: DocumentViewSnapshot)]) {
    unraised += snapshots
    // A read that has its answer ends, and that may make another snapshot for those who stay: they
    // must not hear it before the one that answered the read.
    if isRaising { return }
    isRaising = true
    defer { isRaising = false }
    var hasRaised = false
    while !unraised.isEmpty {
      let (query, snapshot) = unraised.removeFirst()
      guard let index = index(of: query) else { continue }
      for listener in queries[index].listeners where raise(snapshot, to: listener) {
        hasRaised = true
      }
    }
    if hasRaised { raiseInSync() }
  }

  /// - Returns: Whether the listener hears something.
  mutating func raise(_ snapshot: DocumentViewSnapshot, to id: DocumentListenerID) -> Bool {
    guard let heard = listeners[id]?.hear(snapshot, tracker.state) else { return false }
    deliver(heard, to: id)
    return true
  }

  private mutating func deliver(_ snapshot: DocumentViewSnapshot, to id: DocumentListenerID) {
    guard let listener = listeners[id] else { return }
    switch listener.purpose {
    case .snapshots: emit(.snapshot(id, snapshot))
    case .get(let source):
      var isDocument = false
      if case .document = listener.query.source { isDocument = true }
      emit(.answered(id, source.judge(snapshot, isDocument: isDocument)))
      remove(id)
    }
  }

  mutating func raiseInSync() {
    for id in syncListeners { emit(.inSync(id)) }
  }

  /// The belief about the connection has changed: some listeners need not wait any longer, and
  /// what was the server's truth may be out of date.
  mutating func connectionChanged() {
    var snapshots: [(query: Int, snapshot: DocumentViewSnapshot)] = []
    if tracker.state == .offline {
      for index in queries.indices {
        let outcome = queries[index].view.goOffline()
        if let snapshot = outcome.snapshot {
          snapshots.append((queries[index].id, snapshot))
        }
      }
    }
    var hasRaised = false
    for id in queries.flatMap(\.listeners) {
      guard let heard = listeners[id]?.connectionChanged(tracker.state) else { continue }
      deliver(heard, to: id)
      hasRaised = true
    }
    if hasRaised { raiseInSync() }
    raise(snapshots)
  }
}
