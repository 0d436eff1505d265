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
final class Forwarder {
  private let ledger: any FollowedLedger
  private let links: any LeaderLinks
  private let direct: DirectForwarder
  private let budget: MemoryBudget
  /// By slot.
  private var forwarded: [Int: ForwardedLink] = [:]
  /// The slots with something that waits for the copy.
  private var waiting: Set<Int> = []
  /// Requests without a session that wait for the copy.
  private var actions: [(catchUp: UInt64, action: @Sendable () -> Void)] = []
  /// The number of the catch-up that was begun last, of the one that is wanted, and of the one that
  /// is over.
  private var (begun, wanted, done): (UInt64, UInt64, UInt64) = (0, 0, 0)
  private var isCatchingUp = false
  /// The uptime, in milliseconds, since which no catch-up has worked.
  private var failingSince: Int64?
  private var isEnded = false

  /// The time, in milliseconds, for which a client waits for the leader or the log: a takeover.
  static let patience: Int64 = 8_000
  /// The pause before something is tried again.
  static let retryPause = Duration.milliseconds(100)

  init(
    _ ledger: any FollowedLedger, _ links: any LeaderLinks, _ direct: DirectForwarder,
    _ budget: MemoryBudget
  ) {
    self.ledger = ledger
    self.links = links
    self.direct = direct
    self.budget = budget
  }

  /// The number of links to the leader.
  var leaderLinkCount: Int { forwarded.values.count { $0.leaderLink != nil } }

  /// Takes a frame of a client.
  func receive(_ frame: [UInt8], of state: LinkState, at server: isolated TernServer) {
    let link = link(of: state)
    for routed in link.routes.route(frame) {
      switch routed.route {
      case .atOnce: server.enqueue(.frame(slot: state.slot, routed.frame), of: state)
      case .behindLog: link.hold(routed.frame, until: next())
      case .behindWrites: link.hold(routed.frame, until: 0)
      case .leader:
        _ = state.arrivals.next()
        send(routed.frame, of: state, link, at: server)
      case .refused:
        let text = "a large frame has to name its request before its data"
        return server.close(state, .malformedFrame(text))
      case .both:
        link.hold(routed.frame, until: 0)
        if link.leaderLink == nil, link.early.isEmpty { continue }
        // A second copy of it: the first one is counted until it is decided.
        state.waitingBytes += routed.frame.count
        server.budget.count(
          routed.frame.count, .waiting, to: state.address, user: state.user)
        send(routed.frame, of: state, link, at: server)
      }
    }
    release(state, link, at: server)
    catchUp(at: server)
  }

  private func link(of state: LinkState) -> ForwardedLink {
    if let known = forwarded[state.slot], known.number == state.number { return known }
    let link = ForwardedLink(number: state.number)
    forwarded[state.slot] = link
    return link
  }

  /// The catch-up that begins next.
  private func next() -> UInt64 {
    wanted = begun + 1
    return wanted
  }

  /// Passes a request without a session on to the leader, or lets it be answered here once the copy
  /// holds all that the log holds now.
  ///
  /// - Returns: False when it is to be answered here at once.
  func takes(
    _ request: DirectRequest, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) -> Bool {
    if request.isOperator { return false }
    guard request.operation.isForLeader else {
      guard request.operation.readsForClient else { return false }
      afterCatchUp(at: server) { server.assumeIsolated { $0.decide(request, answer) } }
      return true
    }
    guard let leader = ledger.standing.leader else {
      answer(.refused(.unavailable("No node leads. Try again.")))
      return true
    }
    direct.forward(request, to: leader, over: links) { result in
      server.assumeIsolated { server in
        guard let forwarder = server.part.forwarder else { return answer(result) }
        forwarder.afterCatchUp(at: server) { answer(result) }
      }
    }
    return true
  }

  /// Calls `action` when the copy holds all that the log holds now, or is not served from any more.
  private func afterCatchUp(
    at server: isolated TernServer, _ action: @escaping @Sendable () -> Void
  ) {
    actions.append((next(), action))
    catchUp(at: server)
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
    if let link = forwarded[slot], link.arrivalBytes == 0 { link.carrier?.setReading(true) }
  }

