public import TernCommitLog

/// An operation of a commit log that is about to be performed for a node.
public struct LogOperation: Hashable, Sendable {
  /// The kind of an operation, as faults see it.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// Opening, or reading of batches, leases or the checkpoint.
    case read
    /// An append.
    case append
    /// A change of a lease.
    case lease
    /// An advance of the checkpoint, or a compaction.
    case checkpoint
  }

  /// The node that performs it.
  public var node: String
  /// The shard.
  public var shard: ShardID
  /// The kind.
  public var kind: Kind

  /// An operation of a node.
  public init(node: String, shard: ShardID, kind: Kind) {
    self.node = node
    self.shard = shard
    self.kind = kind
  }
}

/// A fault of the connection between a node and the log, for tests and simulations.
public enum LogFault: Hashable, Sendable {
  /// The connection is cut before the operation: ``CommitLogError/unavailable(reason:)``.
  case cut
  /// The connection is cut after the operation was sent; a change is never performed. A change
  /// fails with ``CommitLogError/unknownOutcome``, a read as after ``cut``.
  case lostBefore
  /// As ``lostBefore``, but the change was performed.
  case lostAfter
  /// As ``lostBefore``, but the change is still under way: readers do not see it yet, and it is
  /// performed before the next change of any node, or by ``LogMemory/performPending()``.
  case lostUnderway
  /// A read does not see the newest batches, so many of them. No effect on other operations.
  case delayed(batches: UInt64)
}

/// Chooses the fault of an operation; `nil` for none. Called once for each operation, in order.
public typealias LogFaultSource = @Sendable (LogOperation) -> LogFault?
