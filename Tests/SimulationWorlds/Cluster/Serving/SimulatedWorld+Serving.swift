import TernCore
import TernDocumentWire
import TernLedger
import TernServer
import TernSharedLedger
import TernSync
import TernTransport
import TernTreeWire

// Nodes whose servers serve clients whichever node leads.

extension SimulatedWorld {
  /// Starts the server of a node's process.
  func startServer(of process: NodeProcess, _ cluster: SimulatedCluster) {
    let host = NodeServer(of: process, on: cluster.executor)
    process.host = host
    var options = ServerOptions()
    options.plantedFault = cluster.serverFault
    host.start(
      in: process, on: cluster.executor, options: options, clock: clock,
      authorizer: bug == .readsWithoutRules ? OpenWorkloadRules() : WorkloadRules(),
      documentAuthorizer: authorizer(of: rulesFile))
  }

  /// Takes what a node's server has said.
  func receive(_ entry: NodeOutput.Entry, from process: NodeProcess, _ cluster: SimulatedCluster) {
    guard let host = process.host else { return }
    switch entry {
    case .event(let event): receive(event, from: process, cluster)
    case .connects(let request):
      plan(.nodeConnects(process, request, since: clock.now), after: 0...20)
    case .frames(let end, let frames, let version):
      if let link = host.nodeLinks[end.link] {
        return pass(frames, version, over: link, toDialer: !end.isDialer)
      }
      guard let link = host.clientLinks[end.link], !holdsBack(entry, over: link) else { return }
      tell(frames, version, over: link)
    case .closed(let end):
      if let link = host.nodeLinks[end.link] { return close(link, byDialer: end.isDialer) }
      guard let link = host.clientLinks[end.link], !holdsBack(entry, over: link) else { return }
      close(link)
    case .reads(let end): readAgain(end, host, process)
    }
  }

  /// Sends what a node's server says to a client of its own.
  ///
  /// - Parameter copied: The version of the node's copy.
  func tell(_ frames: [[UInt8]], _ copied: UInt64?, over link: SimulatedLink) {
    guard !link.isClosedByServer else { return }
    var (version, isWhole) = (copied, true)
    if link.isForeign, !Self.areOnlyPongs(frames) {
      // It passes on what the leader of another shard has said, which has that one's version.
      let passed = link.passedOn.isEmpty ? nil : link.passedOn.removeFirst()
      (version, isWhole) = (passed?.version, passed?.isWhole ?? true)
    }
    guard let version, frames.contains(where: Self.isNews) else {
      let newest = link.newest
      return send(
        Chunk(frames: frames, before: newest, after: newest, isLast: true, hasNews: false),
        over: link)
    }
    send(
      Chunk(
        frames: frames, before: min(link.newest, version), after: version, isLast: isWhole),
      over: link)
    link.newest = version
  }

  /// Returns false for frames that tell nothing of any data, as of no version.
  private static func isNews(_ frame: [UInt8]) -> Bool {
    if let message = try? TreeServerMessage.decode(frame) {
      switch message {
      case .redirect, .shutdown, .error, .pong, .trace, .fatal, .inquiry, .unknown: return false
      case .handshake, .response, .put, .merge, .rangeMerge, .listenRevoked, .authRevoked,
        .appCheckRevoked:
        return true
      }
    }
    switch try? DocumentServerFrame.decode(frame) {
    case .message, .answer: return true
    case .end, .pong, nil: return false
    }
  }

  /// Returns true for answers to pings, of which a node keeps those to its own.
  private static func areOnlyPongs(_ frames: [[UInt8]]) -> Bool {
    frames.allSatisfy { (try? TreeServerMessage.decode($0)) == .pong }
  }

  private func receive(
    _ event: ServerEvent, from process: NodeProcess, _ cluster: SimulatedCluster
  ) {
    switch event {
    case .leading:
      trace.note("\(process.name) leads")
      cluster.summary.terms += 1
      checkCopy(of: process, cluster)
    case .following:
      trace.note("\(process.name) follows")
      cluster.summary.followings += 1
    case .standingBy(let reason): trace.note("\(process.name) stands by: \(reason)")
    case .failed(let error):
      trace.note("\(process.name): \(error)")
      cluster.summary.failures += 1
    case .ended(let error): if !process.isEnding { kill(process, because: "\(error)") }
    case .disconnected(_, let reason): trace.note("\(process.name) lets go: \(reason)")
    case .connected, .diskFull, .diskHasRoom, .corrupt, .oldFormat, .unusableRules, .backupEnded,
      .hindered:
      break
    }
  }

  // MARK: Clients

