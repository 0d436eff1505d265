import TernCore
import TernQuery

extension DocumentReplica {
  /// Brings all views up to date with documents that changed, and tells the listeners.
  ///
  /// - Parameters:
  ///   - changed: The documents as they are shown now, in the order of keys.
  ///   - event: What the server said, when it was the server.
  ///   - takesBack: Whether writes were taken back: rejected, or shown to their user alone.
  mutating func emit(
    _ changed: [Document], _ event: DocumentServerEvent? = nil, takesBack: Bool = false
  ) {
    var snapshots: [(query: Int, snapshot: DocumentViewSnapshot)] = []
    for index in queries.all.indices {
      let target = queries.all[index].view.target
      let delta = event?.targets[target]
      let isPendingReset = event?.mismatched[target] != nil
      let relevant = changed.isEmpty ? [] : queries.all[index].relevant(of: changed)
      let awaitsServer = event != nil && queries.all[index].view.awaitsServer
      if relevant.isEmpty, delta == nil, !isPendingReset, !awaitsServer { continue }
      let outcome = update(
        index, relevant, delta, isPendingReset: isPendingReset, takesBack: takesBack)
      perform(limbo.change(of: target, added: outcome.limboAdded, removed: outcome.limboRemoved))
      if delta?.resumeToken.isEmpty == false { queries.all[index].hasCachedResults = true }
      if let snapshot = outcome.snapshot {
        snapshots.append((queries.all[index].id, snapshot))
        let (added, removed) = queries.all[index].view.enteredAndLeft(with: snapshot)
        cache.noteViewChanges(
          target: target, added: added, removed: removed, isFromCache: snapshot.isFromCache)
      }
    }
    raise(snapshots)
  }

  private mutating func update(
    _ index: Int, _ relevant: [Document], _ delta: DocumentServerEvent.TargetDelta?,
    isPendingReset: Bool, takesBack: Bool
  ) -> ViewOutcome {
    var changes = queries.all[index].view.beginChanges()
    let new = delta?.added ?? []
    if queries.all[index].view.update(relevant, &changes, takesBack: takesBack, entering: new) {
      let again = cache.run(queries.all[index].view.query, usingPrevious: false).documents
      _ = queries.all[index].view.update(again, &changes)
    }
    // What damage has cost is asked for anew in this very turn; until then nothing here is certain.
    let isLost = cache.lostTargets.contains(queries.all[index].view.target)
    return queries.all[index].view.finish(
      changes, delta: delta, asOf: cache.lastSnapshotVersion,
      isPendingReset: isPendingReset || isLost)
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
      guard let index = queries.index(of: query) else { continue }
      for listener in queries.all[index].listeners where raise(snapshot, to: listener) {
        hasRaised = true
      }
    }
    if hasRaised { raiseInSync() }
  }

  /// - Returns: Whether the listener hears something.
  mutating func raise(_ snapshot: DocumentViewSnapshot, to id: DocumentListenerID) -> Bool {
    guard let heard = listeners.hear(snapshot, id, watch.online) else { return false }
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
    for id in listeners.inSync { emit(.inSync(id)) }
  }

  /// The belief about the connection has changed: some listeners need not wait any longer, and
  /// what was the server's truth may be out of date.
  mutating func connectionChanged() {
    let snapshots = watch.online == .offline ? queries.goOffline() : []
    var hasRaised = false
    for id in queries.all.flatMap(\.listeners) {
      guard let heard = listeners.connectionChanged(watch.online, id) else { continue }
      deliver(heard, to: id)
      hasRaised = true
    }
    if hasRaised { raiseInSync() }
    raise(snapshots)
  }
}
