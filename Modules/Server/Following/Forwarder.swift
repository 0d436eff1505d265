import TernLedger
import TernPresence
import TernSync
import TernTransport

/// The part of a server that follows: reads and listens are served here, and what changes anything
/// is passed on to the node that leads. Lives and is used on the server's executor only.
///
/// An answer of the leader waits until the copy holds all that the log held when it came: so a
/// client finds what it was told here, too. The first frame of a link, and each call about
/// documents, waits likewise, so that no client sees an older state than it saw at another node.
/// Source: Docs/Decisions/0068-followers-that-serve.md.
///
/// A client's link has at most one to the leader. That opens when it is first needed, and closes
/// with the client's link, with a change of the leader, or unused for ``ForwardedLink/idleTime``.
final class Forwarder {
  let ledger: any FollowedLedger
  let links: any LeaderLinks
  let direct: DirectForwarder
  private let budget: MemoryBudget
  /// By slot.
  private(set) var forwarded: [Int: ForwardedLink] = [:]
  /// The slots with something that waits for the copy.
  var waiting: Set<Int> = []
  /// The waits of all clients for the copy.
  let waits: CopyWaits
  /// The success of the links to the leader.
  var reach = LeaderReach()
  /// The version up to which listeners of this node have been told of the leader's commits, since
  /// it began to follow.
  var followedVersion: Version = 0

  /// The time, in milliseconds, for which a client waits for the leader or the log: a takeover.
  static let patience: Int64 = 8_000
  /// The pause before something is tried again.
  static let retryPause = Duration.milliseconds(100)

  init(
    _ ledger: any FollowedLedger, _ links: any LeaderLinks, _ direct: DirectForwarder,
    _ budget: MemoryBudget
  ) {
    self.ledger = ledger
    waits = CopyWaits(for: ledger)
    self.links = links
    self.direct = direct
    self.budget = budget
  }

  /// Takes a frame of a client.
  func receive(_ frame: [UInt8], of state: LinkState, at server: isolated TernServer) {
    let link = link(of: state)
    if link.isEnding {
      link.backlog.append(frame)
      return
    }
    noteClient(state, link, at: server)
    let fault = server.options.plantedFault
    for routed in link.routes.route(frame) {
      switch routed.route {
      case .atOnce: server.enqueue(.frame(slot: state.slot, routed.frame), of: state)
      case .behindLog:
        link.hold(routed.frame, until: fault == .servesOldCopy ? 0 : waits.request(at: server))
      case .behindWrites:
        link.hold(routed.frame, until: currentCatchUp(at: server), isRead: true)
      case .leader:
        _ = state.arrivals.next()
        // The session here does not see it.
        server.batches.machine.sessions[state.slot]?.lastHeard = server.uptime()
        send(routed.frame, of: state, link, at: server)
      case .refused:
        let text = "a frame that does not say first what it is about"
        return server.close(state, .malformedFrame(text))
      case .both:
        link.hold(routed.frame, until: 0)
        if fault == .keepsFormerUser { continue }
        if link.leaderLink == nil, link.early.isEmpty { continue }
        // A second copy of it: the first one is counted until it is decided.
        state.waitingBytes += routed.frame.count
        budget.count(routed.frame.count, .waiting, to: state.address, user: state.user)
        send(routed.frame, of: state, link, at: server)
      }
    }
    if link.routes.hasPredecessor, link.routes.sent == 0, link.leaderLink == nil, !link.isGreeted {
      // What its session before has left is the leader's to do, before anything else.
      link.isGreeted = true
      link.begin(with: beginning(of: link, state, at: server))
      seek(state, link, at: server)
    }
    release(state, link, at: server)
  }

  private func link(of state: LinkState) -> ForwardedLink {
    if let known = forwarded[state.slot], known.number == state.number { return known }
    let link = ForwardedLink(number: state.number)
    forwarded[state.slot] = link
    return link
  }

