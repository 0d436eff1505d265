import TernLedger
import TernPresence
import TernSync
import TernTransport

/// The part of a server that passes on what is about databases of other shards, to the nodes that
/// lead those. Lives and is used on the server's executor only.
///
/// Frames pass as they are in both directions: the node there judges the client's own credential
/// and keeps its session. A client of the tree has one database, and its whole link belongs to one
/// shard; each call about documents names its own. Source: Docs/Decisions/0069-several-shards.md.
///
/// A client may use several shards; it has one *upstream* for each. An upstream looks for the
/// leader of its shard, opens a link in the client's name, and passes frames. When the link is
/// lost, calls about documents end with `unavailable`, and a client of the tree has to connect
/// again.
final class ShardRouter {
  let directory: any ShardDirectory
  let leaders: ShardLeaders
  let links: any LeaderLinks
  /// By shard.
  var direct: [UInt32: DirectForwarder] = [:]
  /// Readings of large data.
  let exports = RemoteExports()
  /// The requests without a session whose leader is being looked for.
  var lookups = 0
  /// By slot.
  private var sharded: [Int: ShardedLink] = [:]
  /// The links to other nodes that are open or about to be, by the address of the client.
  private var shares = ConnectionShares()

  /// The most links to nodes of other shards: fewer than a node has to all nodes, so that its own
  /// shard has a part of them.
  static let mostLinks = 6_144

  /// The time, in milliseconds, for which a client waits for the node of another shard: a takeover.
  static let patience: Int64 = 8_000
  /// The pause before something is tried again.
  static let retryPause = Duration.milliseconds(100)

  init(_ directory: any ShardDirectory, _ links: any LeaderLinks) {
    self.directory = directory
    self.links = links
    leaders = ShardLeaders(directory)
  }

  /// Takes a frame of a client.
  func receive(_ frame: [UInt8], of state: LinkState, at server: isolated TernServer) {
    let link = link(of: state)
    for routed in link.route(frame, by: directory) {
      switch routed.place {
      case .here: server.part.receiveHere(routed.frame, of: state, at: server)
      case .node(let shard): pass(routed.frame, to: shard, of: state, link, at: server)
      case .refused:
        let text = "a frame that does not say first what it is about"
        return server.close(state, .malformedFrame(text))
      }
      if state.reason != nil { return }
    }
  }

  private func link(of state: LinkState) -> ShardedLink {
    if let known = sharded[state.slot], known.number == state.number { return known }
    let link = ShardedLink(number: state.number)
    sharded[state.slot] = link
    return link
  }

  /// Passes a frame to the node that leads a shard.
  ///
  /// A link that comes from another node is never passed on: two nodes with different tables would
  /// pass it back and forth.
  private func pass(
    _ frame: [UInt8], to shard: UInt32, of state: LinkState, _ link: ShardedLink,
    at server: isolated TernServer
  ) {
    _ = state.arrivals.next()
    // The session here does not see it.
    server.batches.machine.sessions[state.slot]?.lastHeard = server.uptime()
    let upstream = link.upstreams[shard] ?? ShardUpstream()
    link.upstreams[shard] = upstream
    upstream.unsentBytes += frame.count
    if state.link.isOfOtherShard {
      // The other node believes that the database belongs here; passed on, it could go in circles.
      return lose(shard, Self.elsewhere(shard), state, link, at: server)
    }
    if let carrier = upstream.carrier {
      carrier.send(frame)
      carrier.flush()
    } else {
      upstream.early.append(frame)
      upstream.earlyBytes += frame.count
    }
    seek(shard, state, link, at: server)
    settle(upstream, state, at: server)
  }

  static func elsewhere(_ shard: UInt32) -> String {
    "the database belongs to shard \(shard), by the table of this node"
  }

  /// Forgets the link of a client that has ended.
  func forget(_ slot: Int) {
    guard let link = sharded.removeValue(forKey: slot) else { return }
    for upstream in link.upstreams.values { letGo(upstream) }
  }

