package import TernLedger

extension TernServer {
  /// True while clients are served from the node's copy, and another node leads.
  package var isFollowing: Bool { part.copy != nil }

  /// The server's ledger if nodes share it.
  package nonisolated var leasedLedger: (any LeasedLedger)? { ledger as? any LeasedLedger }
}
