/// A ledger that several nodes share and one of them, the leader, commits to.
///
/// Commits succeed between ``beginTerm()`` and the end of that term alone. The server of a node
/// that follows serves no clients; it keeps a copy that is current.
public protocol LeasedLedger: Ledger {
  /// Waits until this node leads and its copy holds everything that was committed, and begins its
  /// term. Between the return and the next call the node's copy changes by its own commits alone.
  ///
  /// - Throws: The reason why this node can never lead again; ``LedgerError/unavailable(reason:)``
  ///   once the ledger is closed or the task cancelled.
  func beginTerm() async throws(LedgerError)

  /// Waits until the term that was begun last is over, or the task is cancelled.
  ///
  /// - Returns: The reason, for the log of an operator.
  func endOfTerm() async -> String

  /// The node's part at present.
  var standing: LedgerStanding { get }
}

/// A node's part in a shared ledger at one moment.
public struct LedgerStanding: Hashable, Sendable {
  /// True during a term of this node.
  public var isLeading: Bool
  /// The reason why the node serves no clients, in words for an operator; empty while it leads.
  public var reason: String
  /// The position up to which this node's copy holds the log.
  public var position: UInt64
  /// The newest position of the log that the node knows of.
  public var head: UInt64
  /// The address of the leader; `nil` when no other node is known to lead.
  public var leader: String?
  /// The milliseconds since this node's copy was known to hold all that the log held; `nil` while
  /// it leads, and before that was so.
  public var copyAge: Int64?
  /// True from when the node has ended its term for another one until that one is known to lead,
  /// and for a second at least.
  public var isHandingOver: Bool
  /// The reason why this node needs its operator: its checkpoint does not advance, and the log
  /// grows until it does, or its clock is off. `nil` when there is none.
  public var trouble: String?
  /// The milliseconds by which the shared log's clock is ahead of this machine's, as the node found
  /// out last; `nil` while it does not know.
  public var clockOffset: Int64?

  /// A node's part.
  public init(
    isLeading: Bool, reason: String, position: UInt64, head: UInt64, leader: String?,
    copyAge: Int64? = nil, isHandingOver: Bool = false, trouble: String? = nil,
    clockOffset: Int64? = nil
  ) {
    self.isLeading = isLeading
    self.reason = reason
    self.position = position
    self.head = head
    self.leader = leader
    self.copyAge = copyAge
    self.isHandingOver = isHandingOver
    self.trouble = trouble
    self.clockOffset = clockOffset
  }

  /// The most milliseconds by which the clock of a node may differ from that of the log. Tokens and
  /// the words of other nodes about their clients are judged by it.
  package static let clockTolerance: Int64 = 5_000

  /// ``clockOffset``, when it is more than a node may have.
  package var clockError: Int64? {
    clockOffset.flatMap { abs($0) > Self.clockTolerance ? $0 : nil }
  }

  /// The batches that the copy lacks, as far as the node knows.
  public var lag: UInt64 { head > position ? head - position : 0 }
}
