package import TernLedger

/// The service of clients at a server.
package enum ServerService: Hashable, Sendable {
  /// None: it stands by.
  case none
  /// From the node's copy, while another node leads.
  case asFollower
  /// By itself, as the one server or as the leader of several.
  case asLeader
}

/// The part that a server's node plays in a cluster. Lives and is used on the server's executor
/// only.
///
/// Invariants: `forwarder` is set only together with `copy`. `shards` is independent of both: it
/// looks at a frame first, and hands what belongs here to the forwarder or the machine.
final class ServerPart {
  /// The ledger whose copy is served from while another node leads; `nil` at other times.
  private(set) var copy: (any FollowedLedger)?
  /// Passes on what clients want changed while another node leads.
  private(set) var forwarder: Forwarder?
  /// Opens links to the node that leads; `nil` at a server that serves while its node leads, and at
  /// no other time.
  var links: (any LeaderLinks)?
  /// Passes on what is about databases of other shards; `nil` where there is one shard.
  var shards: ShardRouter?
  /// Answers other nodes with large data.
  let exports = DirectExports()
  /// Follows the changes of the node that leads.
  private var watching: Task<Void, Never>?
  /// True while the machine is made anew.
  var isMachineTaken = false

  /// Serves from a copy from now on.
  func begin(_ copy: any FollowedLedger, at server: TernServer) {
    end()
    self.copy = copy
    forwarder = links.map { Forwarder(copy, $0, DirectForwarder(for: server), server.budget) }
  }

  /// Calls `change` whenever another node may lead, until the ledger is over.
  func watch(_ ledger: any FollowedLedger, _ change: @escaping @Sendable () async -> Void) {
    watching = Task {
      var known = ledger.standing
      while let next = await ledger.changeOfLeader(after: known) {
        known = next
        await change()
      }
    }
  }

  /// The server stops.
  func stop(at server: isolated TernServer) {
    watching?.cancel()
    end()
    shards?.end(at: server)
  }

  /// Serves from no copy any more.
  func end() {
    copy = nil
    exchange(&forwarder, with: nil)?.end()
  }
}

extension ServerPart {
  /// Lets a frame be decided here, or where it belongs.
  func receive(_ frame: [UInt8], of state: LinkState, at server: isolated TernServer) {
    if let shards {
      shards.receive(frame, of: state, at: server)
    } else {
      receiveHere(frame, of: state, at: server)
    }
  }

  /// Lets a frame about this node's shard be decided here, or at the node that leads.
  func receiveHere(_ frame: [UInt8], of state: LinkState, at server: isolated TernServer) {
    if let forwarder {
      forwarder.receive(frame, of: state, at: server)
    } else {
      server.enqueue(.frame(slot: state.slot, frame), of: state)
    }
  }

  /// Lets a request without a session be decided here, or where it belongs.
  func ask(
    _ request: DirectRequest, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    let request = RevocationMoments.resolve(request, at: server)
    if let shards {
      shards.ask(request, at: server, answer)
    } else {
      askHere(request, at: server, answer)
    }
  }

  /// The refusal of a request while the server serves no clients. A node that stands by judges no
  /// credential, and the address of the one that leads may be an internal one, so it names that to
  /// no client.
  func refusal(
    of request: DirectRequest, at server: isolated TernServer
  ) -> DirectRefusal? {
    guard let refusal = server.refusal else { return nil }
    let isForOperator = server.end == nil && request.operation.isForAdministrators
    let hint = isForOperator ? " (`tern cluster status` names it)" : ""
    return .unavailable(refusal.description + hint)
  }

  /// Lets a request about this node's shard be decided here, or at the node that leads.
  func askHere(
    _ request: DirectRequest, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if let forwarder, forwarder.takes(request, at: server, answer) { return }
    server.decide(request, answer)
  }

  /// Goes on with what waits for commits of other nodes that clients have just been told of.
  func noteFollowed(_ inputs: [ServerInput], at server: isolated TernServer) {
    guard let forwarder else { return }
    for input in inputs {
      guard let last = input.followed?.batches.last else { continue }
      forwarder.note(last.batch.versionAfter, at: server)
    }
  }

  /// Forgets the link of a client that has ended.
  func forget(_ slot: Int) {
    exports.forget(slot)
    forwarder?.forget(slot)
    shards?.forget(slot)
  }

  /// A client has taken most of what it was sent.
  func drained(_ slot: Int, at server: isolated TernServer) {
    exports.drained(slot)
    forwarder?.drained(slot)
    shards?.drained(slot)
  }

  /// Tells other nodes of the clients that are there, and the operator of a node in trouble.
  func tick(at server: isolated TernServer) {
    if let trouble = server.leasedLedger?.standing.trouble { server.report(.hindered(trouble)) }
    exports.tick(at: server)
    forwarder?.tick(at: server)
    shards?.tick(at: server)
  }
}

extension TernServer {
  /// Lets the server serve clients while another node leads, too: reads and listens from the node's
  /// copy, while what changes anything goes to the leader.
  package func serveWhileFollowing(over links: any LeaderLinks) {
    guard let ledger = ledger as? any FollowedLedger, part.links == nil else { return }
    part.links = links
    ledger.follow(with: ServerFollower(self, ledger))
    part.watch(ledger) { [weak self] in await self?.noteLeader() }
  }

  /// Lets the server pass on what is about databases of other shards.
  package func serveShards(
    by directory: any ShardDirectory, over links: any LeaderLinks
  ) {
    guard part.shards == nil, options.plantedFault != .decidesForOtherShards else { return }
    part.shards = ShardRouter(directory, links)
    places.use(directory)
  }

  private func noteLeader() { part.forwarder?.noteLeader(at: self) }
}
