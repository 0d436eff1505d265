import TernCore
import TernQuery

/// The listen stream: the targets that the server should watch, and the belief about the
/// connection.
///
/// Functions that change the belief return `true`: listeners that depend on it have to be informed.
struct WatchStream: Sendable {
  /// The state of the stream.
  enum State: Sendable {
    case closed
    case opening
    case open(WatchAggregator)
  }

  private let database: DocumentDatabase
  private var state = State.closed
  /// The targets that the server should watch, as a new stream would request them.
  private(set) var wanted: [Int32: WatchTarget] = [:]
  private var tracker = DocumentOnlineTracker()
  /// `true` if the application wants a connection.
  var isNetworkEnabled = true

  init(database: DocumentDatabase) { self.database = database }

  /// The belief about the connection.
  var online: DocumentOnlineState { tracker.state }

  var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  // MARK: Targets

  /// Asks for a target, and opens the stream if it must.
  mutating func want(
    _ target: WatchTarget, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) -> Bool {
    wanted[target.id] = target
    switch state {
    case .closed: return start(&effects)
    case .opening: return false
    case .open:
      request(target, queries, limbo, &effects)
      return false
    }
  }

  /// Stops asking for a target; a stream that never opened closes when nothing is wanted.
  mutating func unwant(
    _ target: Int32, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) -> Bool {
    guard wanted.removeValue(forKey: target) != nil else { return false }
    if isOpen {
      cancel(target, queries, limbo, &effects)
    } else if wanted.isEmpty {
      stop(&effects)
      if isNetworkEnabled { return track(&effects) { $0.set(.unknown) } }
    }
    return false
  }

  /// Forgets a target that the server refuses.
  ///
  /// - Returns: Whether it is wanted, and no later request for it is on its way.
  mutating func refuse(_ target: Int32, _ queries: QueryTable, _ limbo: LimboTable) -> Bool {
    let isWanted = wanted[target] != nil
    let isRefused = withAggregator(queries, limbo) { aggregator, _ in
      guard aggregator.refused(target, isWanted: isWanted) else { return false }
      aggregator.forget(target)
      return true
    }
    if isRefused == true { wanted[target] = nil }
    return isRefused == true
  }

  /// Notes from where the server may continue a target.
  ///
  /// - Returns: The target as it is wanted now; `nil` when it is not.
  @discardableResult
  private mutating func resume(_ target: Int32, from resume: WatchTarget.Resume?) -> WatchTarget? {
    wanted[target] = wanted[target]?.resumed(from: resume)
    return wanted[target]
  }

  /// Takes the event of a moment off the stream, and asks anew for results that do not agree.
  mutating func takeEvent(
    at version: DocumentVersion, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) -> DocumentServerEvent? {
    let taken = withAggregator(queries, limbo) { aggregator, knowledge in
      aggregator.takeEvent(at: version, knowledge)
    }
    guard let event = taken else { return nil }
    for (target, delta) in event.targets where !delta.resumeToken.isEmpty {
      resume(target, from: .token(delta.resumeToken))
    }
    for target in event.mismatched.keys.sorted() {
      guard let entry = resume(target, from: nil) else { continue }
      cancel(target, queries, limbo, &effects)
      // The reason is given once; later requests are like any other.
      let purpose = event.mismatched[target] ?? entry.purpose
      request(entry.labelled(purpose), queries, limbo, &effects)
    }
    return event
  }

  /// Asks anew for a target whose result was lost on this device.
  mutating func startAnew(
    _ target: Int32, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) {
    guard let entry = resume(target, from: nil), isOpen else { return }
    withAggregator(queries, limbo) { aggregator, _ in aggregator.startAnew(target) }
    cancel(target, queries, limbo, &effects)
    request(entry, queries, limbo, &effects)
  }

  /// Sends a request, with the number of documents held when it continues an earlier one.
  private mutating func request(
    _ target: WatchTarget, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) {
    withAggregator(queries, limbo) { aggregator, _ in aggregator.requested(target.id) }
    var expected: Int?
    if target.resume != nil {
      expected = knowledge(queries, limbo).serverKeys(of: target.id).count
    }
    effects.append(
      .watch(
        WatchTarget(
          id: target.id, subject: target.subject, resume: target.resume,
          expectedCount: expected, purpose: target.purpose)))
  }

