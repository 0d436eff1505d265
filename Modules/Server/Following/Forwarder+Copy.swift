import TernLedger

// The copy: what waits for it, and goes on.
extension Forwarder {
  /// True while an answer of the leader waits for the copy.
  var hasArrivals: Bool {
    waiting.contains { forwarded[$0]?.arrivals.isEmpty == false }
  }

  /// Goes on with the answers that tell of commits up to a version: listeners of this node have
  /// been told of those, so that the end of the catch-up is not waited for.
  func note(_ version: Version, at server: isolated TernServer) {
    guard version > followedVersion else { return }
    followedVersion = version
    for slot in waiting.sorted() {
      guard let state = server.links[slot], let link = forwarded[slot],
        link.number == state.number, link.readyArrivals(after: waits.caughtUp, version) > 0
      else { continue }
      release(state, link, at: server)
    }
  }

  /// Goes on with the clients that wait for the copy, or ends their links.
  func handle(_ progress: CopyWaits.Progress, at server: isolated TernServer) {
    for slot in waiting.sorted() {
      guard let state = server.links[slot] else {
        waiting.remove(slot)
        continue
      }
      switch progress {
      case .current:
        if let link = forwarded[slot], link.number == state.number {
          release(state, link, at: server)
        } else {
          waiting.remove(slot)
        }
      case .unreachable:
        server.close(state, .serverStopped("the shared log is out of reach; connect again"))
        waiting.remove(slot)
      }
    }
  }
}