  /// Forgets the link of a client that has ended.
  func forget(_ slot: Int) {
    waiting.remove(slot)
    guard let link = forwarded.removeValue(forKey: slot) else { return }
    link.release(from: budget)
    link.carrier?.close()
  }

  /// The client has taken most of what it was sent.
  func drained(_ slot: Int) {
    if let link = forwarded[slot], link.arrivalBytes == 0 { link.setReading(true) }
  }

  /// Ends the links to a node that does not lead any more, and opens those that wait for the one
  /// that does.
  func noteLeader(at server: isolated TernServer) {
    let leader = ledger.standing.leader
    for (slot, link) in forwarded.sorted(by: { $0.value.number < $1.value.number }) {
      if let old = link.leaderLink {
        // Without a leader, the node that led ends its links itself, behind its last answers.
        guard let leader, old.address != leader else { continue }
        link.isHandedOver = true
        old.pass(.ended("another node leads"))
      } else if leader != nil, link.isSeekPending {
        Self.seekAgain(slot, link.number, link.sleeper, at: server)
      }
    }
  }

  /// Tells the leader of clients that are there, and ends links that are of no use any more.
  func tick(at server: isolated TernServer) {
    for (slot, link) in forwarded.sorted(by: { $0.key < $1.key }) {
      link.closeIfUnused(at: server.uptime())
      guard let carrier = link.carrier, let state = server.links[slot],
        server.uptime() - state.lastHeard < server.options.presence.silence.milliseconds
      else { continue }
      guard link.presence.ping(at: server.uptime()) else {
        // Not closed: its last bytes would wait to be taken.
        carrier.abort()
        link.leaderLink?.pass(.ended("it does not answer"))
        continue
      }
      carrier.send(link.routes.keepAlive)
      carrier.flush()
      settle(state, link, at: server)
    }
    noteLeader(at: server)
  }

  /// Ends all links to the leader: the server serves no clients from the copy any more.
  func end() {
    direct.stop()
    for link in forwarded.values {
      link.release(from: budget)
      link.carrier?.close()
    }
    forwarded = [:]
    waits.end()
  }
}

// MARK: - To the leader

extension Forwarder {
  private func send(
    _ frame: [UInt8], of state: LinkState, _ link: ForwardedLink, at server: isolated TernServer
  ) {
    link.unsentBytes += frame.count
    link.presence.used = server.uptime()
    // The credential as of now, which may be another one when the link is open.
    if link.leaderLink == nil, link.early.isEmpty {
      link.begin(with: beginning(of: link, state, at: server))
    }
    link.append(frame)
    seek(state, link, at: server)
    link.flush()
    settle(state, link, at: server)
  }

  func beginning(
    of link: ForwardedLink, _ state: LinkState, at server: isolated TernServer
  ) -> [[UInt8]] {
    let session = server.batches.machine.sessions[state.slot]
    return link.routes.beginning(session.map { SessionID.text($0.id) })
  }

  /// Opens a link to the leader, unless one is open or about to be.
  private func seek(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    guard link.leaderLink == nil, !link.isSeekPending, !link.early.isEmpty else { return }
    if link.seeking == nil { link.seeking = server.uptime() }
    guard let leader = ledger.standing.leader,
      !link.isResting(from: leader, at: server.uptime(), pause: Self.retryPause)
    else { return seekLater(state, link, link.lossReason ?? "no node leads", at: server) }
    let leaderLink = LeaderLink(to: leader, for: state, of: server)
    (link.leaderLink, link.presence.isNodeHeard) = (leaderLink, false)
    leaderLink.open(over: links, for: state.link.peer)
  }

  private func seekLater(
    _ state: LinkState, _ link: ForwardedLink, _ reason: String, at server: isolated TernServer
  ) {
    guard let since = link.seeking, server.uptime() - since < Self.patience else {
      return lose(state, link, reason, at: server)
    }
    let (slot, number, sleeper) = (state.slot, state.number, link.sleeper)
    let pause = link.nextPause(atLeast: Self.retryPause)
    link.isSeekPending = true
    Task { [clock = server.ambient.clock] in
      try? await clock.sleep(for: pause)
      Self.seekAgain(slot, number, sleeper, at: server)
    }
  }

