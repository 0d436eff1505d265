import Synchronization
public import TernAssembly
import TernLedger
public import TernSecurity
public import TernServer
public import TernStorage
import TernSync
public import TernTransport

extension Assembler {
  /// Opens a server: the ledger, the transport, the endpoints, and a listener on the transport.
  ///
  /// The ledger's store is the folder `server` below `storage.path`, so that one configuration
  /// serves both ends.
  ///
  /// - Parameters:
  ///   - authorizer: Decides about the tree. Default: everything, on this machine only.
  ///   - documentAuthorizer: Decides about documents. Default: `authorizer` where it decides about
  ///     documents, too; else administrators may do everything, and other clients nothing.
  ///   - authenticator: Maps credentials to identities, whatever the section `auth` says. By
  ///     default that section selects a plugin; an empty one leaves every client anonymous.
  ///   - options: What the configuration does not say.
  ///   - isDevelopment: True lets endpoints offer what emulators do.
  ///   - report: Told what an operator may want to know, on the server's executor.
  ///   - prepare: Called before any client is accepted and after the endpoints are open, to open
  ///     others or to set the transport up.
  /// - Throws: ``ServerAssemblyError``, with nothing left open.
  public func server(
    from configuration: Configuration, authorizer: any Authorizer = AllowLocal(),
    documentAuthorizer: (any DocumentAuthorizer)? = nil,
    authenticator: (any Authenticator)? = nil, options: ServerOptions = ServerOptions(),
    isDevelopment: Bool = false,
    report: @escaping @Sendable (ServerEvent) -> Void = { _ in },
    prepare: @Sendable (TernServer, any Transport) async -> Void = { _, _ in }
  ) async throws(ServerAssemblyError) -> AssembledServer {
    let prepared = try checkedServer { () throws(ConfigurationError) in
      try prepareServer(configuration, options, hasAuthenticator: authenticator != nil)
    }
    let open = OpenParts()
    do throws(ServerAssemblyError) {
      let (ledger, network) = try await connected(
        open, prepared.transport, ServerAssemblyError.parts
      ) { () throws(ServerAssemblyError) in
        try await openLedger(prepared, open, report)
      }
      var authenticator = authenticator
      if authenticator == nil, prepared.selectsAuthenticator {
        let opened = try await self.authenticator(from: configuration)
        open.add { await opened.close() }
        authenticator = opened.authenticator
      }
      let server: TernServer
      do throws(ServerError) {
        server = try await TernServer(
          ledger: ledger, on: network, options: prepared.options, authorizer: authorizer,
          documentAuthorizer: documentAuthorizer,
          authenticator: authenticator ?? NoAuthenticator(), ambient: ambient, report: report)
      } catch {
        throw ServerAssemblyError(error, path: prepared.store.path)
      }
      open.add { await server.stop() }
      let (kind, path) = (prepared.store.kind, prepared.store.path)
      server.surroundings.read {
        SystemFigures.reading(storeKind: kind, storePath: kind == "memory" ? nil : path)
      }
      try await openEndpoints(prepared, server, network, open, isDevelopment)
      await prepare(server, network)
      let address: String
      do throws(ServerError) { address = try await server.listen(on: network) } catch {
        throw ServerAssemblyError(error, path: prepared.store.path)
      }
      return AssembledServer(server: server, address: address, open: open)
    } catch {
      await open.close()
      throw error
    }
  }

  /// Opens the store that the ledger of an assembled server keeps everything in, and nothing else:
  /// for one with damaged records. The caller closes it.
  public func serverStore(
    from configuration: Configuration
  ) async throws(ServerAssemblyError) -> any OrderedStore {
    let prepared = try checkedServer { () throws(ConfigurationError) in
      try serverStorage(of: configuration)
    }
    return try await opened(prepared)
  }

  /// Checks every section of a server's configuration without opening anything.
  public func checkServer(_ configuration: Configuration) throws(ConfigurationError) {
    try check(configuration)
    try checkTokens(of: configuration, hasAuthenticator: !catalog.hasTokens)
    _ = try limitOptions(of: configuration)
    _ = try ledger(of: configuration)
    _ = try endpoints(of: configuration)
  }

  /// Examines the store in the background for as long as the server runs.
  private func startScrub(
    of store: any OrderedStore, _ bytesPerSecond: Int, _ open: OpenParts,
    _ report: @escaping @Sendable (ServerEvent) -> Void
  ) {
    let scrub = StoreScrub(store, bytesPerSecond: bytesPerSecond, clock: ambient.clock) {
      report(.corrupt($0))
    }
    let task = Task.detached(priority: .background) { await scrub.run() }
    open.add {
      task.cancel()
      await task.value
    }
  }

  /// The bytes of the store that a server examines each second: the key `scrub`; 0 for none.
  private func scrubRate(of configuration: Configuration) throws(ConfigurationError) -> Int {
    guard let given = configuration.storage.members["scrub"] else {
      return StoreScrub.standardBytesPerSecond
    }
    guard let rate = Int(given.canonicalText), (0...(1 << 40)).contains(rate) else {
      throw .wrongType(
        key: "scrub", section: "storage", expected: "a number of bytes, 0 or more",
        found: given.typeName)
    }
    return rate
  }

  /// The size past which the server's store does not grow, by the key that backends share for it.
  private func storeLimit(of configuration: Configuration) -> Int? {
    configuration.storage.members["limitBytes"].flatMap { Int($0.canonicalText) }
  }

