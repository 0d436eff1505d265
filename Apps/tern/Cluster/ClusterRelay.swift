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
    let relay = NodeRelay(
      NodeRelay.Setting(
        address: address, code: { secret.code(of: $0) },
        now: environment.millisecondsSinceEpoch, randomBits: environment.randomBits,
        place: {
          let standing = ledger.standing
          if standing.isLeading { return server.isServing ? .here : .unknown }
          if server.isServing { return .copy }
          return standing.leader.map { .node($0) } ?? .unknown
        }))
    transport.relay(over: relay)
    let links = serves ? ClusterLeaderLinks(transport: transport, relay: relay) : nil
    // Before any client is there, or one could write to a database of another shard here.
    if let directory = LogDirectory(of: ledger) {
      await server.serveShards(
        by: directory,
        over: ClusterLeaderLinks(transport: transport, relay: relay, isOfOtherShard: true))
    }
    let task = Task {
      if let links { await server.serveWhileFollowing(over: links) }
      while !Task.isCancelled {
        await ledger.changeOfLeader(after: ledger.standing)
        // Whatever has changed, the connections so far lead to a node that may not lead any more.
        relay.endAll()
        await server.noteLeader()
      }
    }
    following.withLock { $0 = task }
    return relay
  }

  /// Ends the work on behalf of a server that has ended.
  func end() { following.withLock { $0 }?.cancel() }
}
