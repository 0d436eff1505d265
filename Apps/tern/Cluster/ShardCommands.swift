import ArgumentParser
import TernAssembly
import TernCommitLog
import TernCore
import TernLedger
import TernLogPostgres
import TernServerAssembly
import TernSharedLedger
import TernStandard
import TernStorage
import TernSync

/// `tern import-shard`: from one server to several.
struct ImportShard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import-shard",
    abstract: "Move the store of a stopped server into an empty shard of a shared log.",
    discussion: """
      Data, rules, settings, revocations, onDisconnect operations and the outcomes of writes move \
      with their versions, so clients go on where they were, at `tern serve --ledger` of the same \
      log. Every row is read back and compared before a node can begin. When it ends early, no node \
      begins; run it again.

      The store stays as it is. Do not start its server again once nodes serve the shard. No node of \
      the shard may run meanwhile.
      """)

  @OptionGroup(title: "The shard") var shard: ShardFlags
  @OptionGroup(title: "The stopped server") var store: StoreFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    try await shard.transfer(store) { transfer, configuration in
      let folder = try configuration.requireServerStore()
      let source = try await Assembler(catalog: .standard).serverStore(from: configuration)
      defer { source.close() }
      let progress = TransferProgress()
      defer { progress.end() }
      let summary = try await transfer.importStore(source) { progress.show($0) }
      progress.end()
      output.print(
        "imported version \(summary.version) of \(folder): \(summary.rows) rows, "
          + "\(summary.bytes) bytes",
        summary.members(at: folder))
    }
  }
}

/// `tern export-shard`: from several servers to one.
struct ExportShard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-shard",
    abstract: "Move a shard of a shared log into the store of a server by itself.",
    discussion: """
      The way back from `tern import-shard`: everything moves with its versions, and every row is \
      compared before the store appears. There must be no store yet. All nodes of the shard must be \
      stopped; one that leads is noticed. The shard stays as it is: do not start its nodes again once \
      the server serves.
      """)

  @OptionGroup(title: "The shard") var shard: ShardFlags
  @OptionGroup(title: "The new server") var store: StoreFlags
  @OptionGroup var output: JSONFlag

  private static let staging = "server.exporting"

  func run() async throws {
    try await shard.transfer(store) { transfer, configuration in
      guard configuration.storage.members["kind"]?.stringValue != "memory" else {
        throw Failure(.usage, "a store in memory ends with this command; name sqlite or lmdb")
      }
      let folder = StoreFolder(
        path: configuration.storage.members["path"]?.stringValue ?? "tern-data")
      guard !folder.isOccupied else {
        throw Failure(
          .usage, "there is a server's store in \(folder.server) already; name another --path")
      }
      folder.discard(Self.staging)
      defer { folder.discard(Self.staging) }
      let summary = try await copy(transfer, configuration)
      try folder.publish(Self.staging)
      output.print(
        "exported version \(summary.version) to \(folder.server): \(summary.rows) rows, "
          + "\(summary.bytes) bytes",
        summary.members(at: folder.server))
    }
  }

  private func copy(
    _ transfer: ShardTransfer, _ configuration: Configuration
  ) async throws -> ShardTransfer.Summary {
    let target = try await Assembler(catalog: .standard).store(
      in: Self.staging, from: configuration)
    defer { target.close() }
    let progress = TransferProgress()
    defer { progress.end() }
    return try await transfer.exportStore(to: target) { progress.show($0) }
  }
}

/// The place of a shard.
struct ShardFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The log in PostgreSQL, as postgres://host/database; without it, that of the configuration.",
      valueName: "log"))
  var ledger: String?

  @Option(help: ArgumentHelp("The number of the shard in the log.", valueName: "number"))
  var shard: UInt32?

  /// The most time that one operation of the log takes: one may remove all rows of an import that
  /// did not end.
  private static let operationTimeout = Duration.seconds(120)

  /// The flags given for the section "ledger".
  private var given: [(section: String, key: String, text: String)] {
    [("log", ledger), ("shard", shard.map(String.init))].compactMap { key, text in
      text.map { ("ledger", key, $0) }
    }
  }

  /// Lends a transfer of the shard, and what else is configured.
  func transfer(
    _ store: StoreFlags,
    _ body: (ShardTransfer, Configuration) async throws -> Void
  ) async throws {
    do {
      let configuration = try Configuration.reading(
        file: store.config, flags: store.given + given)
      let (address, shard) = try configuration.sharedLog()
      let uptime = RuntimeEnvironment.system.stopwatch()
      let log = PostgresLog(
        PostgresOptions(connection: address, operationTimeout: Self.operationTimeout),
        clock: ContinuousClock(), uptime: uptime)
      let transfer = ShardTransfer(
        log: log, shard: shard,
        environment: NodeEnvironment(
          clock: ContinuousClock(), uptime: uptime,
          randomBits: { RuntimeEnvironment.system.randomBits() }))
      do {
        try await body(transfer, configuration)
        await log.close()
      } catch {
        await log.close()
        throw error
      }
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch {
      throw Failure(about: error)
    }
  }
}

extension Failure {
  init(about error: ShardTransferError) {
    switch error {
    case .log(.unavailable), .log(.unknownOutcome): self.init(.unreachable, error.description)
    case .log(.denied), .inUse: self.init(.refused, error.description)
    case .emptyStore, .emptyShard: self.init(.notFound, error.description)
    case .storeNotEmpty, .shardNotEmpty, .ledger(.foreignStore):
      self.init(.usage, error.description)
    case .log, .ledger, .unfinishedImport, .differs: self.init(.failed, error.description)
    }
  }
}

/// The progress line of a transfer.
private final class TransferProgress {
  private var line = ProgressLine()

  func show(_ progress: ShardTransfer.Progress) {
    switch progress {
    case .copied(let rows): line.show("copied", rows, of: nil, unit: "rows")
    case .compared(let rows): line.show("compared", rows, of: nil, unit: "rows")
    }
  }

  func end() { line.end() }
}

extension ShardTransfer.Summary {
  fileprivate func members(at folder: String) -> KeyValuePairs<String, JSONValue> {
    [
      "folder": .string(folder), "version": .integer(Int64(clamping: version)),
      "rows": .integer(Int64(rows)), "bytes": .integer(Int64(bytes)),
      "position": .integer(Int64(clamping: position.number)),
    ]
  }
}
