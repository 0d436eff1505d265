import TernServer
import TernTransport
import TernTransportTCP

/// The links of a node to one that leads, as its server asks for them.
struct ClusterLeaderLinks: LeaderLinks {
  /// The transport of the node's server: handlers of the links are called on its executor.
  let transport: TCPTransport
  /// The relay of the node, which knows the cluster's secret and counts the links.
  let relay: NodeRelay
  /// True for links to nodes of other shards.
  var isOfOtherShard = false

  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    try await transport.connect(
      to: address, for: client, ofOtherShard: isOfOtherShard, through: relay, open)
  }
}
