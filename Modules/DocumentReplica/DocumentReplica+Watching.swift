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
    wanted[target.id] = target
    switch watch {
    case .closed: startWatching()
    case .opening: break
    case .open: request(target)
    }
  }

  mutating func unwant(_ target: Int32) {
    guard wanted.removeValue(forKey: target) != nil else { return }
    if case .open = watch {
      cancel(target)
    } else if wanted.isEmpty {
      stopWatching()
      if isNetworkEnabled { track { $0.set(.unknown) } }
    }
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

  /// Sends a request, with the number of documents held when it continues an earlier one.
  private mutating func request(_ target: WatchTarget) {
    expectAnswer(from: target.id)
    var expected: Int?
    if target.resume != nil { expected = knowledge.serverKeys(of: target.id).count }
    emit(
      .watch(
        WatchTarget(
          id: target.id, subject: target.subject, resume: target.resume,
          expectedCount: expected, purpose: target.purpose)))
  }

  private mutating func cancel(_ target: Int32) {
    expectAnswer(from: target)
    emit(.unwatch(target))
  }

  private mutating func expectAnswer(from target: Int32) {
    withAggregator { aggregator, _ in aggregator.requested(target) }
  }

  /// Lends the aggregator of the open stream, if there is one.
  private mutating func withAggregator<R>(
    _ body: (inout WatchAggregator, ReplicaKnowledge) -> R
  ) -> R? {
    guard case .open(var aggregator) = watch else { return nil }
    // Left in place, the aggregator would be copied by the first change.
    watch = .opening
    defer { watch = .open(aggregator) }
    return body(&aggregator, knowledge)
  }

  private var knowledge: ReplicaKnowledge {
    ReplicaKnowledge(
      wanted: wanted, limbo: limbo, queries: queries, targetQueries: targetQueries)
  }

  mutating func startWatching() {
    guard isNetworkEnabled, !wanted.isEmpty, case .closed = watch else { return }
    watch = .opening
    emit(.openWatchStream)
    track { $0.streamStarted() }
  }

  mutating func stopWatching() {
    if case .closed = watch { return }
    watch = .closed
    emit(.closeWatchStream)
  }

  /// Changes the belief about the connection, and tells those who depend on it.
  mutating func track(
    _ body: (inout DocumentOnlineTracker) -> DocumentOnlineTracker.TimerAction
  ) {
    let before = tracker.state
    switch body(&tracker) {
    case .start: emit(.startOnlineTimer(DocumentOnlineTracker.patience))
    case .stop: emit(.stopOnlineTimer)
    case .none: break
    }
    if tracker.state != before { connectionChanged() }
  }
}

// MARK: What happens to the stream

extension DocumentReplica {
  /// The listen stream is open.
  package mutating func watchStreamOpened() -> [DocumentEffect] {
    guard case .opening = watch else { return [] }
    watch = .open(WatchAggregator(database: database))
    for target in wanted.keys.sorted() {
      guard let target = wanted[target] else { continue }
      request(target)
      guard target.resume != nil else { continue }
      withAggregator { aggregator, _ in aggregator.resumed(target.id) }
    }
    return settlePendingSnapshots()
  }

  /// Handles the end of the listen stream, or a failure to open it; reopens it when it is needed.
  ///
  /// - Parameter isFailure: `false` when this device closed the stream. Waiting listeners then do
  ///   not consider the server unreachable.
  package mutating func watchStreamClosed(isFailure: Bool = true) -> [DocumentEffect] {
    if case .closed = watch { return [] }
    watch = .closed
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
    guard case .open = watch else { return [] }
    track { $0.set(.online) }
    if case .target(let told) = change, case .removed(let status?) = told.kind {
      for target in told.targets { refuse(target, status) }
      raiseDueSnapshot(nil)
      return settlePendingSnapshots()
    }
    withAggregator { aggregator, knowledge in aggregator.handle(change, knowledge) }
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
    let due = withAggregator { aggregator, _ in aggregator.dueSnapshot(told) }
    if let time = due ?? nil, time >= cache.lastSnapshotVersion { raiseSnapshot(at: time) }
  }

  private mutating func raiseSnapshot(at version: DocumentVersion) {
    let taken = withAggregator { aggregator, knowledge in
      aggregator.takeEvent(at: version, knowledge)
    }
    guard let event = taken else { return }
    for (target, delta) in event.targets where !delta.resumeToken.isEmpty {
      wanted[target] = wanted[target]?.resumed(from: .token(delta.resumeToken))
    }
    for target in event.mismatched.keys.sorted() {
      guard let entry = wanted[target]?.resumed(from: nil) else { continue }
      wanted[target] = entry
      cancel(target)
      // The reason is given once; later requests are like any other.
      request(entry.labelled(event.mismatched[target] ?? entry.purpose))
    }
    apply(event)
  }

  /// Asks anew for what was lost through damage in the cache, as if the server had said that it
  /// counts something else.
  mutating func recover() {
    let lost = cache.takeLostTargets()
    if lost.isEmpty { return }
    var event = DocumentServerEvent(version: .none)
    for target in lost {
      guard let index = targetQueries[target]?.first.flatMap(index(of:)) else { continue }
      event.mismatched[target] = .existenceFilterMismatch
      event.targets[target] = DocumentServerEvent.TargetDelta(
        removed: queries[index].view.serverKeys)
      guard let entry = wanted[target]?.resumed(from: nil) else { continue }
      wanted[target] = entry
      guard case .open = watch else { continue }
      withAggregator { aggregator, _ in aggregator.startAnew(target) }
      cancel(target)
      request(entry)
    }
    apply(event)
  }

  private mutating func apply(_ event: DocumentServerEvent) {
    for (target, delta) in event.targets { limbo.note(delta, of: target) }
    emit(cache.applyServer(event), event)
  }

  /// The server refuses a target.
  private mutating func refuse(_ target: Int32, _ status: DocumentStatus) {
    guard wanted.removeValue(forKey: target) != nil else { return }
    withAggregator { aggregator, _ in aggregator.forget(target) }
    guard let key = limbo.refuse(target) else { return fail(target, status) }
    // This user may be denied the document's existence: treat it as missing.
    apply(
      DocumentServerEvent(
        version: .none, documents: [key: Document(key, .missing)], resolvedLimbo: [key]))
    perform(limbo.pump())
  }
}

/// The view of a replica that the aggregation uses.
struct ReplicaKnowledge: WatchKnowledge {
  let wanted: [Int32: WatchTarget]
  let limbo: LimboTable
  let queries: [ListenedQuery]
  let targetQueries: [Int32: [Int]]

  func wanted(_ target: Int32) -> WatchTarget? { wanted[target] }

  func serverKeys(of target: Int32) -> Set<DocumentKey> {
    if let keys = limbo.serverKeys(of: target) { return keys }
    guard let index = targetQueries[target]?.first.flatMap(queries.index(of:)) else { return [] }
    return queries[index].view.serverKeys
  }
}

extension DocumentTargetRecord {
  /// From where the server may continue.
  var resume: WatchTarget.Resume? {
    if !resumeToken.isEmpty { return .token(resumeToken) }
    return snapshotVersion > .none ? .readTime(snapshotVersion) : nil
  }
}

extension WatchTarget {
  func resumed(from resume: Resume?) -> WatchTarget {
    WatchTarget(id: id, subject: subject, resume: resume, purpose: purpose)
  }

  func labelled(_ purpose: Purpose) -> WatchTarget {
    WatchTarget(id: id, subject: subject, resume: resume, purpose: purpose)
  }
}