  /// Sends that a target is no longer wanted.
  private mutating func cancel(
    _ target: Int32, _ queries: QueryTable, _ limbo: LimboTable,
    _ effects: inout [DocumentEffect]
  ) {
    withAggregator(queries, limbo) { aggregator, _ in aggregator.requested(target) }
    effects.append(.unwatch(target))
  }

  /// Lends the aggregator of the open stream, if there is one.
  @discardableResult
  mutating func withAggregator<R>(
    _ queries: QueryTable, _ limbo: LimboTable,
    _ body: (inout WatchAggregator, ReplicaKnowledge) -> R
  ) -> R? {
    guard case .open(var aggregator) = state else { return nil }
    // Left in place, the aggregator would be copied by the first change.
    state = .opening
    defer { state = .open(aggregator) }
    return body(&aggregator, knowledge(queries, limbo))
  }

  private func knowledge(_ queries: QueryTable, _ limbo: LimboTable) -> ReplicaKnowledge {
    ReplicaKnowledge(wanted: wanted, lookups: limbo.lookups, queries: queries)
  }

  // MARK: The stream

  /// Opens the stream, if a target is wanted and the network may be used.
  mutating func start(_ effects: inout [DocumentEffect]) -> Bool {
    guard isNetworkEnabled, !wanted.isEmpty, case .closed = state else { return false }
    state = .opening
    effects.append(.openWatchStream)
    return track(&effects) { $0.streamStarted() }
  }

  /// Closes the stream.
  mutating func stop(_ effects: inout [DocumentEffect]) {
    if noteClosed() { effects.append(.closeWatchStream) }
  }

  /// Requests everything that is wanted on a stream that has just opened.
  ///
  /// - Returns: Whether it was being opened.
  mutating func noteOpened(
    _ queries: QueryTable, _ limbo: LimboTable, _ effects: inout [DocumentEffect]
  ) -> Bool {
    guard case .opening = state else { return false }
    state = .open(WatchAggregator(database: database))
    for target in wanted.keys.sorted() {
      guard let target = wanted[target] else { continue }
      request(target, queries, limbo, &effects)
      guard target.resume != nil else { continue }
      withAggregator(queries, limbo) { aggregator, _ in aggregator.resumed(target.id) }
    }
    return true
  }

  /// Notes that the stream is closed.
  ///
  /// - Returns: Whether it was not closed before.
  mutating func noteClosed() -> Bool {
    if case .closed = state { return false }
    state = .closed
    return true
  }

  /// Changes the belief about the connection, and its timer.
  mutating func track(
    _ effects: inout [DocumentEffect],
    _ body: (inout DocumentOnlineTracker) -> DocumentOnlineTracker.TimerAction
  ) -> Bool {
    let before = tracker.state
    switch body(&tracker) {
    case .start: effects.append(.startOnlineTimer(DocumentOnlineTracker.patience))
    case .stop: effects.append(.stopOnlineTimer)
    case .none: break
    }
    return tracker.state != before
  }
}

/// The view of a replica that the aggregation uses. It is made for each message: what it holds is
/// as little as can be.
struct ReplicaKnowledge: WatchKnowledge {
  let wanted: [Int32: WatchTarget]
  let lookups: [Int32: LimboTable.Lookup]
  let queries: QueryTable

  func wanted(_ target: Int32) -> WatchTarget? { wanted[target] }

  func serverKeys(of target: Int32) -> Set<DocumentKey> {
    if let lookup = lookups[target] { return lookup.serverKeys }
    guard let index = queries.index(servedBy: target) else { return [] }
    return queries.all[index].view.serverKeys
  }

  func holds(_ key: DocumentKey, in target: Int32) -> Bool {
    if let lookup = lookups[target] { return lookup.serverKeys.contains(key) }
    guard let index = queries.index(servedBy: target) else { return false }
    return queries.all[index].view.serverKeys.contains(key)
  }
}

extension WatchTarget {
  /// The same, continued from elsewhere.
  func resumed(from resume: Resume?) -> WatchTarget {
    WatchTarget(id: id, subject: subject, resume: resume, purpose: purpose)
  }

  /// The same for another purpose.
  func labelled(_ purpose: Purpose) -> WatchTarget {
    WatchTarget(id: id, subject: subject, resume: resume, purpose: purpose)
  }
}