  private static func seekAgain(
    _ slot: Int, _ number: Int, _ sleeper: Int, at server: isolated TernServer
  ) {
    guard let forwarder = server.part.forwarder, let state = server.links[slot],
      let link = forwarder.forwarded[slot], state.number == number, link.number == number
    else { return }
    // One that was woken by a change of the leader sleeps on for nothing.
    guard link.sleeper == sleeper else { return }
    link.sleeper += 1
    link.isSeekPending = false
    forwarder.seek(state, link, at: server)
  }

  /// Counts out what the leader's link has taken, and reads from the client no faster than that.
  private func settle(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    let left = min(link.unsentBytes, link.earlyBytes + (link.carrier?.queuedBytes ?? 0))
    if left < link.unsentBytes {
      server.memory.release(link.unsentBytes - left, of: state)
      link.unsentBytes = left
    }
    if left > LinkPressure.highBytes { state.pause() }
  }
}

// MARK: - From the leader

extension Forwarder {
  /// Takes what happened at a link to the leader.
  func take(_ event: LeaderLink.Event, of leaderLink: LeaderLink, at server: isolated TernServer) {
    let (slot, number) = (leaderLink.slot, leaderLink.number)
    guard let state = server.links[slot], let link = forwarded[slot], state.number == number,
      link.number == number, link.leaderLink === leaderLink
    else {
      if case .opened(let carrier) = event { carrier.close() }
      return
    }
    switch event {
    case .opened(let carrier):
      link.carrier = carrier
      link.presence.noteOpened()
      link.flush()
      settle(state, link, at: server)
    case .received(let frames):
      link.presence.noteHeard()
      reach.noteSuccess()
      noteRejected(state, link, at: server)
      let frames = frames.filter { frame in
        // One behind the end of the credential is of the user that is over.
        !link.routes.isPong(frame) && link.credentialEnd == nil
          && !takesAtOnce(frame, state, link, at: server)
      }
      var isReady = false
      if !frames.isEmpty {
        isReady = link.add(frames, after: followedVersion) { isSpared in
          let isEarly = server.options.plantedFault == .answersBeforeCatchingUp
          return isEarly ? 0 : waits.request(isSpared: isSpared, at: server)
        }
        count(frames.reduce(0) { $0 + $1.count }, of: link, state, at: server)
        waiting.insert(slot)
      }
      let isOver = addCredentialEnd(to: link)
      if isReady || isOver { release(state, link, at: server) }
    case .drained: settle(state, link, at: server)
    case .ended(let reason): end(leaderLink, reason, state, link, at: server)
    }
  }

  /// A link to the leader has ended, or could not be opened. One over which nothing was passed on
  /// is opened again, to whichever node leads then.
  private func end(
    _ leaderLink: LeaderLink, _ reason: String, _ state: LinkState, _ link: ForwardedLink,
    at server: isolated TernServer
  ) {
    link.leaderLink = nil
    let carrier = exchange(&link.carrier, with: nil)
    carrier?.close()
    noteLoss(of: link, to: leaderLink.address, reason, at: server.uptime())
    if carrier == nil || link.beginAgain() {
      link.isHandedOver = false
      return seek(state, link, at: server)
    }
    link.isEnding = true
    link.arrivals.append(ForwardedLink.Arrival(frame: nil, catchUp: 0))
    release(state, link, at: server)
  }

