import Synchronization
import TernAssembly
import TernLedger
import TernServer
import TernSharedLedger
import TernSync
import TernTransport
import TernTransportTCP

/// The relaying of clients between the nodes of a cluster, as a program sets it up.
final class ClusterRelay: Sendable {
  private let secret: ClusterSecret
  /// True when nodes that follow serve clients from their copies.
  private let serves: Bool
  private let address: String
  private let following = Mutex<Task<Void, Never>?>(nil)

  /// Reads the section `ledger`.
  ///
  /// - Returns: `nil` for a server without a secret of a cluster.
  init?(_ configuration: Configuration) throws(Failure) {
    let members = configuration.ledger.members
    guard let path = members["secretFile"]?.stringValue else { return nil }
    address = members["address"]?.stringValue ?? ""
    guard TCPAddress(withPort: address) != nil else {
      throw Failure(
        .usage, "--node-address needs a host and a port, such as 10.0.0.1:9000, not \"\(address)\"")
    }
    secret = try ClusterSecret(file: path)
    serves = members["followers"]?.stringValue != "relay"
  }

  /// Lets a transport relay clients while its server stands by, and the server serve them while
  /// its node follows, and pass on what is about other shards. Called before it listens.
  ///
  /// - Returns: `nil` for servers and transports of other kinds.
  func begin(at server: TernServer, _ transport: any Transport) async -> NodeRelay? {
    guard let ledger = server.leasedLedger as? SharedLedger,
      let transport = transport as? TCPTransport
    else { return nil }
    let environment = RuntimeEnvironment.system
    let secret = secret
    let uptime = environment.stopwatch()
    let place = ServingPlace(serves: serves, since: uptime())
    let relay = NodeRelay(
      NodeRelay.Setting(
        address: address, code: { secret.code(of: $0) },
        // By the clock that all nodes know, once it is known: those of machines differ.
        now: { environment.millisecondsSinceEpoch() + (ledger.standing.clockOffset ?? 0) },
        randomBits: environment.randomBits,
        place: {
          place.find(ledger.standing, server.service, at: uptime())
        }))
    transport.relay(over: relay)
    server.surroundings.servingChanged = { relay.lookAgain() }
    let links = serves ? ClusterLeaderLinks(transport: transport, relay: relay) : nil
    // Before any client is there, or one could write to a database of another shard here.
    if let directory = LogDirectory(of: ledger) {
      await server.serveShards(
        by: directory,
        over: ClusterLeaderLinks(transport: transport, relay: relay, isOfOtherShard: true))
    }
    let task = Task {
      if let links { await server.serveWhileFollowing(over: links) }
      var known = ledger.standing
      while let next = await ledger.changeOfLeader(after: known) {
        known = next
        place.noteChange(at: uptime())
        // Whatever has changed, the connections so far lead to a node that may not lead any more.
        relay.endAll()
        relay.lookAgain()
      }
    }
    following.withLock { $0 = task }
    return relay
  }

  /// Ends the work on behalf of a server that has ended.
  func end() { following.withLock { $0 }?.cancel() }
}

/// The place where clients of a node are served.
final class ServingPlace: Sendable {
  /// The time, in milliseconds after a change of the leader, for which connections wait for a node
  /// that is about to serve them from its copy. Passed on to the leader at once, they would stay
  /// there until the next change.
  static let patience: Int64 = 500

  private let serves: Bool
  /// The uptime, in milliseconds, of the latest change.
  private let changed: Mutex<Int64>

  /// - Parameter serves: True when nodes that follow serve clients from their copies.
  init(serves: Bool, since uptime: Int64) {
    self.serves = serves
    changed = Mutex(uptime)
  }

  /// Notes that another node leads, or none.
  func noteChange(at uptime: Int64) { changed.withLock { $0 = uptime } }

  /// Returns the place.
  ///
  /// - Parameter service: The service of the node's server, which follows the part of its ledger
  ///   with a little delay.
  func find(
    _ standing: LedgerStanding, _ service: ServerService, at uptime: Int64
  ) -> NodeRelay.Place {
    if standing.isLeading { return service == .asLeader ? .here : .unknown }
    if service == .asFollower { return .copy }
    guard let leader = standing.leader else { return .unknown }
    let isAboutToServe = serves && uptime - changed.withLock { $0 } < Self.patience
    return isAboutToServe ? .unknown : .node(leader)
  }
}
