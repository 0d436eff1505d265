import TernCore
import TernQuery
import TernStorage
import TernSync
import TernTreeReplica
import TernTreeWire

/// The tree as listeners see it: the replica, the client's own tree below `.info`, and the listens
/// that the replica needs from the server.
struct TreeViews: Sendable {
  var replica: TreeReplica
  private(set) var info = InfoTree()
  private var listens = ListenTable<ListenRequest>()
  /// The listens that are over and that the server was not told to end, because what may take their
  /// place waits until it knows who is asking. Fewer than it serves.
  private var stopsHeldBack: [ListenRequest] = []
  /// The listens that the server could not end when it was told to.
  private var stopsPostponed: [ListenRequest] = []
  /// The pause before listens that the server could not serve are requested again.
  private var pause = RetryPause()
  /// The reason the cache last could not be stored.
  var cacheFailure: StorageError?

  init(_ replica: TreeReplica) { self.replica = replica }

  /// Stores what the cache gathered, in one transaction. A cache that fails costs nothing but the
  /// data it would have kept.
  ///
  /// - Returns: Why it could not be stored, the first time.
  mutating func storeCache() -> StorageError? {
    replica.evict()
    do throws(StorageError) {
      try replica.commitCache()
      return nil
    } catch {
      defer { cacheFailure = error }
      return cacheFailure == nil ? error : nil
    }
  }
}

// MARK: - Listeners

extension TreeViews {
  /// Registers a listener, and requests the delivery of what is known already.
  mutating func listen(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds, _ channel: inout TreeChannel
  ) -> ListenerID {
    guard !path.isInfo else {
      let (id, events) = info.listen(at: path, query: query, for: kinds)
      channel.emit(.deliver(events, to: .info))
      return ListenerID(tree: .info, registration: id)
    }
    let (id, outcome) = replica.listen(at: path, query: query, for: kinds)
    perform(outcome, &channel)
    return ListenerID(tree: .shared, registration: id)
  }

  /// Ends a listener; it hears nothing any more.
  mutating func unlisten(_ id: ListenerID, _ channel: inout TreeChannel) {
    switch id.tree {
    case .shared: perform(replica.unlisten(id.registration), &channel)
    case .info: info.unlisten(id.registration)
    }
  }

  /// Shows under `.info` whether there is a connection.
  mutating func setInfo(connected isConnected: Bool, _ channel: inout TreeChannel) {
    let events = info.set(
      isConnected: isConnected, serverTimeOffset: channel.serverTimeOffset)
    if !events.isEmpty { channel.emit(.deliver(events, to: .info)) }
  }

  /// A query's result as listeners have it, with what is known about it.
  func snapshot(at path: TreePath, query: TreeQuery) -> TreeSnapshot {
    if path.isInfo {
      return TreeSnapshot(path: path, node: info.value(at: path, query: query), query: query)
    }
    let state = replica.state(at: path, query: query)
    return TreeSnapshot(
      path: path, node: state?.node ?? .empty, query: query,
      isComplete: state?.isComplete ?? false, isFromCache: state?.isFromCache ?? true,
      pending: state?.pending ?? PendingPaths())
  }

  /// Performs the outcome of a replica's step: starts, stops, events, cancellations.
  mutating func perform(
    _ outcome: ReplicaOutcome, because error: ListenError? = nil, _ channel: inout TreeChannel
  ) {
    for request in outcome.starts { start(request, &channel) }
    for request in outcome.stops { stop(request, &channel) }
    if !outcome.written.isEmpty { channel.emit(.pendingChanged(outcome.written)) }
    if !outcome.events.isEmpty { channel.emit(.deliver(outcome.events, to: .shared)) }
    if !outcome.cancelled.isEmpty, let error {
      let listeners = outcome.cancelled.map { ListenerID(tree: .shared, registration: $0) }
      channel.emit(.cancelled(listeners, error))
    }
  }
}

// MARK: - Listens

extension TreeViews {
  private mutating func start(_ request: ListenRequest, _ channel: inout TreeChannel) {
    listens.start(request)
    if channel.isReady { send(request, &channel) }
  }

  private mutating func stop(_ request: ListenRequest, _ channel: inout TreeChannel) {
    guard listens.stop(request) else { return }
    if channel.isReady { sendStop(request, &channel) } else { stopsHeldBack.append(request) }
  }

  private mutating func sendStop(_ request: ListenRequest, _ channel: inout TreeChannel) {
    sendUnlisten(request, &channel)
    replica.stopSent(request)
  }