  private func letGo(_ upstream: ShardUpstream) {
    if exchange(&upstream.link, with: nil) != nil { shares.leave(upstream.address) }
    exchange(&upstream.carrier, with: nil)?.close()
  }

  /// The client has taken most of what it was sent.
  func drained(_ slot: Int) {
    guard let link = sharded[slot] else { return }
    for upstream in link.upstreams.values { upstream.setReading(true) }
  }

  /// Tells the other nodes of clients that are there, and looks whether they still lead.
  ///
  /// Also closes upstreams that the client does not use any more.
  func tick(at server: isolated TernServer) {
    exports.endSilent()
    var used: Set<UInt32> = []
    for (slot, link) in sharded.sorted(by: { $0.key < $1.key }) {
      guard let state = server.links[slot] else { continue }
      let isHeard = server.uptime() - state.lastHeard < server.options.presence.silence.milliseconds
      for (shard, upstream) in link.upstreams {
        if !link.uses(shard), upstream.unsentBytes == 0 {
          letGo(upstream)
          link.upstreams[shard] = nil
          continue
        }
        used.insert(shard)
        if isHeard, let carrier = upstream.carrier {
          guard upstream.presence.ping(at: server.uptime()) else {
            carrier.abort()
            upstream.link?.pass(.ended("it does not answer"))
            continue
          }
          upstream.ping(link.keepAlive)
        }
        upstream.carrier?.flush()
        settle(upstream, state, at: server)
      }
    }
    for shard in used.sorted() {
      leaders.find(shard, at: server) { server, leader in
        guard case .success(let address) = leader else { return }
        server.part.shards?.note(address, leads: shard)
      }
    }
  }

  /// Ends the links to a node that does not lead its shard any more: one that hangs tells nothing.
  private func note(_ address: String, leads shard: UInt32) {
    for link in sharded.values {
      guard let known = link.upstreams[shard]?.link, known.address != address else { continue }
      known.pass(.ended("another node leads"))
    }
  }

  /// Ends all links to other nodes: the server stops.
  func end(at server: isolated TernServer) {
    exports.endAll()
    for forwarder in direct.values { forwarder.stop() }
    for link in sharded.values {
      for upstream in link.upstreams.values { letGo(upstream) }
    }
    sharded = [:]
    leaders.end(at: server)
  }
}

// MARK: - To another shard

extension ShardRouter {
  /// Opens a link to the node that leads a shard, unless one is open or about to be.
  private func seek(
    _ shard: UInt32, _ state: LinkState, _ link: ShardedLink, at server: isolated TernServer
  ) {
    guard let upstream = link.upstreams[shard], upstream.link == nil, !upstream.isSeekPending
    else { return }
    if upstream.seeking == nil { upstream.seeking = server.uptime() }
    upstream.isSeekPending = true
    let (slot, number) = (state.slot, state.number)
    leaders.find(shard, at: server) { server, leader in
      server.part.shards?.found(leader, of: shard, slot, number, at: server)
    }
  }

  private func found(
    _ leader: Result<String, ShardLeaders.Missing>, of shard: UInt32, _ slot: Int, _ number: Int,
    at server: isolated TernServer
  ) {
    guard let (state, link, upstream) = place(shard, slot, number, at: server) else { return }
    upstream.isSeekPending = false
    switch leader {
    case .success(let address):
      guard shares.enter(state.address, limit: Self.mostLinks) else {
        let text = "\(shares.count) clients use other shards already"
        return lose(shard, text, state, link, at: server)
      }
      upstream.address = state.address
      let leaderLink = LeaderLink(to: address, ofShard: shard, for: state, of: server)
      upstream.link = leaderLink
      leaderLink.open(over: links, for: state.link.peer)
    case .failure(let missing): seekLater(shard, missing.reason, state, link, at: server)
    }
  }

