import TernLedger
import TernSync

extension ServerReport {
  /// Reads the parts of a server on its executor.
  ///
  /// - Parameter statistics: The figures of the ledger; `nil` where they are not told.
  static func read<R: Sendable>(
    _ server: isolated TernServer, _ statistics: LedgerStatistics? = nil,
    _ body: @Sendable (ServerReport) -> R
  ) -> R {
    let busyTime =
      server.isDraining || !server.inbox.isEmpty ? server.uptime() - server.lastBatch : 0
    let readiness = ServerReadiness(
      server.batches.machine.diskSpace, busyTime, isClosed: server.options.farewell != nil,
      isDraining: server.surroundings.isDraining, isStopped: server.end != nil,
      standby: server.standby == nil ? nil : (server.ledger as? any LeasedLedger)?.standing,
      following: server.part.copy?.standing)
    return body(
      ServerReport(
        server: .init(
          batches: server.batches, links: server.links, memory: server.memory,
          exports: server.exports, budget: server.budget, metrics: server.metrics,
          surroundings: server.surroundings, readiness: readiness, uptime: server.uptime(),
          now: server.ambient.millisecondsSinceEpoch(),
          waiting: (server.inbox.count, server.requests.count),
          caches: CacheFigures.all(of: server.ledger, server.batches.parts.authenticator)),
        ledger: statistics))
  }
}