  /// Runs a check; what it throws becomes a case of ``ServerAssemblyError``.
  func checkedServer<R>(
    _ body: () throws(ConfigurationError) -> R
  ) throws(ServerAssemblyError) -> R {
    do throws(AssemblyError) { return try checked(body) } catch { throw .parts(error) }
  }

  private func opened(
    _ prepared: PreparedStore
  ) async throws(ServerAssemblyError) -> any OrderedStore {
    do throws(AssemblyError) { return try await prepared.open() } catch { throw .parts(error) }
  }
}

// MARK: - Parts

extension Assembler {
  /// A server whose sections are read and whose parts are not open yet.
  private struct PreparedServer {
    let store: PreparedStore
    let transport: PreparedTransport
    let ledger: LedgerEntry.Opening
    let endpoints: [(kind: String, open: EndpointEntry.Opening)]
    let selectsAuthenticator: Bool
    let scrubBytesPerSecond: Int
    let storeLimitBytes: Int?
    let limits: LimitOptions
    let options: ServerOptions
  }

  private func prepareServer(
    _ configuration: Configuration, _ options: ServerOptions, hasAuthenticator: Bool
  ) throws(ConfigurationError) -> PreparedServer {
    try check(configuration)
    try checkTokens(of: configuration, hasAuthenticator: hasAuthenticator)
    var options = options
    let limits = try limitOptions(of: configuration)
    options.limits.rates = limits.rates
    options.limits.databases = limits.databases ?? options.limits.databases
    options.limits.backupGrowthBytes =
      limits.backupGrowthBytes ?? options.limits.backupGrowthBytes
    options.limits.memoryBytes = limits.memoryBytes ?? options.limits.memoryBytes
    options.limits.memoryBytesPerAddress =
      limits.memoryBytesPerAddress ?? options.limits.memoryBytesPerAddress
    options.limits.memoryBytesPerIdentity =
      limits.memoryBytesPerIdentity ?? options.limits.memoryBytesPerIdentity
    try checkInbox(options.limits, configuration)
    return PreparedServer(
      store: try serverStorage(of: configuration),
      transport: try transport(of: configuration), ledger: try ledger(of: configuration),
      endpoints: try endpoints(of: configuration), selectsAuthenticator: !hasAuthenticator,
      scrubBytesPerSecond: try scrubRate(of: configuration),
      storeLimitBytes: storeLimit(of: configuration), limits: limits, options: options)
  }

  /// Opens the ledger, and the server's store when the ledger asks for it.
  private func openLedger(
    _ prepared: PreparedServer, _ open: OpenParts,
    _ report: @escaping @Sendable (ServerEvent) -> Void
  ) async throws(ServerAssemblyError) -> any Ledger {
    let failure = Mutex<ServerAssemblyError?>(nil)
    let resources = LedgerResources(
      openStore: { () async throws(StorageError) in
        do throws(ServerAssemblyError) {
          return try await openStore(prepared, open, report)
        } catch {
          failure.withLock { $0 = error }
          guard case .parts(.storage(let error, _, _)) = error else { throw .closed }
          throw error
        }
      }, storeLimitBytes: prepared.storeLimitBytes, uptime: ambient.stopwatch(),
      time: ambient.millisecondsSinceEpoch, clock: ambient.clock, randomBits: ambient.randomBits,
      whenClosed: { open.add($0) })
    do throws(LedgerError) { return try await prepared.ledger(resources) } catch {
      if let failure = failure.withLock({ $0 }) { throw failure }
      throw .ledger(error, path: prepared.store.path)
    }
  }

  private func openStore(
    _ prepared: PreparedServer, _ open: OpenParts,
    _ report: @escaping @Sendable (ServerEvent) -> Void
  ) async throws(ServerAssemblyError) -> any OrderedStore {
    let store = try await opened(prepared.store)
    open.add { store.close() }
    if prepared.store.kind != "memory" {
      if store.isOldFormat { report(.oldFormat) }
      startScrub(of: store, prepared.scrubBytesPerSecond, open, report)
    }
    return store
  }

  private func openEndpoints(
    _ prepared: PreparedServer, _ server: TernServer, _ transport: any Transport,
    _ open: OpenParts, _ isDevelopment: Bool
  ) async throws(ServerAssemblyError) {
    let resources = EndpointResources(
      transport: transport, environment: ambient, bodyBytes: prepared.limits.bodyBytes,
      isDevelopment: isDevelopment
    ) { open.add($0) }
    for endpoint in prepared.endpoints {
      do throws(PluginError) { try await endpoint.open(server, resources) } catch {
        throw .plugin(section: "endpoints", kind: endpoint.kind, reason: error.reason)
      }
    }
  }
}

/// A server that runs, with everything it is made of.
public struct AssembledServer: Sendable {
  /// The server itself.
  public let server: TernServer
  /// The address that clients connect to, with the real port if the configuration left it to the
  /// system.
  public let address: String
  private let open: OpenParts

  init(server: TernServer, address: String, open: OpenParts) {
    self.server = server
    self.address = address
    self.open = open
  }

  /// Stops the server and closes its parts. What it acknowledged is kept.
  public func stop() async { await open.close() }
}

extension ServerAssemblyError {
  fileprivate init(_ error: ServerError, path: String) {
    switch error {
    case .ledger(let error): self = .ledger(error, path: path)
    case .transport(let error): self = .parts(.transport(error))
    case .stopped: self = .parts(.transport(.shutDown))
    }
  }
}
