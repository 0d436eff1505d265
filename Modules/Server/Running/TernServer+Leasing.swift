package import TernLedger

extension TernServer {
  /// The server's ledger if nodes share it.
  package nonisolated var leasedLedger: (any LeasedLedger)? { ledger as? any LeasedLedger }
}