  private func sendUnlisten(_ request: ListenRequest, _ channel: inout TreeChannel) {
    channel.send(
      .unlisten(request.path, request.query, tag: request.tag.map(Int64.init)),
      about: .unlisten(request))
  }

  private mutating func send(_ request: ListenRequest, _ channel: inout TreeChannel) {
    let known = replica.hash(for: request)
    let listen = TreeListen(
      path: request.path, query: request.query, tag: request.tag.map(Int64.init),
      hash: known.whole, compoundHash: known.ranges)
    let number = channel.send(.listen(listen), about: .listen(request)).number
    listens.sent(request, request: number)
  }

  /// Requests the listens that have waited, and then ends those that are over: a view that is fed
  /// by another listen than before is told of everything in between.
  mutating func sendWaiting(_ channel: inout TreeChannel) {
    // The server tells listens apart by path and query: a stop that came behind a new listen of the
    // same query would end that one, whatever their tags are.
    let wanted = Set(listens.inOrder.map(\.untagged))
    sendStopsAgain(unless: wanted, &channel)
    let stops = exchange(&stopsHeldBack, with: [])
    // What is wanted again is asked for anew.
    for request in stops where wanted.contains(request.untagged) { sendStop(request, &channel) }
    let isOver = stops.filter { !wanted.contains($0.untagged) }
    for request in listens.inOrder where listens.state(of: request) == .waiting {
      send(request, &channel)
    }
    for request in isOver { sendStop(request, &channel) }
  }

  /// The server answered a listen.
  mutating func answered(
    _ number: UInt64, _ request: ListenRequest, rejection: Rejection?, isUnindexed: Bool,
    _ channel: inout TreeChannel
  ) {
    guard listens.answered(number) != nil else { return }
    // What was refused before waits for its pause; the next refusal begins with the shortest.
    pause.succeeded()
    if let rejection {
      revoke(request.path, request.query, rejection, &channel)
    } else {
      if isUnindexed { channel.notice(.missingIndex(at: request.path, for: request.query.order)) }
      perform(replica.completeListen(request, isUnindexed: isUnindexed), &channel)
    }
  }

  /// The server could not serve a listen now, as when its memory is in use or its client asks too
  /// often: it is requested again after a pause. Its listeners stay, with what the cache knows.
  mutating func postpone(
    _ number: UInt64, because detail: String, _ channel: inout TreeChannel
  ) {
    guard listens.postponed(number) else { return }
    rest(because: detail, &channel)
  }

  /// The server could not end a listen now, and may go on to deliver: it is told again after a
  /// pause, unless the listen is wanted again by then.
  mutating func postponeStop(
    _ request: ListenRequest, because detail: String, _ channel: inout TreeChannel
  ) {
    stopsPostponed.append(request)
    rest(because: detail, &channel)
  }

  private mutating func rest(because detail: String, _ channel: inout TreeChannel) {
    channel.notice(.serverSays(detail))
    guard !pause.isActive else { return }
    // The first delay of a schedule is none.
    var delay = pause.begin(unit: channel.ambient.randomUnit())
    if delay == .zero { delay = pause.begin(unit: channel.ambient.randomUnit()) }
    channel.emit(.startTimer(.listens, delay))
  }

  /// The pause is over: requests the listens that wait.
  mutating func resume(_ channel: inout TreeChannel) {
    guard pause.isActive else { return }
    pause.end()
    if channel.isReady { sendWaiting(&channel) }
  }

  /// Ends the listens that the server could not end before. That of a listen which is wanted again
  /// is the new one's: it stays.
  private mutating func sendStopsAgain(
    unless wanted: Set<ListenRequest>, _ channel: inout TreeChannel
  ) {
    for request in exchange(&stopsPostponed, with: []) {
      if wanted.contains(request.untagged) {
        replica.stopAnswered(request)
      } else {
        sendUnlisten(request, &channel)
      }
    }
  }

  /// Ends every listener of a query, with the reason.
  mutating func revoke(
    _ path: TreePath, _ query: TreeQuery, _ rejection: Rejection, _ channel: inout TreeChannel
  ) {
    for target in listens.inOrder where target.path == path && target.query == query {
      _ = listens.stop(target)
    }
    perform(
      replica.revokeListen(at: path, query: query), because: .rejected(rejection), &channel)
  }

  /// The connection is lost: all listens wait for the next one.
  mutating func disconnected() {
    listens.disconnected()
    pause.end()
    stopsHeldBack.removeAll()
    stopsPostponed.removeAll()
  }
}

extension ListenRequest {
  /// The request as a server tells the listens of one client apart.
  fileprivate var untagged: ListenRequest { ListenRequest(path: path, query: query, tag: nil) }
}
