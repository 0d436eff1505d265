/// A leased ledger whose copy a server reads from while another node leads.
package protocol FollowedLedger: LeasedLedger {
  /// Lets a server see what the other nodes commit, from when the copy is current and another node
  /// is known to lead; `nil` ends that.
  func follow(with server: (any CopyServer)?)

  /// Lets the node tell the others how its server serves clients. Without it, or when `service`
  /// returns `nil`, it does not tell.
  ///
  /// - Parameter service: Called on any thread, often; must not wait.
  func tell(of service: @escaping @Sendable () -> NodeService?)

  /// Applies batches that ``CopyServer/take(_:)`` was given to the copy.
  func apply(_ batches: [EmbeddedLedger.PlacedBatch]) throws(LedgerError)

  /// Returns once the copy holds everything that the log held at the call.
  ///
  /// - Throws: ``LedgerError/unavailable(reason:)`` when the log is not reached, or the node does
  ///   not follow any more.
  func catchUp() async throws(LedgerError)

  /// Waits until this node begins or ends a term, another node than `standing` says is known to
  /// lead, the ledger is over, or the task cancelled.
  ///
  /// - Returns: The standing that differs; `nil` once the ledger is over or the task cancelled.
  func changeOfLeader(after standing: LedgerStanding) async -> LedgerStanding?
}

/// The service of a node's server to clients at one moment.
package struct NodeService: Hashable, Sendable {
  /// True while the server serves clients.
  package var isServing: Bool
  /// The open links of the server.
  package var links: Int

  /// A service.
  package init(isServing: Bool, links: Int) {
    self.isServing = isServing
    self.links = links
  }
}

/// A server that answers reads from a node's copy while another node leads.
///
/// The calls come one after the other, and while the server takes part the copy changes by them
/// alone.
package protocol CopyServer: Sendable {
  /// True while the server takes part in the changes of the copy.
  var isFollowing: Bool { get async }

  /// Another node leads: the server ends what it did in a term of its own.
  func prepareToFollow() async

  /// The copy is current: the server reads what it has to know of it.
  ///
  /// - Returns: Whether it takes part in the changes that follow.
  func beginFollowing() async -> Bool

  /// Other nodes have committed: the server applies the batches to the copy, and tells its clients.
  ///
  /// - Returns: False when it has not applied them, and takes no part any more.
  func take(_ batches: [EmbeddedLedger.PlacedBatch]) async -> Bool

  /// The copy is not current any more, or of no use.
  func endFollowing(_ reason: String) async
}
