/// The onDisconnect operations that must have fired, as far as that is sure.
///
/// Every one adds 1 to a path of its own, so that a reader of the tree sees how often it fired. A
/// server that comes back waits for the clients it knew; when such a client is dead too, its writes
/// fire only after that grace, and the test demands no more of them than to fire once.
struct KillPresence {
  private enum State {
    /// Its session lives.
    case open
    /// The server died, the client lives: the client's next session lets it fire.
    case orphaned
    /// The client died, the server lives: it fires as soon as the server notices.
    case closing
  }

  /// Everything that was ever registered.
  private(set) var all: [String] = []
  /// The operations that have fired by now.
  private(set) var fired: [String] = []
  private var pending: [(name: String, client: String, state: State)] = []

  /// A name for the next deferred write.
  var nextName: String { "\(all.count + 1)" }

  /// The server says that it has a deferred write.
  mutating func registered(_ name: String, by client: String) {
    all.append(name)
    let isOver = { (write: (name: String, client: String, state: State)) in
      write.state == .closing || (write.state == .orphaned && write.client == client)
    }
    fired += pending.filter(isOver).map(\.name)
    pending.removeAll(where: isOver)
    pending.append((name, client, .open))
  }

  mutating func serverWasKilled() {
    pending.removeAll { $0.state == .closing }
    for index in pending.indices { pending[index].state = .orphaned }
  }

  mutating func clientWasKilled(_ client: String) {
    pending.removeAll { $0.client == client && $0.state == .orphaned }
    for index in pending.indices where pending[index].client == client {
      pending[index].state = .closing
    }
  }
}
