import TernCommitLog
import TernCore
import TernSharedLedger

/// The state of a cluster, with which of its nodes live.
struct ClusterReport: Sendable {
  let shard: ShardID
  let view: ClusterView
  private let alive: Swift.Set<String>

  /// The time in which a node that lives says something, however busy its machine is.
  private static let patience = Duration.seconds(8)

  /// Looks at shards until all nodes have said something, for a limited time.
  static func all(
    of shards: [ShardID], in log: any CommitLog
  ) async throws(CommitLogError) -> [ClusterReport] {
    var first: [ClusterView] = []
    for shard in shards { first.append(try await ClusterView(of: shard, in: log)) }
    let end = ContinuousClock.now.advanced(by: patience)
    while true {
      // A cancelled command ends here all the same.
      try? await ContinuousClock().sleep(for: .milliseconds(250))
      var reports: [ClusterReport] = []
      for (shard, before) in zip(shards, first) {
        let view = try await ClusterView(of: shard, in: log)
        reports.append(ClusterReport(shard: shard, view: view, alive: view.alive(since: before)))
      }
      let isComplete = reports.allSatisfy { $0.alive.count == $0.view.nodes.count }
      if isComplete || Task.isCancelled || ContinuousClock.now >= end {
        return reports.sorted { $0.shard < $1.shard }
      }
    }
  }

  /// The reports for an operator, each behind the number of its shard when there are several.
  static func lines(_ reports: [ClusterReport]) -> [String] {
    if reports.count == 1 { return reports[0].lines }
    return reports.flatMap { ["shard \($0.shard)"] + $0.lines }
  }

  /// The reports as one line: the object of the one shard, or a list of those of all.
  static func json(_ reports: [ClusterReport]) -> String {
    if reports.count == 1 { return jsonLine(reports[0].members) }
    return jsonLine([
      "shards": .array(
        reports.map { report in
          .object(report.members.map { .init($0.key, $0.value) })
        })
    ])
  }

  var hasLeader: Bool { view.state.leader.map { alive.contains($0.node) } ?? false }

  /// True when another node than the leader lives and is nearly current.
  var hasSuccessor: Bool {
    view.nodes.contains {
      $0.id != view.state.leader?.node && alive.contains($0.id) && $0.card.isFollowing
        && view.lag(of: $0) <= SharedLedgerLimits.electableLag
    }
  }

  private func role(of node: ClusterView.Node) -> String {
    guard alive.contains(node.id) else { return "silent" }
    // The lease says who leads; a node may have said that it does before it lost it.
    if node.id == view.state.leader?.node { return "leader" }
    return node.card.role == .leader ? "standby" : node.card.role.rawValue
  }

  private var lines: [String] {
    let state = view.state
    let leader = state.leader.map { $0.address.isEmpty ? $0.node : $0.address } ?? "none"
    let rows = view.nodes.map { node in
      [
        node.card.address.isEmpty ? node.id : node.card.address, role(of: node),
        "\(node.card.position)", "\(view.lag(of: node))", node.card.links.map { "\($0)" } ?? "-",
        node.card.version,
      ]
    }
    return [
      "leader: \(leader), epoch \(state.epoch)",
      "log: \(state.position) batches, kept from \(state.oldest) on, checkpoint at \(state.mark)",
    ] + TextTable.lines([["NODE", "ROLE", "POSITION", "LAG", "LINKS", "VERSION"]] + rows)
  }

  private var members: KeyValuePairs<String, JSONValue> {
    let state = view.state
    let nodes = view.nodes.map { node in
      JSONValue.object([
        .init("id", .string(node.id)), .init("address", .string(node.card.address)),
        .init("role", .string(role(of: node))),
        .init("position", number(node.card.position.number)),
        .init("lag", number(view.lag(of: node))),
        .init("links", node.card.links.map { .integer(Int64(clamping: $0)) } ?? .null),
        .init("version", .string(node.card.version)),
      ])
    }
    return [
      "shard": number(UInt64(shard.number)),
      "leader": state.leader.map { .string($0.address.isEmpty ? $0.node : $0.address) } ?? .null,
      "epoch": number(state.epoch.number), "position": number(state.position.number),
      "oldest": number(state.oldest.number), "checkpoint": number(state.mark.number),
      "nodes": .array(nodes),
    ]
  }

  private func number(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
}
