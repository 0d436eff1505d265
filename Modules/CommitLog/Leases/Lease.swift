/// The name of a lease of a shard.
public struct LeaseName: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The name, at most ``CommitLogLimits/leaseNameBytes`` bytes; empty for the leader's.
  public let text: String

  /// The lease of this name, for any purpose of the nodes: membership, work that one node does.
  public init(_ text: String) { self.text = text }

  /// The lease of the shard's leader. Its epoch is the one that appends are compared with.
  public static let leader = LeaseName("")

  /// The name; `leader` for the leader's.
  public var description: String { text.isEmpty ? "leader" : text }

  /// Returns true when the left name comes first, compared by bytes.
  public static func < (left: LeaseName, right: LeaseName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The part of a lease that changes with every renewal.
public struct LeaseMark: Hashable, Sendable {
  /// The term: raised when the lease changes hands.
  public var epoch: LogEpoch
  /// A count that every renewal raises; a leader's appends do too.
  public var beat: UInt64

  /// The mark of a lease.
  public init(epoch: LogEpoch, beat: UInt64) {
    self.epoch = epoch
    self.beat = beat
  }
}

/// A lease in the hands of a node.
public struct Lease: Hashable, Sendable {
  /// The identifier of the holder's process.
  public var node: String
  /// The address at which other nodes reach the holder.
  public var address: String
  /// The term and the newest renewal.
  public var mark: LeaseMark

  /// A lease that a node holds.
  public init(node: String, address: String, mark: LeaseMark) {
    self.node = node
    self.address = address
    self.mark = mark
  }
}

/// A lease by name, held or free.
public struct LeaseRecord: Hashable, Sendable {
  /// The lease's name.
  public var name: LeaseName
  /// The term and the newest renewal.
  public var mark: LeaseMark
  /// The holder; `nil` when the lease was released.
  public var holder: Lease?

  /// A lease, held by `holder` or free.
  public init(name: LeaseName, mark: LeaseMark, holder: Lease?) {
    self.name = name
    self.mark = mark
    self.holder = holder
  }
}

/// A request to take or renew a lease.
public struct LeaseRequest: Hashable, Sendable {
  /// The condition under which a lease that the node does not hold becomes its own.
  public enum Condition: Hashable, Sendable {
    /// Never: the request renews alone.
    case held
    /// The lease is free.
    case free
    /// The lease is free, or has this mark: its holder has not renewed it since the mark was seen.
    case unchanged(LeaseMark)
  }

  /// The lease.
  public var name: LeaseName
  /// The identifier of the requesting process: unique to one run of it, so that a restarted process
  /// is another node. At most ``CommitLogLimits/nodeBytes`` bytes.
  public var node: String
  /// The address at which other nodes reach the process. At most ``CommitLogLimits/addressBytes``
  /// bytes.
  public var address: String
  /// The condition.
  public var condition: Condition

  /// A request by `node` for the leader's lease or another.
  public init(
    name: LeaseName = .leader, node: String, address: String, condition: Condition
  ) {
    self.name = name
    self.node = node
    self.address = address
    self.condition = condition
  }
}

/// The answer to a request for a lease.
public enum LeaseOutcome: Hashable, Sendable {
  /// The requesting node holds the lease, with this mark. A mark of a later epoch than the node
  /// knew of means that it took the lease.
  case held(LeaseMark)
  /// Another node holds the lease.
  case heldElsewhere(Lease)
  /// No node holds the lease, and the request did not ask for it.
  case free(LogEpoch)
}
