public import TernCommitLog

/// The nodes of a shard and its log, as the log tells of them at one moment.
public struct ClusterView: Hashable, Sendable {
  /// One node.
  public struct Node: Hashable, Sendable {
    /// The identifier of the node's run.
    public var id: String
    /// The node's words about itself.
    public var card: NodeCard
    /// The number of its words so far: a node that lives says some every
    /// ``SharedLedgerOptions/announcement``.
    public var beat: UInt64
  }

  /// The state of the log.
  public var state: LogState
  /// The nodes, in the order of their identifiers.
  public var nodes: [Node]

  /// Reads the state of a shard, and the words of its nodes.
  public init(of shard: ShardID, in log: any CommitLog) async throws(CommitLogError) {
    state = try await log.open(shard)
    nodes = Self.nodes(in: try await log.leases(of: shard))
  }

  /// Takes back the request of ``askLeaderToStepDown(of:in:as:)``, so that it has no effect later
  /// in the same term.
  public static func withdrawRequest(
    of shard: ShardID, in log: any CommitLog, as requester: String
  ) async throws(CommitLogError) {
    try await log.releaseLease(shard, name: NodeLease.stepDown, node: requester)
  }

  static func nodes(in records: [LeaseRecord]) -> [Node] {
    records.compactMap { record in
      guard let node = NodeLease.node(record.name), let holder = record.holder,
        let card = NodeCard(holder.address)
      else { return nil }
      return Node(id: node, card: card, beat: record.mark.beat)
    }
  }

  /// Returns the batches that a node's copy lacks.
  public func lag(of node: Node) -> UInt64 {
    state.position.number - min(state.position.number, node.card.position.number)
  }

  /// Returns the identifiers of the nodes that have said something since an earlier view.
  public func alive(since earlier: ClusterView) -> Set<String> {
    var beats: [String: UInt64] = [:]
    for node in earlier.nodes { beats[node.id] = node.beat }
    return Set(nodes.filter { beats[$0.id] != $0.beat }.map(\.id))
  }

  /// Asks the node that leads to hand over to another one. It does within
  /// ``SharedLedgerOptions/announcement``, if another node lives whose copy is nearly current: its
  /// term ends then, and ``state`` has a later epoch.
  ///
  /// - Parameter requester: An identifier of the operator's own.
  public func askLeaderToStepDown(
    of shard: ShardID, in log: any CommitLog, as requester: String
  ) async throws(CommitLogError) {
    let request = LeaseRequest(
      name: NodeLease.stepDown, node: requester, address: "\(state.epoch)", condition: .free)
    switch try await log.renewLease(shard, request: request) {
    case .held, .free: return
    case .heldElsewhere(let other):
      // One that was asked by an operator who is gone.
      try await log.removeLease(shard, name: NodeLease.stepDown, mark: other.mark)
      _ = try await log.renewLease(shard, request: request)
    }
  }
}

/// A leader's knowledge of the other nodes. Decisions alone; the uptime is in milliseconds.
struct NodeWatch {
  private struct Sight {
    var mark: LeaseMark
    var since: Int64
    var changes = 0
  }

  private var seen: [LeaseName: Sight] = [:]

  /// The time without a word after which the record of a node is removed.
  static let silence: Int64 = 60_000

  /// The time after which a request to step down has no effect any more: its operator waits for a
  /// shorter time, and may have left without taking it back.
  static let requestPatience: Int64 = 30_000

  /// Sees the records of all nodes, and the request to step down.
  ///
  /// - Returns: The records that have stood still for too long.
  mutating func observe(_ records: [LeaseRecord], at now: Int64) -> [LeaseRecord] {
    var next: [LeaseName: Sight] = [:]
    var silent: [LeaseRecord] = []
    for record in records {
      let isRequest = record.name == NodeLease.stepDown
      guard isRequest || NodeLease.node(record.name) != nil else { continue }
      var sight = seen[record.name] ?? Sight(mark: record.mark, since: now)
      if sight.mark != record.mark {
        sight = Sight(mark: record.mark, since: now, changes: sight.changes + 1)
      }
      let patience = isRequest ? Self.requestPatience : Self.silence
      if now - sight.since >= patience, record.holder != nil || !isRequest { silent.append(record) }
      next[record.name] = sight
    }
    seen = next
    return silent
  }

  /// Returns true when a node other than `own` follows the log, has said something within
  /// `patience`, and lacks few batches.
  func hasSuccessor(
    in records: [LeaseRecord], besides own: String, head: LogPosition, at now: Int64,
    patience: Int64
  ) -> Bool {
    ClusterView.nodes(in: records).contains { node in
      guard node.id != own, node.card.isFollowing,
        let sight = seen[NodeLease.name(of: node.id)], sight.changes > 0,
        now - sight.since <= patience
      else { return false }
      let lag = head.number - min(head.number, node.card.position.number)
      return lag <= SharedLedgerLimits.electableLag
    }
  }
}
