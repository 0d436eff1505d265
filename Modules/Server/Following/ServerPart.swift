import TernLedger

/// The part that a server's node plays in a cluster. Lives and is used on the server's executor
/// only.
final class ServerPart {
  /// The ledger whose copy is served from while another node leads; `nil` at other times.
  private(set) var copy: (any FollowedLedger)?
  /// Passes on what clients want changed while another node leads.
  private(set) var forwarder: Forwarder?
  /// Opens links to the node that leads; `nil` at a server that serves while its node leads, and at
  /// no other time.
  var links: (any LeaderLinks)?
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
  func stop() {
    watching?.cancel()
    end()
  }

  /// Serves from no copy any more.
  func end() {
    copy = nil
    exchange(&forwarder, with: nil)?.end()
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

  private func noteLeader() { part.forwarder?.noteLeader(at: self) }
}
