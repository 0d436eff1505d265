import ArgumentParser
import TernAssembly
import TernCommitLog
import TernCore
import TernLogPostgres
import TernSharedLedger
import TernSync

/// `tern cluster`: the nodes over one log.
struct ClusterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster",
    abstract: "Look at the nodes that share a log in PostgreSQL, and steer them.",
    discussion: "Asks the log itself, so it works whichever nodes do.",
    subcommands: [ShowNodes.self, StepDown.self], defaultSubcommand: ShowNodes.self)

  /// `tern cluster status`.
  struct ShowNodes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Print the nodes, their parts, how far their copies are, and the log.",
      discussion:
        "Exits with 1 when no node leads. Takes three seconds, in which living nodes speak.")

    @OptionGroup var cluster: ClusterFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let report = try await cluster.use { log, shard throws(CommitLogError) in
        try await ClusterReport(of: shard, in: log)
      }
      if output.json {
        printLine(report.json)
      } else {
        for line in report.lines { printLine(line) }
      }
      if !report.hasLeader { throw Failure(.failed, "no node leads") }
    }
  }

  /// `tern cluster step-down`.
  struct StepDown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "step-down",
      abstract: "Let the node that leads hand over to another one.",
      discussion: """
        It finishes what is under way and gives its lease back; clients connect again, and lose \
        nothing. Refused when no other node lives whose copy is nearly current.
        """)

    @OptionGroup var cluster: ClusterFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let result = try await cluster.use { log, shard throws(CommitLogError) in
        try await Self.handOver(of: shard, in: log)
      }
      let leader = try result.get()
      output.print("\(leader) leads", ["leader": .string(leader)])
    }

    /// The time that the leader and its successor may take.
    private static let patience = Duration.seconds(20)

    private static func handOver(
      of shard: ShardID, in log: any CommitLog
    ) async throws(CommitLogError) -> Result<String, Failure> {
      let report = try await ClusterReport(of: shard, in: log)
      guard let leader = report.view.state.leader else {
        return .failure(Failure(.failed, "no node leads"))
      }
      guard report.hasSuccessor else {
        return .failure(
          Failure(.refused, "no other node is current; \(name(of: leader)) goes on leading"))
      }
      let requester = "operator#\(String(RuntimeEnvironment.system.randomBits(), radix: 16))"
      try await report.view.askLeaderToStepDown(of: shard, in: log, as: requester)
      let end = ContinuousClock.now.advanced(by: patience)
      while ContinuousClock.now < end {
        let state = try await log.open(shard)
        if state.epoch > report.view.state.epoch, let next = state.leader {
          return .success(name(of: next))
        }
        do { try await ContinuousClock().sleep(for: .milliseconds(50)) } catch { break }
      }
      try await ClusterView.withdrawRequest(of: shard, in: log, as: requester)
      return .failure(Failure(.failed, "\(name(of: leader)) has not handed over"))
    }

    private static func name(of lease: Lease) -> String {
      lease.address.isEmpty ? lease.node : lease.address
    }
  }
}

/// The log that a command about a cluster asks.
struct ClusterFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The log in PostgreSQL, as postgres://host/database; else that of the configuration.",
      valueName: "log"))
  var ledger: String?

  @Option(help: ArgumentHelp("A configuration file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("The number of the shard in the log.", valueName: "number"))
  var shard: UInt32?

  /// Lends the log of the configuration, and closes it.
  func use<R: Sendable>(
    _ body: (any CommitLog, ShardID) async throws(CommitLogError) -> R
  ) async throws(Failure) -> R {
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Configuration.reading(
        file: config,
        flags: [("log", ledger), ("shard", shard.map(String.init))].compactMap { key, text in
          text.map { ("ledger", key, $0) }
        })
    } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
    let (address, shard) = try configuration.sharedLog()
    let log = PostgresLog(
      PostgresOptions(
        connection: address, connectTimeout: .seconds(5), operationTimeout: .seconds(5)),
      clock: ContinuousClock(), uptime: RuntimeEnvironment.system.stopwatch())
    let result: Result<R, CommitLogError>
    do throws(CommitLogError) { result = .success(try await body(log, shard)) } catch {
      result = .failure(error)
    }
    await log.close()
    switch result {
    case .success(let value): return value
    case .failure(.unavailable(let reason)): throw Failure(.unreachable, "the log: \(reason)")
    case .failure(.denied(let reason)): throw Failure(.refused, "the log: \(reason)")
    case .failure(let error): throw Failure(.failed, error.description)
    }
  }
}

extension Configuration {
  /// Returns the address of the shared log that is configured, and the shard.
  func sharedLog() throws(Failure) -> (address: String, shard: ShardID) {
    let members = ledger.members
    guard let address = members["log"]?.stringValue else {
      throw Failure(.usage, "which log? give --ledger, or --config with a section \"ledger\"")
    }
    guard let shard = UInt32(members["shard"]?.canonicalText ?? "0") else {
      throw Failure(.usage, "the shard of the configuration is no number")
    }
    return (address, ShardID(shard))
  }
}

/// The state of a cluster, with which of its nodes live.
struct ClusterReport: Sendable {
  let view: ClusterView
  private let alive: Swift.Set<String>

  /// Looks twice, for as long as nodes that live are silent at the most.
  init(of shard: ShardID, in log: any CommitLog) async throws(CommitLogError) {
    let first = try await ClusterView(of: shard, in: log)
    // A cancelled command ends here all the same.
    try? await ContinuousClock().sleep(for: SharedLedgerOptions.longestSilence)
    view = try await ClusterView(of: shard, in: log)
    alive = view.alive(since: first)
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

  var lines: [String] {
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

  var json: String {
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
    return jsonLine([
      "leader": state.leader.map { .string($0.address.isEmpty ? $0.node : $0.address) } ?? .null,
      "epoch": number(state.epoch.number), "position": number(state.position.number),
      "oldest": number(state.oldest.number), "checkpoint": number(state.mark.number),
      "nodes": .array(nodes),
    ])
  }

  private func number(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
}
