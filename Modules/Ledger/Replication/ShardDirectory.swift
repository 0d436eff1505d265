/// Finds the nodes that lead the shards of a cluster.
public protocol ShardDirectory: Sendable {
  /// The shards that databases belong to.
  var table: ShardTable { get }

  /// The shard of this node.
  var own: UInt32 { get }

  /// Returns the address of the node that leads a shard at present; `nil` when none does.
  func leader(of shard: UInt32) async throws(LedgerError) -> String?
}
