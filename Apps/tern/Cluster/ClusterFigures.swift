import TernLedger
import TernServer
import TernSharedLedger
import TernTransportTCP

/// The figures of a node of a cluster, beside those of its server.
enum ClusterFigures {
  /// Lets a server's figures tell of its node.
  ///
  /// - Parameter relay: The relay of the node; `nil` without one.
  static func begin(at server: TernServer, _ relay: NodeRelay?) {
    guard let ledger = server.leasedLedger as? SharedLedger else { return }
    server.surroundings.moreFigures = { text in
      add(ledger.standing, ledger.figures, to: &text)
      if let relay { add(relay.figures, to: &text) }
    }
  }

  private static func add(
    _ standing: LedgerStanding, _ figures: NodeFigures, to text: inout MetricsText
  ) {
    text.add(
      .gauge, "tern_cluster_leading", "1 while this node leads.", standing.isLeading ? 1 : 0)
    text.add(
      .gauge, "tern_cluster_lag_batches", "Batches of the log that the node's copy lacks.",
      Int(clamping: standing.lag))
    text.add(
      .counter, "tern_cluster_terms_total", "Times that this node took the lease.", figures.terms)
    text.add(
      .counter, "tern_cluster_appends_total", "Appends to the log.", by: "outcome",
      [
        ("appended", figures.appended), ("fenced", figures.fenced), ("behind", figures.behind),
        ("unknown", figures.unknown),
      ])
    text.add(
      .counter, "tern_cluster_retries_total", "Appends that were tried again.", figures.retries)
    text.add(
      .counter, "tern_cluster_checkpoint_failures_total",
      "Attempts to advance the log's checkpoint that failed.", figures.failedCheckpoints)
  }

  private static func add(_ figures: NodeRelay.Figures, to text: inout MetricsText) {
    text.add(
      .gauge, "tern_relay_connections", "Connections that are relayed to the node that leads.",
      figures.open)
    text.add(
      .gauge, "tern_relay_held", "Connections that wait for a node that leads.", figures.held)
    text.add(
      .gauge, "tern_relay_upstream",
      "Links of this node to the one that leads, on behalf of clients.", figures.upstream)
    text.add(
      .counter, "tern_relay_upstream_total",
      "Links to the node that leads that were to be opened on behalf of clients.", by: "outcome",
      [
        ("opened", figures.upstreamOpened), ("unreachable", figures.upstreamUnreachable),
        ("refused", figures.upstreamRefused),
      ])
    text.add(
      .counter, "tern_relay_connections_total", "Connections between clients and other nodes.",
      by: "outcome",
      [
        ("relayed", figures.relayed), ("accepted", figures.accepted),
        ("unreachable", figures.unreachable), ("refused", figures.refused),
        ("repeated", figures.repeated), ("disbelieved", figures.disbelieved),
      ])
  }
}
