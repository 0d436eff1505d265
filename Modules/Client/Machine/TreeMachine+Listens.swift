package import TernCore
package import TernQuery
import TernSync
package import TernTreeReplica
import TernTreeWire

// Listeners, and the listens they need from the server.

extension TreeMachine {
  /// Registers a listener and owes it what is known already.
  package mutating func listen(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds
  ) -> ListenerID {
    use()
    guard !path.isInfo else {
      let (id, events) = info.listen(at: path, query: query, for: kinds)
      emit(.deliver(events, to: .info))
      return ListenerID(tree: .info, registration: id)
    }
    let (id, outcome) = replica.listen(at: path, query: query, for: kinds)
    perform(outcome)
    return ListenerID(tree: .shared, registration: id)
  }

  /// Ends a listener; it hears nothing any more.
  package mutating func unlisten(_ id: ListenerID) {
    switch id.tree {
    case .shared: perform(replica.unlisten(id.registration))
    case .info: info.unlisten(id.registration)
    }
  }

  /// Keeps a query in sync without a listener, or no longer.
  package mutating func keepSynced(_ isKept: Bool, at path: TreePath, query: TreeQuery) {
    guard !path.isInfo else { return }
    use()
    perform(replica.keepSynced(isKept, at: path, query: query))
  }

  mutating func startListen(_ request: ListenRequest) {
    listens.start(request)
    if isReady { sendListen(request) }
  }

  mutating func stopListen(_ request: ListenRequest) {
    guard listens.stop(request) else { return }
    if isReady { sendStop(request) } else { stopsHeldBack.append(request) }
  }

  private mutating func sendStop(_ request: ListenRequest) {
    _ = send(
      .unlisten(request.path, request.query, tag: request.tag.map(Int64.init)),
      about: .unlisten(request))
    replica.stopSent(request)
  }

  /// Asks for the listens that have waited, and then ends those that are over: a view that is fed
  /// by another listen than before is told of everything in between.
  mutating func sendWaitingListens() {
    let stops = stopsHeldBack
    stopsHeldBack = []
    // What is wanted again is asked for anew.
    for request in stops where listens.state(of: request) != nil { sendStop(request) }
    let isOver = stops.filter { listens.state(of: $0) == nil }
    for request in listens.inOrder where listens.state(of: request) == .waiting {
      sendListen(request)
    }
    for request in isOver { sendStop(request) }
  }

  mutating func sendListen(_ request: ListenRequest) {
    let known = replica.hash(for: request)
    let listen = TreeListen(
      path: request.path, query: request.query, tag: request.tag.map(Int64.init),
      hash: known.whole, compoundHash: known.ranges)
    let number = send(.listen(listen), about: .listen(request))
    listens.sent(request, request: number)
  }

  /// The server answered a listen.
  mutating func listenAnswered(
    _ number: UInt64, _ request: ListenRequest, rejection: Rejection?, isUnindexed: Bool
  ) {
    guard listens.answered(number) != nil else { return }
    if let rejection {
      revoke(request.path, request.query, rejection)
    } else {
      if isUnindexed { notice(.missingIndex(at: request.path, for: request.query.order)) }
      perform(replica.completeListen(request, isUnindexed: isUnindexed))
    }
  }

  /// Ends every listener of a query, with the reason.
  mutating func revoke(_ path: TreePath, _ query: TreeQuery, _ rejection: Rejection) {
    for target in listens.inOrder where target.path == path && target.query == query {
      _ = listens.stop(target)
    }
    perform(replica.revokeListen(at: path, query: query), because: .rejected(rejection))
  }
}
