import TernLedger
import TernSync

extension ServerReport {
  /// Reads the parts of a server on its executor.
  ///
  /// - Parameter outside: The figures that were read before, beside the executor.
  static func read<R: Sendable>(
    _ server: isolated TernServer, _ outside: Outside = Outside(),
    _ body: @Sendable (ServerReport) -> R
  ) -> R {
    let busyTime =
      server.isDraining || !server.inbox.isEmpty ? server.uptime() - server.lastBatch : 0
    var readiness = ServerReadiness(
      server.batches.machine.diskSpace, busyTime, isClosed: server.options.farewell != nil,
      isDraining: server.surroundings.isDraining, isStopped: server.end != nil,
      standby: server.standby == nil ? nil : (server.ledger as? any LeasedLedger)?.standing,
      following: server.part.copy?.standing,
      unreached: server.part.forwarder?.reach.failingTime(at: server.uptime()))
    readiness.trouble = server.leasedLedger?.standing.trouble
    return body(
      ServerReport(
        server: .init(
          batches: server.batches, links: server.links, memory: server.memory,
          exports: server.exports, budget: server.budget, metrics: server.metrics,
          surroundings: server.surroundings, readiness: readiness, uptime: server.uptime(),
          now: server.ambient.millisecondsSinceEpoch(),
          waiting: (server.inbox.count, server.requests.count),
          caches: CacheFigures.all(of: server.ledger, server.batches.parts.authenticator)),
        outside: outside))
  }

  /// The figures that are not the server's own. Reading them asks the system and waits for locks,
  /// which the executor is spared.
  struct Outside: Sendable {
    /// `nil` where the ledger tells none.
    var ledger: LedgerStatistics?
    var system = SystemFigures()

    @concurrent static func read(_ server: TernServer) async -> Outside {
      let statistics = try? await server.ledger.statistics()
      return Outside(ledger: statistics ?? nil, system: server.surroundings.figures)
    }
  }
}