  /// Ends the links to a node that does not lead any more.
  func noteLeader(at server: isolated TernServer) {
    let leader = ledger.standing.leader
    for link in forwarded.values.sorted(by: { $0.number < $1.number }) {
      guard let old = link.leaderLink, old.address != leader else { continue }
      old.pass(.ended("another node leads"))
    }
  }

  /// Tells the leader of clients that are there.
  func tick(at server: isolated TernServer) {
    for (slot, link) in forwarded.sorted(by: { $0.key < $1.key }) {
      guard let carrier = link.carrier, let state = server.links[slot],
        server.uptime() - state.lastHeard < server.options.presence.silence.milliseconds
      else { continue }
      carrier.send(link.routes.keepAlive)
      carrier.flush()
    }
    noteLeader(at: server)
  }

  /// Ends all links to the leader: the server serves no clients from the copy any more.
  func end() {
    isEnded = true
    direct.stop()
    for link in forwarded.values {
      link.release(from: budget)
      link.carrier?.close()
    }
    forwarded = [:]
    for (_, action) in exchange(&actions, with: []) { action() }
  }
}

// MARK: - To the leader

extension Forwarder {
  private func send(
    _ frame: [UInt8], of state: LinkState, _ link: ForwardedLink, at server: isolated TernServer
  ) {
    link.unsentBytes += frame.count
    if let carrier = link.carrier {
      carrier.send(frame)
      carrier.flush()
    } else {
      // The credential as of now, which may be another one when the link is open.
      if link.early.isEmpty { link.early = link.routes.beginning }
      link.early.append(frame)
      seek(state, link, at: server)
    }
    settle(state, link, at: server)
  }

  /// Opens a link to the leader, unless one is open or about to be.
  private func seek(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    guard link.leaderLink == nil else { return }
    if link.seeking == nil { link.seeking = server.uptime() }
    guard let leader = ledger.standing.leader else {
      return seekLater(state, link, "no node leads", at: server)
    }
    let leaderLink = LeaderLink(to: leader, for: state, of: server)
    link.leaderLink = leaderLink
    leaderLink.open(over: links, for: state.link.peer)
  }

  private func seekLater(
    _ state: LinkState, _ link: ForwardedLink, _ reason: String, at server: isolated TernServer
  ) {
    guard let since = link.seeking, server.uptime() - since < Self.patience else {
      return lose(state, link, reason, at: server)
    }
    let (slot, number) = (state.slot, state.number)
    Task { [clock = server.ambient.clock] in
      try? await clock.sleep(for: Self.retryPause)
      Self.seekAgain(slot, number, at: server)
    }
  }

  private static func seekAgain(
    _ slot: Int, _ number: Int, at server: isolated TernServer
  ) {
    guard let forwarder = server.part.forwarder, let state = server.links[slot],
      let link = forwarder.forwarded[slot], state.number == number, link.number == number
    else { return }
    forwarder.seek(state, link, at: server)
  }