  /// Lets a node's server accept a link of a client.
  ///
  /// - Returns: False when the server does not listen.
  func accept(_ link: SimulatedLink, at process: NodeProcess, _ cluster: SimulatedCluster) -> Bool {
    guard let host = process.host else { return false }
    let ledger = process.ledger
    let end = NodeLinkEnd(
      .init(link: link.id, isDialer: false), peer: Self.peer(of: link), host.output
    ) { Self.version(of: ledger) }
    guard let handler = host.transport.accept(end) else {
      return false
    }
    link.handler = handler
    link.nodeEnd = end
    link.newest = link.process.device.newestTold
    link.isForeign = process.node.shard != cluster.shard(of: link.process)
    host.clientLinks[link.id] = link
    cluster.clientLinks[link.id] = link
    return true
  }

  private static func version(of ledger: SharedLedger) -> UInt64? {
    let version: UInt64?? = try? ledger.copy?.read { $0.version }
    return version ?? nil
  }

  private static func peer(of link: SimulatedLink) -> String { "127.0.0.1:\(link.id)" }

  /// Hands frames of a client to a node's server.
  func hand(_ frames: [[UInt8]], over link: SimulatedLink, to process: NodeProcess) {
    guard let cluster, let handler = link.handler else { return }
    if link.nodeEnd?.isReading == false || !link.unread.isEmpty {
      link.unread += frames
      return
    }
    noteSenders(of: frames, link, at: process, cluster)
    handler.linkDidReceive(frames)
  }

  /// A node's server sees the end of a client's link.
  func handEnd(of link: SimulatedLink, to process: NodeProcess) {
    process.host?.clientLinks[link.id] = nil
    guard let handler = exchange(&link.handler, with: nil) else { return }
    let isWhole = exchange(&link.unread, with: []).isEmpty
    let reason: LinkClosure =
      link.isClosedByServer ? .closedHere : isWhole ? .closedByPeer : NodeEnd.broken.closure
    handler.linkDidClose(reason)
  }

  /// Notes over which client's link each numbered write has come to a node that leads: the first
  /// one of several.
  private func noteSenders(
    of frames: [[UInt8]], _ link: SimulatedLink?, at process: NodeProcess,
    _ cluster: SimulatedCluster
  ) {
    guard let link, link.process is ClientRun, process.host?.service == .asLeader else { return }
    for frame in frames {
      guard let id = Self.number(of: frame, over: link) else { continue }
      let known = cluster.senders[id]
      cluster.senders[id] = known.map { $0.id < link.id ? $0 : link } ?? link
    }
  }

  // MARK: Links between nodes

  /// A request to open a link comes to the other node, which takes it if it leads.
  ///
  /// - Parameter start: The time at which the request was made.
  func connect(_ process: NodeProcess, _ request: LinkRequest, since start: Int64) {
    guard let cluster, !process.isDead else { return }
    let target = cluster.running.first { $0.name == request.address }
    guard let target, let host = target.host, !cluster.areApart(process, target) else {
      return plan(.nodeRefused(process, request), after: 0...200)
    }
    if target.stalled != nil {
      target.stalled?.append(.nodeConnects(process, request, since: start))
      return
    }
    guard host.service == .asLeader else {
      // It may be about to lead. Passed on once more, what comes could go in circles.
      if clock.now - start >= 1_000 { return plan(.nodeRefused(process, request), after: 0...50) }
      return plan(.nodeConnects(process, request, since: start), after: 100...100)
    }
    lastLink += 1
    let isSlow = !isHealed && cluster.faults.contains(.slowNodes) && chance.happens(0.2)
    let link = NodeLink(
      id: lastLink, for: client(named: request.client, cluster), from: process, to: target,
      latency: isSlow ? 0...3_000 : 0...15)
    if !isHealed, cluster.faults.contains(.cutNodes), chance.happens(0.1) {
      link.framesLeft = chance.below(12)
    }
    let ledger = target.ledger
    let end = NodeLinkEnd(
      .init(link: link.id, isDialer: false), peer: request.client,
      isOfOtherShard: request.isOfOtherShard, host.output
    ) { Self.version(of: ledger) }
    guard let handler = host.transport.accept(end) else {
      return plan(.nodeRefused(process, request), after: 0...50)
    }
    cluster.summary.relays += 1
    link.atAcceptor = handler
    link.unreadAtAcceptor.end = end
    host.nodeLinks[link.id] = link
    process.host?.nodeLinks[link.id] = link
    link.lastAtDialer = clock.now + chance.within(link.latency)
    agenda.add(.nodeConnected(link, request), at: link.lastAtDialer)
  }

  private func client(named peer: String, _ cluster: SimulatedCluster) -> SimulatedLink? {
    peer.split(separator: ":").last.flatMap { Int($0) }.flatMap { cluster.clientLinks[$0] }
  }

  /// A link to another node is open here, too.
  func connected(_ link: NodeLink, _ request: LinkRequest) {
    guard !link.dialer.isDead, let host = link.dialer.host else { return }
    if link.isCut { return request.finish(nil) }
    let end = NodeLinkEnd(
      .init(link: link.id, isDialer: true), peer: request.address, host.output
    ) { nil }
    link.atDialer = request.open(end)
    link.unreadAtDialer.end = end
    request.finish(end)
  }

