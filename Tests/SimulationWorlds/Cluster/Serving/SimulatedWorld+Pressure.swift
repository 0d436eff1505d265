import TernTransport

// Back-pressure between clients, the nodes that they are at, and those that lead: readers that
// stall, and servers that stop to read.

extension SimulatedWorld {
  /// A client of a node takes nothing of what that says for a while, and goes on to speak.
  func stallReader(of process: NodeProcess, _ cluster: SimulatedCluster) {
    let links = process.host?.clientLinks.values.sorted { $0.id < $1.id } ?? []
    guard let link = chance.pick(links.filter { !$0.isReaderStalled && $0.isOpenAtServer }) else {
      return
    }
    trace.note("\(link.process.name) reads nothing of link \(link.id)")
    link.isReaderStalled = true
    link.nodeEnd?.stall()
    plan(.readerGoesOn(link), after: 100...(chance.happens(0.3) ? 40_000 : 4_000))
  }

  /// Keeps what a server says to a client that takes nothing.
  func holdsBack(_ entry: NodeOutput.Entry, over link: SimulatedLink) -> Bool {
    if link.isReaderStalled { link.untaken.append(entry) }
    return link.isReaderStalled
  }

  /// A client takes what has waited for it.
  func readerGoesOn(_ link: SimulatedLink) {
    guard exchange(&link.isReaderStalled, with: false) else { return }
    let entries = exchange(&link.untaken, with: [])
    guard !link.server.isOver, link.isOpenAtServer else { return }
    let wasLong = link.nodeEnd?.goOn() == true
    for entry in entries {
      switch entry {
      case .frames(_, let frames, let version): tell(frames, version, over: link)
      case .closed: close(link)
      case .reads, .connects, .event: break
      }
    }
    guard wasLong else { return }
    cluster?.summary.drains += 1
    link.handler?.linkDidDrain()
  }

  /// Lets all clients read.
  func wakeReaders(_ cluster: SimulatedCluster) {
    for link in cluster.clientLinks.values.sorted(by: { $0.id < $1.id }) { readerGoesOn(link) }
  }

  /// A server reads from a link again: what has come meanwhile arrives now.
  func readAgain(_ end: NodeOutput.End, _ host: NodeServer, _ process: NodeProcess) {
    if let link = host.clientLinks[end.link] {
      let frames = exchange(&link.unread, with: [])
      if !frames.isEmpty { hand(frames, over: link, to: process) }
      return
    }
    guard let link = host.nodeLinks[end.link] else { return }
    let unread = end.isDialer ? link.unreadAtDialer : link.unreadAtAcceptor
    guard !unread.messages.isEmpty || unread.linkEnd != nil else { return }
    cluster?.summary.heldMessages += unread.messages.count
    let empty = UnreadMessages(end: unread.end)
    if end.isDialer { link.unreadAtDialer = empty } else { link.unreadAtAcceptor = empty }
    for message in unread.messages { arrived(message, over: link, atDialer: end.isDialer) }
    if let linkEnd = unread.linkEnd { sawEnd(of: link, atDialer: end.isDialer, linkEnd) }
  }

  /// Keeps what comes to an end of a link between nodes that is not read from.
  func holdsBack(_ message: NodeMessage, over link: NodeLink, atDialer: Bool) -> Bool {
    guard (atDialer ? link.unreadAtDialer : link.unreadAtAcceptor).holds else { return false }
    if atDialer {
      link.unreadAtDialer.messages.append(message)
    } else {
      link.unreadAtAcceptor.messages.append(message)
    }
    return true
  }

  /// Keeps the end of a link for an end that is not read from: what was sent before comes first. A
  /// broken link is noticed at once, and what has not been read of it is lost.
  func isUnnoticed(_ end: NodeEnd, of link: NodeLink, atDialer: Bool) -> Bool {
    guard case .closedByPeer = end,
      (atDialer ? link.unreadAtDialer : link.unreadAtAcceptor).holds
    else { return false }
    if atDialer {
      link.unreadAtDialer.linkEnd = end
    } else {
      link.unreadAtAcceptor.linkEnd = end
    }
    return true
  }
}
