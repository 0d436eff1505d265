import ArgumentParser
import Dispatch
import Logging
import TernAssembly
import TernClient
import TernGateway
import TernQuery
import TernSecurity
import TernServer
import TernServerAssembly
import TernSharedLedger
import TernStandard
import TernTokens
import TernTransport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern serve`: the server.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Run the server until SIGINT or SIGTERM; SIGHUP reads rules, keys and certificate again.",
    discussion: """
      Without arguments: SQLite in ./tern-data, TCP on 127.0.0.1:9000. A configuration file is \
      followed by the environment (TERN_STORAGE_KIND=lmdb) and by these flags. Without rules \
      nothing is allowed; with --dev everything is, to clients on this machine. The rules file is \
      database.rules.json in this folder, or what --rules names; when it changes, the new rules \
      are in force a moment later. Rules for documents are in firestore.rules in this folder, or in \
      what --document-rules names, and are followed alike; either may be a firebase.json that names \
      them, for each database if wanted. With --dev, firebase.json of this folder says where the rules \
      are and where to listen, as it does for firebase emulators:start. Clients of the Firebase Realtime Database come to the same \
      port, over WebSocket and REST. Without rules of their own, documents are open to administrators \
      only, wherever they connect from; with --dev to clients on this machine. It ends with code 74 \
      when the store fails while it runs, as after a failed sync: started again, it reads what is \
      durable.
      """)

  @OptionGroup
  var store: StoreFlags

  @Option(help: ArgumentHelp("The address to listen at.", valueName: "host"))
  var host: String?

  @Option(help: ArgumentHelp("The port; 0 takes a free one.", valueName: "port"))
  var port: Int?

  @Option(help: ArgumentHelp("Security rules: a JSON file with comments.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp("Security rules for documents: a firestore.rules.", valueName: "file"))
  var documentRules: String?

  @Flag(
    help: ArgumentHelp(
      "Reject queries of documents that need an index in Cloud Firestore and have none in firestore.indexes.json, or in the files that firebase.json names."
    ))
  var requireIndexes = false

  @Option(
    help: ArgumentHelp("Serve over TLS with this certificate, in PEM.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("The private key of the certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Share one ledger with other nodes: the log in PostgreSQL, as postgres://host/database. The node that leads serves, the others stand by.",
      valueName: "log"))
  var ledger: String?

  @Option(
    help: ArgumentHelp(
      "The address at which clients reach this node, for the others to tell.", valueName: "address")
  )
  var nodeAddress: String?

  @Option(
    help: ArgumentHelp(
      "A secret that all nodes of the cluster share, 32 bytes or more: with it a node that stands by relays its clients to the one that leads.",
      valueName: "file"))
  var clusterSecret: String?

  @OptionGroup(title: "Tokens")
  var tokens: TokenFlags

  @OptionGroup(title: "Limits")
  var limits: LimitFlags

  @OptionGroup(title: "Farewell")
  var farewell: ServiceNoticeFlags

  @Flag(help: "Listen at an address other machines can reach, and allow every client everything.")
  var insecure = false

  @Flag(
    help: "For development, on this machine: without rules everything is allowed; owner is admin.")
  var dev = false

  @Flag(
    help:
      "Check configuration, rules, keys, store and ports, say what is wrong, and end. Beside a running server all but its store and ports."
  )
  var check = false

  func run() async throws {
    let project = dev ? try FirebaseProject.here() : FirebaseProject()
    let isProject = rules.map(FirebaseProject.isOne) ?? false
    let treeRules = try isProject ? FirebaseProject(at: rules ?? "").rules : rules
    let access = try ServeAccess(
      rules: treeRules ?? project.rules,
      documentFiles: try DocumentRulesFiles.find(documentRules, project),
      isInsecure: insecure, isDevelopment: dev)
    let indexes = requireIndexes ? try DocumentIndexFiles.load(documentRules, project) : nil
    let assembler = Assembler(catalog: .serving)
    let configuration: Configuration
    do throws(ConfigurationError) { configuration = try self.configuration(project) } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
    let operating: OperatorOptions
    do throws(ConfigurationError) { operating = try OperatorOptions(of: configuration) } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
    if check { return try await ServeCheck(assembler, configuration, operating, access).run() }
    operating.applyLog()
    let failure: String?
    do throws(ServerAssemblyError) {
      let tokens = try await assembler.authenticator(from: configuration)
      failure = try await serve(
        assembler, configuration, operating, access, indexes, tokens.authenticator)
      await tokens.close()
    } catch {
      throw Failure(about: error).advising(wayOut(of: error, configuration))
    }
    if let failure { throw Failure(.storeFailed, "the store failed while serving: \(failure)") }
  }

  /// Returns the remedy for a store with corrupt records.
  private func wayOut(of error: ServerAssemblyError, _ configuration: Configuration) -> String? {
    guard error.isDamagedLedger else { return nil }
    let members = configuration.storage.members
    // A node's copy holds nothing that the log does not.
    if configuration.ledger.members["kind"]?.stringValue == "shared" {
      let folder = members["path"]?.stringValue ?? "tern-data"
      return "or delete the node's copy, which is built again: \(folder)/server"
    }
    let flags = [("kind", "--storage"), ("path", "--path")].compactMap { key, flag in
      members[key]?.stringValue.map { " \(flag) \($0)" }
    }
    return "or see what it can go on without: tern salvage" + flags.joined()
  }

  private func configuration(
    _ project: FirebaseProject
  ) throws(ConfigurationError) -> Configuration {
    let environment = ProcessInfo.processInfo.environment
    var configuration = try Configuration.reading(
      file: store.config, flags: flags(environment, project))
    try tokens.apply(to: &configuration)
    if tlsCert != nil || tlsKey != nil {
      try configuration.askForTLS(["certificate": tlsCert, "key": tlsKey])
    }
    try limits.apply(to: &configuration)
    try configuration.refuseLoopback()
    try checkHost(of: configuration)
    try checkAdminHost(of: configuration)
    return configuration
  }

  /// Serves until the program is asked to stop.
  ///
  /// - Returns: The reason the server ended by itself; `nil` when it was asked to.
  private func serve(
    _ assembler: Assembler, _ configuration: Configuration, _ operating: OperatorOptions,
    _ access: ServeAccess, _ indexes: DocumentIndexCatalogs?, _ tokens: (any Authenticator)?
  ) async throws(ServerAssemblyError) -> String? {
    let signals = StopSignals()
    HangUpSignal.ignoreIt()
    let failed = Promise<ServerEnd>()
    let certificate = ServedCertificate(configuration)
    let relay: ClusterRelay?
    do throws(Failure) { relay = try ClusterRelay(configuration) } catch {
      throw .plugin(section: "ledger", kind: "shared", reason: error.message)
    }
    let openFiles = OpenFiles.raiseLimit()
    SystemAllocator.returnLargePieces()
    var limits = ServerLimits()
    limits.memoryBytes = MachineMemory.standardLimit()
    var options = ServerOptions(limits: limits, farewell: farewell.farewell)
    options.requiredIndexes = indexes
    let server = try await assembler.server(
      from: configuration, authorizer: access.authorizer,
      documentAuthorizer: access.documentAuthorizer,
      authenticator: authenticator(others: tokens),
      options: options, isDevelopment: dev,
      report: { [news = ServerNews()] event in
        news.take(event)
        if case .ended(let error) = event { failed.resolve(.failure("\(error)")) }
      },
      prepare: { server, transport in
        certificate.use(transport)
        access.recent.use(server)
        OperatedServer.prepare(server, transport, operating)
        ClusterFigures.begin(at: server, await relay?.begin(at: server, transport))
      })
    let operated: OperatedServer
    do throws(TransportError) {
      operated = try await OperatedServer(server, operating) {
        try OperatorReading(self.configuration(dev ? FirebaseProject.here() : FirebaseProject()))
      }
    } catch {
      await server.stop()
      throw .parts(.transport(error))
    }
    let watch = certificate.follow()
    defer { watch?.stop() }
    let reloading = follow(access, into: server.server)
    let memory = server.server.memoryBytes >> 20
    printLine("limits: \(memory) MiB of memory for all clients together, \(openFiles) open files")
    if let address = operated.adminAddress {
      printLine("for operators: http://\(address)/-/status")
    }
    greet(server, configuration, access, hasKeys: tokens != nil)
    operated.tellReady()
    let end = await firstEnd(signals, failed)
    for task in reloading { task.cancel() }
    await operated.stop()
    relay?.end()
    // Both may be pipes without a reader; the end does not wait for them for long.
    LogWriter.standardError.flush(within: .milliseconds(Int(lastWordsMilliseconds)))
    if case .failure(let reason) = end { return reason }
    writeBytes(Array("stopped\n".utf8), to: 1, within: lastWordsMilliseconds)
    return nil
  }

  /// Waits until the program is asked to stop, or its server has ended by itself.
  private func firstEnd(_ signals: StopSignals, _ failed: Promise<ServerEnd>) async -> ServerEnd {
    await withTaskGroup(of: ServerEnd.self) { group in
      group.addTask {
        await signals.wait()
        return .signal
      }
      group.addTask { await failed.value(ifCancelled: .signal) }
      defer { group.cancelAll() }
      return await group.next() ?? .signal
    }
  }

  /// Brings what is written into the rules files in force while the server runs.
  private func follow(_ access: ServeAccess, into server: TernServer) -> [Task<Void, Never>] {
    let tell: @Sendable (String, Logger.Level) -> Void = { OperatorLog.tell($0, $1) }
    var tasks: [Task<Void, Never>] = []
    if let file = access.file {
      let reloader = RulesReloader(
        path: file, load: { try RulesFile.rules(at: file) }, tell: tell)
      tasks.append(
        Task { await reloader.run { await server.adopt(access.authorizer.judging(by: $0)) } })
    }
    guard let files = access.documentFiles,
      let authorizer = access.documentAuthorizer as? DocumentRulesAuthorizer
    else { return tasks }
    for path in files.paths {
      let reloader = RulesReloader(path: path, load: { try files.load() }, tell: tell)
      tasks.append(
        Task { await reloader.run { await server.adopt(documents: authorizer.judging(by: $0)) } })
    }
    return tasks
  }

  /// Returns the authenticator: by tokens; on a development server the owner's token, and without
  /// keys mock users.
  private func authenticator(others: (any Authenticator)?) -> any Authenticator {
    guard dev else { return others ?? NoAuthenticator() }
    return OwnerAuthenticator(others: others ?? MockUserAuthenticator())
  }

  /// The flags; what a project says stands in for those that nothing else says.
  private func flags(
    _ environment: [String: String], _ project: FirebaseProject
  ) -> [(section: String, key: String, text: String)] {
    let isSaid = { (key: String) in
      store.config != nil || environment["TERN_TRANSPORT_\(key)"] != nil
    }
    let host = host ?? (isSaid("HOST") ? nil : project.host)
    let port = port ?? (isSaid("PORT") ? nil : project.port)
    let place = [("host", host), ("port", port.map { String($0) })]
    let shared = [
      ("kind", ledger.map { _ in "shared" }), ("log", ledger), ("address", nodeAddress),
      ("secretFile", clusterSecret),
    ]
    return store.given + shared.compactMap { key, text in text.map { ("ledger", key, $0) } }
      + place.compactMap { key, text in text.map { ("transport", key, $0) } }
  }

  /// Checks that unencrypted traffic stays on this machine, unless the options ask for more.
  private func checkHost(of configuration: Configuration) throws(ConfigurationError) {
    guard let host = configuration.transport.members["host"]?.stringValue,
      !Self.isLoopback(host)
    else { return }
    if dev {
      throw .refused(
        section: "transport",
        reason: "\(host) can be reached by other machines; --dev is for 127.0.0.1 only")
    }
    if insecure || configuration.transport.members["tls"] != nil { return }
    throw .refused(
      section: "transport",
      reason: """
        \(host) can be reached by other machines, and everything travels in the clear; \
        give --tls-cert and --tls-key, or --insecure to allow that, or listen at 127.0.0.1
        """)
  }

  /// Checks that figures stay on this machine, unless the options ask for more: the admin listener
  /// has no TLS.
  private func checkAdminHost(of configuration: Configuration) throws(ConfigurationError) {
    let admin = try OperatorOptions(of: configuration).admin
    guard let host = admin.host, !Self.isLoopback(host), !insecure, admin.insecure != true else {
      return
    }
    throw .refused(
      section: "admin",
      reason: """
        "host": \(host) can be reached by other machines, and every client that reaches it reads \
        figures in the clear; set "insecure" of "admin" to true to allow that, or listen at 127.0.0.1
        """)
  }

  static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && host.utf8.allSatisfy { "0123456789.".utf8.contains($0) })
  }

  private func greet(
    _ server: AssembledServer, _ configuration: Configuration, _ access: ServeAccess,
    hasKeys: Bool
  ) {
    let members = configuration.storage.members
    let kind = members["kind"]?.stringValue ?? ""
    let place = kind == "memory" ? "" : " in \(members["path"]?.stringValue ?? "tern-data")"
    let isDefault = server.address == "127.0.0.1:9000"
    let isSecured = configuration.transport.members["tls"] != nil
    let flag = (isDefault ? "" : " --server \(server.address)") + (isSecured ? " --tls" : "")
    printLine("storage: \(kind)\(place)")
    if let text = SharedLedgerText.part(of: configuration) { printLine("ledger: \(text)") }
    printLine(access.text)
    if isSecured { printLine("transport: TLS only") }
    let unsigned =
      dev ? "the user that a token names, signed or not (--dev)" : "none without --auth-keys"
    printLine("users: " + (hasKeys ? "those who show a signed token" : unsigned))
    if let farewell = farewell.farewell {
      printLine("no client is served: \(SessionEnd.sentAway(farewell))")
    }
    if dev {
      OperatorLog.tell(
        "warning: --dev: every program on this machine can be administrator, as \"owner\"", .warning
      )
    }
    if dev {
      printLine("for Firebase clients: FIREBASE_DATABASE_EMULATOR_HOST=\(server.address)")
      printLine("for Firestore clients: FIRESTORE_EMULATOR_HOST=\(server.address)")
    }
    if access.isOpen, farewell.farewell == nil {
      printLine("try, in another terminal:")
      printLine("  tern watch greetings\(flag)")
      printLine("  tern push greetings '\"hello\"'\(flag)")
    }
    printLine("listening on \(server.address)")
  }
}

extension PluginCatalog {
  /// The plugins of `tern serve`: those that ship with Tern, tokens from files, and the gateway.
  static var serving: PluginCatalog {
    var catalog = PluginCatalog.standard
    catalog.register(TokenFilesPlugin.self)
    catalog.register(SharedLedgerPlugin<PostgresLogPlugin>.self)
    catalog.register(GatewayPlugin.self)
    return catalog
  }
}
