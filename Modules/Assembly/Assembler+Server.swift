import TernClient
import TernLedger
public import TernSecurity
public import TernServer
public import TernStorage
import TernSync
public import TernTransport

extension Assembler {
  /// Opens a server: a store for its ledger, the transport, and a door on it.
  ///
  /// The store is the folder `server` below `storage.path`, so that one configuration serves
  /// both ends.
  ///
  /// - Parameters:
  ///   - authorizer: Who may do what. Default: everything, on this machine only.
  ///   - documentAuthorizer: Decides about documents. Default: `authorizer` where it decides about
  ///     documents, too; else administrators may do everything, and other clients nothing.
  ///   - authenticator: Who is who. Default: nobody is anybody.
  ///   - options: What the configuration does not say.
  ///   - report: Told what an operator may want to know, on the server's executor.
  ///   - openDoors: Called before anybody is let in, to open further doors on the transport.
  /// - Throws: ``AssemblyError``, with nothing left open.
  public func server(
    from configuration: Configuration, authorizer: any Authorizer = AllowLocal(),
    documentAuthorizer: (any DocumentAuthorizer)? = nil,
    authenticator: any Authenticator = NoAuthenticator(),
    options: ServerOptions = ServerOptions(),
    report: @escaping @Sendable (ServerEvent) -> Void = { _ in },
    openDoors: @Sendable (TernServer, any Transport) -> Void = { _, _ in }
  ) async throws(AssemblyError) -> AssembledServer {
    var options = options
    let (store, transport, scrub, log) = try checked { () throws(ConfigurationError) in
      try check(configuration)
      let limits = try limitOptions(of: configuration)
      options.limits.rates = limits.rates
      options.limits.memoryBytes = limits.memoryBytes ?? options.limits.memoryBytes
      options.limits.memoryBytesPerAddress =
        limits.memoryBytesPerAddress ?? options.limits.memoryBytesPerAddress
      return (
        try storage(of: configuration, subfolder: "server"), try self.transport(of: configuration),
        try scrubRate(of: configuration), try ledgerOptions(of: configuration)
      )
    }
    let open = OpenParts()
    do throws(AssemblyError) {
      let (ledger, network) = try await connected(open, transport) { () throws(AssemblyError) in
        try await openLedger(store, log, open) { store in
          startScrub(of: store, scrub, open, report)
        }
      }
      let server: TernServer
      let address: String
      do throws(ServerError) {
        server = try await TernServer(
          ledger: ledger, on: network, options: options, authorizer: authorizer,
          documentAuthorizer: documentAuthorizer, authenticator: authenticator, ambient: ambient,
          report: report)
        open.add { await server.stop() }
        openDoors(server, network)
        address = try await server.listen(on: network)
      } catch {
        throw AssemblyError(error, path: store.path)
      }
      return AssembledServer(server: server, address: address, open: open)
    } catch {
      await open.close()
      throw error
    }
  }

  /// Opens the store that ``server(from:authorizer:documentAuthorizer:authenticator:options:report:openDoors:)``
  /// keeps everything in, and nothing else: for one with damaged records. The caller closes it.
  public func serverStore(
    from configuration: Configuration
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration, subfolder: "server")
    }
    return try await prepared.open()
  }

  /// Opens the store in a subfolder of the configured folder, and nothing else. The caller closes
  /// it.
  ///
  /// - Parameters:
  ///   - subfolder: A server's store is in `server`, a client's are in `queue` and `cache`.
  ///   - durability: That of whom the store belongs to; `nil` leaves it to the configuration.
  public func store(
    in subfolder: String, durability: Durability? = nil, from configuration: Configuration
  ) async throws(AssemblyError) -> any OrderedStore {
    let prepared = try checked { () throws(ConfigurationError) in
      try storage(of: configuration, subfolder: subfolder, durability: durability)
    }
    return try await prepared.open()
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

  private func openLedger(
    _ prepared: PreparedStore, _ options: LedgerOptions, _ open: OpenParts,
    _ opened: (any OrderedStore) -> Void
  ) async throws(AssemblyError) -> EmbeddedLedger {
    let store = try await prepared.open()
    open.add { store.close() }
    if prepared.kind != "memory" { opened(store) }
    do throws(LedgerError) {
      return try EmbeddedLedger(
        store: store, options: options, uptime: ambient.stopwatch())
    } catch {
      throw .ledger(error, path: prepared.path)
    }
  }
}

/// A server that runs, with everything it is made of.
public struct AssembledServer: Sendable {
  /// The server itself.
  public let server: TernServer
  /// Where clients connect to, with the real port if the configuration left it to the system.
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

extension AssemblyError {
  fileprivate init(_ error: ServerError, path: String) {
    switch error {
    case .ledger(let error): self = .ledger(error, path: path)
    case .transport(let error): self = .transport(error)
    case .stopped: self = .transport(.shutDown)
    }
  }
}
