import Dispatch
import Synchronization
public import TernLedger
public import TernSecurity
public import TernSync
public import TernTransport

/// The server of a database that many clients share.
///
/// An actor on the executor of its transport: frames arrive without a hop, wait until the tick
/// that brought them is over, and are decided together. A batch costs one durable write and one
/// flush a link.
public actor TernServer {
  /// The executor of the transport the server was made for.
  nonisolated let executor: any SerialExecutor
  nonisolated let slots = SlotTable()

  let ledger: any Ledger
  let options: ServerOptions
  let ambient: RuntimeEnvironment
  let uptime: @Sendable () -> Int64
  /// The uptime in microseconds, for durations.
  let microseconds: @Sendable () -> Int64
  /// The figures since the start.
  let metrics = ServerMetrics()
  /// The parts of the program around the server that its figures tell of.
  package nonisolated let surroundings = ServerSurroundings()
  /// Receives the way of each write; `nil` while writes are not followed.
  var writeTrace: (@Sendable (WriteTrace) -> Void)?
  let report: @Sendable (ServerEvent) -> Void
  /// Bounds the memory that clients hold.
  package nonisolated let budget: MemoryBudget
  /// The databases that belong to this node's shard.
  package nonisolated let places = DatabasePlaces()
  let batches: BatchRunner
  let links: LinkTable
  let memory: MemoryGuard
  let writer: LinkWriter
  /// The reads that go piece by piece.
  let exports: ExportTable
  var inbox = FairQueue()
  /// The direct requests that wait for an answer.
  var requests = PendingRequests()
  /// The queue on which large frames are decoded.
  let preparer = DispatchQueue(label: "tern.frames")
  var isDraining = false
  /// The uptime in milliseconds at which the latest batch was over, or nothing waited.
  var lastBatch: Int64 = 0
  var listeners: [any TransportListener] = []
  var ticking: Task<Void, Never>?
  /// The reason the server accepts no more clients.
  var end: SessionEnd?
  /// The reason the server serves no clients at present: another node leads.
  var standby: SessionEnd? { didSet { noteServing() } }
  private nonisolated let serving = Mutex(ServerService.asLeader)

  private func noteServing() {
    let isCopy = part.copy != nil
    serving.withLock { $0 = standby != nil ? .none : isCopy ? .asFollower : .asLeader }
    surroundings.servingChanged?()
  }
  /// The part of the server's node in a cluster.
  let part = ServerPart()
  /// Follows the terms of a ledger that nodes share.
  var terms: Task<Void, Never>?

  /// The reason the server serves no clients, for good or at present.
  var refusal: SessionEnd? { end ?? standby }

  /// The clients' service at present, as seen from any thread.
  package nonisolated var service: ServerService { serving.withLock { $0 } }

  /// The number of open links.
  package var linkCount: Int { links.count }

  /// The most memory that all clients together may make the server hold, in bytes.
  public nonisolated var memoryBytes: Int { budget.limitBytes }

  /// The number of connection indexes in use, those included whose end is not decided yet.
  package nonisolated var slotsInUse: Int { slots.inUse }

  /// The number of sessions in the machine, open or half open.
  package var sessionCount: Int { batches.machine.sessions.count }

  /// The executor of the server's own transport.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Makes a server over a ledger that it alone writes to.
  ///
  /// Over a `LeasedLedger` the server serves no clients until its node leads, and none after that
  /// term until the next.
  ///
  /// - Parameters:
  ///   - transport: The transport most clients come over; the server lives on its executor.
  ///   - authorizer: Who may do what. Default: everything, on this machine only.
  ///   - documentAuthorizer: Decides about documents. Default: `authorizer` where it decides about
  ///     documents, too; else administrators may do everything, and other clients nothing.
  ///   - authenticator: Maps credentials to identities. By default every client is anonymous.
  ///   - report: Told what an operator may want to know, on the server's executor.
  /// - Complexity: O(deferred writes of sessions), whatever else is stored.
  public init(
    ledger: any Ledger, on transport: any Transport, options: ServerOptions = ServerOptions(),
    authorizer: any Authorizer = AllowLocal(),
    documentAuthorizer: (any DocumentAuthorizer)? = nil,
    authenticator: any Authenticator = NoAuthenticator(), ambient: RuntimeEnvironment = .system,
    report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
  ) async throws(ServerError) {
    executor = transport.executor
    self.options = options
    self.ambient = ambient
    self.report = report
    budget = options.limits.budget
    uptime = ambient.stopwatch()
    microseconds = ambient.microseconds()
    self.ledger = ledger
    links = LinkTable()
    memory = MemoryGuard(links, budget, options.limits, on: preparer, uptime: uptime)
    writer = LinkWriter(links, memory, budget, queuedBytes: options.limits.queuedBytes, metrics)
    exports = ExportTable(ledger, options.limits, uptime: uptime)
    let documentAuthorizer =
      documentAuthorizer ?? authorizer as? any DocumentAuthorizer ?? AllowAdministrators()
    batches = BatchRunner(
      .init(
        options: options, authorizer: authorizer, documentAuthorizer: documentAuthorizer,
        authenticator: authenticator, budget: budget, ambient: ambient, places: places),
      over: ledger, uptime: uptime, microseconds: microseconds, metrics, report: report)
    if let ledger = ledger as? any LeasedLedger {
      ServerTerms.follow(ledger, for: self)
    } else {
      do throws(LedgerError) { try await batches.restore() } catch { throw .ledger(error) }
    }
    startTicking()
  }

  /// Lets clients in over `transport`, until the server stops.
  ///
  /// - Returns: The address that clients connect to.
  /// - Throws: ``ServerError/transport(_:)``; ``ServerError/stopped``, also when the server is
  ///   stopped before it listens.
  @discardableResult
  public func listen(on transport: any Transport) async throws(ServerError) -> String {
    if end != nil { throw .stopped }
    let acceptor = LinkAcceptor(to: self, from: transport)
    let listener: any TransportListener
    do throws(TransportError) { listener = try await transport.listen { acceptor.open($0) } } catch
    {
      throw .transport(error)
    }
    guard end == nil else {
      // Stopped meanwhile, by a caller that did not know of this listener.
      await listener.close()
      throw .stopped
    }
    listeners.append(listener)
    return listener.address
  }

  /// Stops: no new client is accepted, and links close after their pending output. The onDisconnect
  /// operations of sessions stay stored, and fire when their clients come back to the next run or
  /// its grace is over.
  public func stop() async {
    guard end == nil else { return }
    end = .serverStopped("the server stops")
    ticking?.cancel()
    terms?.cancel()
    for listener in listeners { await listener.close() }
    listeners = []
    closeAll(.serverStopped("the server stops"))
    requests.refuseAll("The server stops.")
    part.stop(at: self)
    await exports.endAll()
  }
}