  /// Takes an answer for which what is to be sent waits, and which tells the client nothing.
  private func takesAtOnce(
    _ frame: [UInt8], _ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer
  ) -> Bool {
    guard link.isBlocked, link.routes.answersBlocking(frame) else { return false }
    switch link.routes.receive(frame) {
    case .goOn:
      link.isBlocked = false
      link.flush()
      // Nothing more to pass on: the search for the leader is over.
      if link.early.isEmpty { link.seeking = nil }
      settle(state, link, at: server)
      link.closeIfUnused()
    case .openAgain:
      if link.presence.ask() { openAgain(link, state, at: server) }
    case .credentialEnded(let status, let text):
      link.credentialEnd = ForwardedLink.CredentialEnd(status: status, text: text)
    case .end:
      link.isRejected = true
      link.carrier?.close()
    case .handOver: handOver(link)
    case .forClient, .ignored: break
    }
    return true
  }

  /// Counts what came from the leader and waits; more of it is read once the client has it.
  private func count(
    _ bytes: Int, of link: ForwardedLink, _ state: LinkState, at server: isolated TernServer
  ) {
    link.arrivalBytes += bytes
    link.address = state.address
    budget.count(bytes, .output, to: state.address)
    if link.arrivalBytes > LinkPressure.highBytes { link.setReading(false) }
  }

  /// The leader is lost, and with it whatever it had to do for the client.
  private func lose(
    _ state: LinkState, _ link: ForwardedLink, _ reason: String, at server: isolated TernServer
  ) {
    link.seeking = nil
    (link.isEnding, link.isBlocked) = (false, false)
    let isHandedOver = exchange(&link.isHandedOver, with: false)
    server.memory.release(exchange(&link.unsentBytes, with: 0), of: state)
    link.begin(with: [])
    let goesOn = server.options.plantedFault == .keepsSessionsWithoutLeader
    guard let frames = link.routes.loseLeader() ?? (goesOn ? [] : nil) else {
      let text = "the node that leads is out of reach (\(reason)); connect again"
      return close(state, .serverStopped(text), returning: isHandedOver, at: server)
    }
    server.perform(frames.map { .send(slot: state.slot, $0) })
    for frame in exchange(&link.backlog, with: []) { receive(frame, of: state, at: server) }
  }

  /// Ends a client's session, which it may begin again at once where another node leads now: that
  /// happens once for each change of the leader.
  private func close(
    _ state: LinkState, _ reason: SessionEnd, returning: Bool, at server: isolated TernServer
  ) {
    if returning {
      let sessions = server.batches.machine.sessions
      server.perform(sessions.farewells(reason, to: state.slot, returning: true))
    }
    server.close(state, reason)
  }

  /// Sends the client what need not wait any longer, and deals with what it asked for behind that.
  func release(
    _ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer
  ) {
    var outputs: [ServerOutput] = []
    let count = link.readyArrivals(after: waits.caughtUp, followedVersion)
    let ready = link.arrivals.prefix(count)
    link.arrivals.removeFirst(count)
    let isRead = !ready.isEmpty && link.arrivals.isEmpty
    if isRead { link.release(from: budget) }
    for arrival in ready {
      guard let frame = arrival.frame else {
        // It has what was answered before.
        server.perform(exchange(&outputs, with: []))
        if let end = arrival.credentialEnd { return endCredential(end, of: state, at: server) }
        lose(state, link, "the connection to it ended", at: server)
        continue
      }
      switch link.routes.receive(frame) {
      case .forClient: outputs.append(.send(slot: state.slot, frame))
      case .ignored, .goOn, .openAgain: break
      case .credentialEnded(let status, let text):
        server.perform(exchange(&outputs, with: []))
        let end = ForwardedLink.CredentialEnd(status: status, text: text)
        return endCredential(end, of: state, at: server)
      case .end: link.carrier?.close()
      case .handOver: handOver(link)
      }
    }
    if !outputs.isEmpty { server.perform(outputs) }
    if isRead { link.setReading(state.link.queuedBytes <= LinkPressure.highBytes) }
    let frames = link.takeReady(after: waits.caughtUp, isUnreached: waits.isFailing)
    for frame in frames { server.enqueue(.frame(slot: state.slot, frame), of: state) }
    if !frames.isEmpty { server.drainSoon() }
    if link.isIdle { waiting.remove(state.slot) } else { waiting.insert(state.slot) }
  }
}
