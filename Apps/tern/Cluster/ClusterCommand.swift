import ArgumentParser
import TernAssembly
import TernCommitLog
import TernCore
import TernLedger
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
      discussion: """
        Tells all shards of the configuration, or the one that is named. Exits with 1 when no node \
        leads one of them. Takes until every node has spoken, eight seconds at most.
        """)

    @OptionGroup var cluster: ClusterFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let reports = try await cluster.useShards { log, shards throws(CommitLogError) in
        try await ClusterReport.all(of: shards, in: log)
      }
      if output.json {
        printLine(ClusterReport.json(reports))
      } else {
        for line in ClusterReport.lines(reports) { printLine(line) }
      }
      for report in reports where !report.hasLeader {
        let shard = reports.count > 1 ? " shard \(report.shard)" : ""
        throw Failure(.failed, "no node leads\(shard)")
      }
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
      let report = try await ClusterReport.all(of: [shard], in: log)[0]
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

  /// Lends the log of the configuration with its shard, and closes it.
  func use<R: Sendable>(
    _ body: (any CommitLog, ShardID) async throws(CommitLogError) -> R
  ) async throws(Failure) -> R {
    try await useShards { log, shards throws(CommitLogError) in try await body(log, shards[0]) }
  }

  /// Lends the log of the configuration with its shards, and closes it: the one that is named, or
  /// all of its table behind the node's own.
  func useShards<R: Sendable>(
    _ body: (any CommitLog, [ShardID]) async throws(CommitLogError) -> R
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
    let (address, own) = try configuration.sharedLog()
    let others = shard == nil ? configuration.otherShards(than: own) : []
    let log = PostgresLog(
      PostgresOptions(
        connection: address, connectTimeout: .seconds(5), operationTimeout: .seconds(20)),
      clock: ContinuousClock(), uptime: RuntimeEnvironment.system.stopwatch())
    let result: Result<R, CommitLogError>
    do throws(CommitLogError) { result = .success(try await body(log, [own] + others)) } catch {
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

  /// The shards that the table of the configuration names, and shard 0, in order.
  fileprivate func otherShards(than own: ShardID) -> [ShardID] {
    guard case .object(let table)? = ledger.members["shards"], !table.isEmpty else { return [] }
    let named = Swift.Set(table.keys.compactMap { UInt32($0) }).union([ShardTable.rest])
    return named.sorted().map { ShardID($0) }.filter { $0 != own }
  }
}