  /// Counts out what the leader's link has taken, and reads from the client no faster than that.
  private func settle(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    let queued = link.carrier?.queuedBytes ?? link.unsentBytes
    if link.carrier != nil, queued <= LinkPressure.lowBytes {
      server.memory.release(exchange(&link.unsentBytes, with: 0), of: state)
    } else if queued > LinkPressure.highBytes {
      state.pause()
    }
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
      link.seeking = nil
      carrier.send(contentsOf: exchange(&link.early, with: []))
      carrier.flush()
      settle(state, link, at: server)
    case .received(let frames):
      let catchUp = next()
      link.arrivals += frames.map { ForwardedLink.Arrival(frame: $0, catchUp: catchUp) }
      count(frames.reduce(0) { $0 + $1.count }, of: link, state, at: server)
      waiting.insert(slot)
      self.catchUp(at: server)
    case .drained: settle(state, link, at: server)
    case .ended(let reason):
      link.leaderLink = nil
      guard let carrier = exchange(&link.carrier, with: nil) else {
        return seekLater(state, link, reason, at: server)
      }
      carrier.close()
      link.arrivals.append(ForwardedLink.Arrival(frame: nil, catchUp: 0))
      release(state, link, at: server)
    }
  }

  /// Counts what came from the leader and waits; more of it is read once the client has it.
  private func count(
    _ bytes: Int, of link: ForwardedLink, _ state: LinkState, at server: isolated TernServer
  ) {
    link.arrivalBytes += bytes
    link.address = state.address
    budget.count(bytes, .output, to: state.address)
    if link.arrivalBytes > LinkPressure.highBytes { link.carrier?.setReading(false) }
  }

  /// The leader is lost, and with it whatever it had to do for the client.
  private func lose(
    _ state: LinkState, _ link: ForwardedLink, _ reason: String, at server: isolated TernServer
  ) {
    link.seeking = nil
    server.memory.release(exchange(&link.unsentBytes, with: 0), of: state)
    link.early = []
    guard let frames = link.routes.loseLeader() else {
      let text = "the node that leads is out of reach (\(reason)); connect again"
      return server.close(state, .serverStopped(text))
    }
    server.perform(frames.map { .send(slot: state.slot, $0) })
  }

  /// Sends the client what need not wait any longer, and deals with what it asked for behind that.
  private func release(
    _ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer
  ) {
    var outputs: [ServerOutput] = []
    let count = link.arrivals.prefix { $0.catchUp <= done }.count
    let ready = link.arrivals.prefix(count)
    link.arrivals.removeFirst(count)
    let isRead = !ready.isEmpty && link.arrivals.isEmpty
    if isRead { link.release(from: budget) }
    for arrival in ready {
      guard let frame = arrival.frame else {
        lose(state, link, "the connection to it ended", at: server)
        continue
      }
      switch link.routes.receive(frame) {
      case .forClient: outputs.append(.send(slot: state.slot, frame))
      case .forNobody: break
      case .answered(let bytes):
        link.carrier?.send(bytes)
        link.carrier?.flush()
      case .end: link.carrier?.close()
      }
    }
    if !outputs.isEmpty {
      server.perform(outputs)
    }
    if isRead { link.carrier?.setReading(state.link.queuedBytes <= LinkPressure.highBytes) }
    let frames = link.takeReady(after: done)
    for frame in frames { server.enqueue(.frame(slot: state.slot, frame), of: state) }
    if !frames.isEmpty { server.drainSoon() }
    if link.isIdle { waiting.remove(state.slot) } else { waiting.insert(state.slot) }
  }
}

// MARK: - The copy

extension Forwarder {
  /// Lets the copy catch up with the log, unless it is about to or nothing waits for it.
  private func catchUp(at server: isolated TernServer) {
    guard !isCatchingUp, wanted > done, !isEnded else { return }
    isCatchingUp = true
    Task { await Self.catchUp(self, at: server) }
  }

  private static func catchUp(_ forwarder: Forwarder, at server: isolated TernServer) async {
    while forwarder.wanted > forwarder.done, !forwarder.isEnded {
      forwarder.begun += 1
      let number = forwarder.begun
      do throws(LedgerError) {
        try await forwarder.ledger.catchUp()
        forwarder.finish(number, at: server)
      } catch {
        forwarder.fail(at: server)
        try? await server.ambient.clock.sleep(for: retryPause)
      }
    }
    forwarder.isCatchingUp = false
  }

  private func finish(_ number: UInt64, at server: isolated TernServer) {
    done = number
    failingSince = nil
    if isEnded { return }
    let ready = actions.prefix { $0.catchUp <= number }
    actions.removeFirst(ready.count)
    for (_, action) in ready { action() }
    for slot in waiting.sorted() {
      if let state = server.links[slot], let link = forwarded[slot], link.number == state.number {
        release(state, link, at: server)
      } else {
        waiting.remove(slot)
      }
    }
  }

  /// Lets go the clients that have waited for too long.
  private func fail(at server: isolated TernServer) {
    let since = failingSince ?? server.uptime()
    failingSince = since
    guard server.uptime() - since >= Self.patience else { return }
    failingSince = nil
    for slot in waiting.sorted() {
      guard let state = server.links[slot] else { continue }
      server.close(state, .serverStopped("the shared log is out of reach; connect again"))
    }
    waiting = []
  }
}