  /// Sends frames from one node to another.
  ///
  /// - Parameter version: The version of the copy of the node that sends.
  private func pass(
    _ frames: [[UInt8]], _ version: UInt64?, over link: NodeLink, toDialer: Bool
  ) {
    note(
      frames, "\(link.process(atDialer: !toDialer).name)>\(link.process(atDialer: toDialer).name)")
    if link.isCut { return }
    var frames = frames
    if bug == .repeatsRelayedWrites, !toDialer { frames += repeated(frames, over: link) }
    var (arriving, breaks) = (frames, false)
    if let left = link.framesLeft {
      breaks = frames.count >= left
      // The frame with which it breaks has arrived, or has not.
      arriving = Array(frames.prefix(max(0, chance.happens(0.5) ? left : left - 1)))
      link.framesLeft = left - frames.count
    }
    if !arriving.isEmpty {
      let last = toDialer ? link.lastAtDialer : link.lastAtAcceptor
      let time = max(last, clock.now + chance.within(link.latency))
      if toDialer { link.lastAtDialer = time } else { link.lastAtAcceptor = time }
      let message = NodeMessage(
        frames: arriving, version: version, isWhole: arriving.count == frames.count)
      agenda.add(.arrivesAtNode(link, toDialer: toDialer, message), at: time)
    }
    if breaks { cut(link) }
  }

  /// The planted bug: a client's write that another link has carried, without its number.
  private func repeated(_ frames: [[UInt8]], over link: NodeLink) -> [[UInt8]] {
    guard let cluster, let client = link.client?.process.name else { return [] }
    for frame in frames {
      guard
        case .request(let number, .put(let path, let node, nil, let header))? =
          try? TreeClientMessage.decode(frame), header.stamp != nil
      else { continue }
      let former = cluster.lastWrites.updateValue(
        (link.id, .request(number, .put(path, node, expectedHash: nil, .none))), forKey: client)
      if let former, former.link != link.id { return [former.write.encode()] }
    }
    return []
  }

  func arrived(_ message: NodeMessage, over link: NodeLink, atDialer: Bool) {
    let process = link.process(atDialer: atDialer)
    guard let cluster, !process.isDead,
      let handler = atDialer ? link.atDialer : link.atAcceptor
    else { return }
    if holdsBack(message, over: link, atDialer: atDialer) { return }
    cluster.summary.relayedFrames += message.frames.count
    if atDialer {
      // Documents tell their versions themselves.
      if let client = link.client, client.isForeign, client.process is ClientRun,
        !Self.areOnlyPongs(message.frames)
      {
        client.passedOn.append(message)
      }
    } else {
      noteSenders(of: message.frames, link.client, at: process, cluster)
    }
    handler.linkDidReceive(message.frames)
  }

  /// One end of a link between nodes is closed: what was sent still travels.
  private func close(_ link: NodeLink, byDialer: Bool) {
    let here = NodeEnd.closedHere
    plan(.nodeSeesEnd(link, atDialer: byDialer, here), after: 0...1)
    if link.isCut { return }
    let last = byDialer ? link.lastAtAcceptor : link.lastAtDialer
    agenda.add(
      .nodeSeesEnd(link, atDialer: !byDialer, .closedByPeer),
      at: max(last, clock.now + chance.within(link.latency)))
  }

  /// A link between nodes breaks: its ends see that in their own time, one of them late at times.
  func cut(_ link: NodeLink) {
    if link.isCut { return }
    link.isCut = true
    for atDialer in [true, false] {
      let isLate = !isHealed && chance.happens(0.1)
      let last = atDialer ? link.lastAtDialer : link.lastAtAcceptor
      agenda.add(
        .nodeSeesEnd(link, atDialer: atDialer, .broken),
        at: max(last, clock.now + chance.within(isLate ? 0...20_000 : 0...50)))
    }
  }

  func sawEnd(of link: NodeLink, atDialer: Bool, _ end: NodeEnd) {
    let process = link.process(atDialer: atDialer)
    if isUnnoticed(end, of: link, atDialer: atDialer) { return }
    process.host?.nodeLinks[link.id] = nil
    let handler = atDialer ? link.atDialer : link.atAcceptor
    if atDialer { link.atDialer = nil } else { link.atAcceptor = nil }
    guard let handler, !process.isDead else { return }
    handler.linkDidClose(end.closure)
  }

  /// The process of a node is gone, and its ends of links to other nodes with it.
  func loseNodeLinks(of process: NodeProcess) {
    guard let host = process.host else { return }
    for link in host.nodeLinks.values.sorted(by: { $0.id < $1.id }) { cut(link) }
  }
}

/// The end of a link between nodes, as one of them sees it.
enum NodeEnd {
  case closedHere
  case closedByPeer
  case broken

  var closure: LinkClosure {
    switch self {
    case .closedHere: .closedHere
    case .closedByPeer: .closedByPeer
    case .broken: .lost("the connection broke")
    }
  }
}