  private func seekLater(
    _ shard: UInt32, _ reason: String, _ state: LinkState, _ link: ShardedLink,
    at server: isolated TernServer
  ) {
    guard let upstream = link.upstreams[shard] else { return }
    guard let since = upstream.seeking, server.uptime() - since < Self.patience else {
      let text = "the node of the database is out of reach (\(reason))"
      return lose(shard, text, state, link, at: server)
    }
    let (slot, number) = (state.slot, state.number)
    upstream.isSeekPending = true
    Task { [clock = server.ambient.clock] in
      try? await clock.sleep(for: Self.retryPause)
      Self.seekAgain(shard, slot, number, at: server)
    }
  }

  private static func seekAgain(
    _ shard: UInt32, _ slot: Int, _ number: Int, at server: isolated TernServer
  ) {
    guard let router = server.part.shards,
      let (state, link, upstream) = router.place(shard, slot, number, at: server)
    else { return }
    upstream.isSeekPending = false
    router.seek(shard, state, link, at: server)
  }

  private func place(
    _ shard: UInt32, _ slot: Int, _ number: Int, at server: isolated TernServer
  ) -> (LinkState, ShardedLink, ShardUpstream)? {
    guard let state = server.links[slot], state.number == number, let link = sharded[slot],
      link.number == number, let upstream = link.upstreams[shard]
    else { return nil }
    return (state, link, upstream)
  }

  /// Counts out what the link has taken, and reads from the client no faster than that.
  private func settle(
    _ upstream: ShardUpstream, _ state: LinkState, at server: isolated TernServer
  ) {
    let left = min(
      upstream.unsentBytes, upstream.earlyBytes + (upstream.carrier?.queuedBytes ?? 0))
    if left < upstream.unsentBytes {
      server.memory.release(upstream.unsentBytes - left, of: state)
      upstream.unsentBytes = left
    }
    if left > LinkPressure.highBytes { state.pause() }
  }
}

// MARK: - From another shard

extension ShardRouter {
  /// Takes what happened at a link to the node that leads another shard.
  func take(_ event: LeaderLink.Event, of leaderLink: LeaderLink, at server: isolated TernServer) {
    guard let shard = leaderLink.shard,
      let (state, link, upstream) = place(shard, leaderLink.slot, leaderLink.number, at: server),
      upstream.link === leaderLink
    else {
      if case .opened(let carrier) = event { carrier.close() }
      return
    }
    switch event {
    case .opened(let carrier):
      upstream.carrier = carrier
      upstream.seeking = nil
      carrier.send(contentsOf: exchange(&upstream.early, with: []))
      carrier.flush()
      upstream.earlyBytes = 0
      settle(upstream, state, at: server)
    case .received(let frames):
      upstream.presence.noteHeard()
      let frames = frames.filter { !upstream.takesPong($0) && link.receives($0, from: shard) }
      if frames.isEmpty { return }
      server.perform(frames.map { .send(slot: state.slot, $0) })
      if state.link.queuedBytes > LinkPressure.highBytes { upstream.setReading(false) }
    case .drained: settle(upstream, state, at: server)
    case .ended(let reason):
      leaders.doubt(leaderLink.address, of: shard, at: server.uptime())
      upstream.link = nil
      shares.leave(upstream.address)
      guard let carrier = exchange(&upstream.carrier, with: nil) else {
        return seekLater(shard, reason, state, link, at: server)
      }
      carrier.close()
      lose(shard, "the connection to the node of the database ended", state, link, at: server)
    }
  }

  /// The node that leads a shard is lost, and with it whatever it had to do for the client.
  ///
  /// Frees the memory that waiting frames were charged with.
  private func lose(
    _ shard: UInt32, _ reason: String, _ state: LinkState, _ link: ShardedLink,
    at server: isolated TernServer
  ) {
    if let upstream = link.upstreams.removeValue(forKey: shard) {
      letGo(upstream)
      server.memory.release(upstream.unsentBytes, of: state)
    }
    guard let frames = link.lose(shard, "\(reason). Try again.") else {
      return server.close(state, .serverStopped("\(reason); connect again"))
    }
    server.perform(frames.map { .send(slot: state.slot, $0) })
  }
}
