import TernCore
package import TernQuery

// What the server is asked for. Source: documents reference, sections 5.7, 5.8 and 6.4.
extension DocumentReplica {
  /// Asks the server for a target that listeners need.
  mutating func want(_ target: Int32) {
    guard wanted[target] == nil, let record = cache.target(target) else { return }
    want(
      WatchTarget(id: target, subject: record.subject, resume: record.resume))
  }

  private mutating func want(_ target: WatchTarget) {
    if watch.want(target, queries, limbo, &pendingEffects) { connectionChanged() }
  }

  mutating func unwant(_ target: Int32) {
    if watch.unwant(target, queries, limbo, &pendingEffects) { connectionChanged() }
  }

  /// Does what limbo resolution asks for.
  mutating func perform(_ actions: [LimboTable.Action]) {
    for action in actions {
      switch action {
      case .watch(let target, let key):
        want(WatchTarget(id: target, subject: .documents([key]), purpose: .limboResolution))
      case .unwatch(let target): unwant(target)
      }
    }
  }

  mutating func startWatching() {
    if watch.start(&pendingEffects) { connectionChanged() }
  }

  /// Changes the belief about the connection, and informs the listeners that depend on it.
  mutating func track(
    _ body: (inout DocumentOnlineTracker) -> DocumentOnlineTracker.TimerAction
  ) {
    if watch.track(&pendingEffects, body) { connectionChanged() }
  }
}

// MARK: What happens to the stream

extension DocumentReplica {
  /// The listen stream is open.
  package mutating func watchStreamOpened() -> [DocumentEffect] {
    guard watch.noteOpened(queries, limbo, &pendingEffects) else { return [] }
    return settlePendingSnapshots()
  }

  /// Handles the end of the listen stream, or a failure to open it; reopens it when it is needed.
  ///
  /// - Parameter isFailure: `false` when this device closed the stream. Waiting listeners then do
  ///   not consider the server unreachable.
  package mutating func watchStreamClosed(isFailure: Bool = true) -> [DocumentEffect] {
    guard watch.noteClosed() else { return [] }
    if isNetworkEnabled, !wanted.isEmpty {
      track { isFailure ? $0.streamFailed() : $0.set(.unknown) }
      startWatching()
    } else {
      track { $0.set(.unknown) }
    }
    return settlePendingSnapshots()
  }

  /// The server has been silent for too long since the stream was started.
  package mutating func onlineTimerFired() -> [DocumentEffect] {
    track { tracker in
      tracker.timerFired()
      return .none
    }
    return settlePendingSnapshots()
  }

  /// A message of the listen stream.
  package mutating func applyServer(_ change: WatchChange) -> [DocumentEffect] {
    guard watch.isOpen else { return [] }
    track { $0.set(.online) }
    if case .target(let told) = change, case .removed(let status?) = told.kind {
      for target in told.targets { refuse(target, status) }
      raiseDueSnapshot(nil)
      return settlePendingSnapshots()
    }
    watch.withAggregator(queries, limbo) { aggregator, knowledge in
      aggregator.handle(change, knowledge)
    }
    if case .target(let told) = change {
      if told.targets.isEmpty, let time = told.readTime {
        raiseDueSnapshot(time)
      } else if case .removed = told.kind {
        raiseDueSnapshot(nil)
      }
    }
    return settlePendingSnapshots()
  }

  /// Raises the snapshot that was told, or one that does not have to wait any longer.
  private mutating func raiseDueSnapshot(_ told: DocumentVersion?) {
    let due = watch.withAggregator(queries, limbo) { aggregator, _ in aggregator.dueSnapshot(told) }
    if let time = due ?? nil, time >= cache.lastSnapshotVersion { raiseSnapshot(at: time) }
  }

  private mutating func raiseSnapshot(at version: DocumentVersion) {
    if let event = watch.takeEvent(at: version, queries, limbo, &pendingEffects) { apply(event) }
  }

  /// Asks anew for what was lost through damage in the cache, as if the server had said that it
  /// counts something else.
  mutating func recover() {
    let lost = cache.takeLostTargets()
    if lost.isEmpty { return }
    var event = DocumentServerEvent(version: .none)
    for target in lost {
      guard let index = queries.index(servedBy: target) else { continue }
      event.mismatched[target] = .existenceFilterMismatch
      event.targets[target] = DocumentServerEvent.TargetDelta(
        removed: queries.all[index].view.serverKeys)
      watch.startAnew(target, queries, limbo, &pendingEffects)
    }
    apply(event)
  }

  private mutating func apply(_ event: DocumentServerEvent) {
    for (target, delta) in event.targets { limbo.note(delta, of: target) }
    emit(cache.applyServer(event), event)
    retryLookups()
  }

  /// The server refuses a target.
  private mutating func refuse(_ target: Int32, _ status: DocumentStatus) {
    guard watch.refuse(target, queries, limbo) else { return }
    guard let key = limbo.refuse(target) else { return fail(target, status) }
    // Another result that the server keeps up to date has the document.
    if queries.hold(key, in: wanted) { return perform(limbo.keep(key)) }
    // This user may be denied the document's existence: treat it as missing.
    cache.loseResults(holding: key)
    apply(
      DocumentServerEvent(
        version: .none, documents: [Document(key, .missing)], resolvedLimbo: [key]))
    perform(limbo.pump())
  }

  /// Asks again for documents whose lookups were denied and that no result has any more.
  mutating func retryLookups() {
    if limbo.denied.isEmpty { return }
    perform(limbo.retry(limbo.denied.filter { !queries.hold($0, in: wanted) }.sorted()))
  }
}

extension QueryTable {
  /// Returns `true` if a document is in the result of one of these targets.
  fileprivate func hold(_ key: DocumentKey, in targets: [Int32: WatchTarget]) -> Bool {
    all.contains { targets[$0.view.target] != nil && $0.view.serverKeys.contains(key) }
  }
}

extension DocumentTargetRecord {
  /// From where the server may continue.
  var resume: WatchTarget.Resume? {
    if !resumeToken.isEmpty { return .token(resumeToken) }
    return snapshotVersion > .none ? .readTime(snapshotVersion) : nil
  }
}
