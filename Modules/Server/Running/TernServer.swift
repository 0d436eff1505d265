import Dispatch
public import TernLedger
import TernPresence
public import TernSecurity
import TernStorage
public import TernSync
public import TernTransport
import TernTreeWire

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
  /// Changed by ``adopt(_:documents:)`` alone.
  var authorizer: any Authorizer
  /// Changed by ``adopt(_:documents:)`` alone.
  var documentAuthorizer: any DocumentAuthorizer
  let authenticator: any Authenticator
  let ambient: RuntimeEnvironment
  let uptime: @Sendable () -> Int64
  let report: @Sendable (ServerEvent) -> Void
  var machine: ServerMachine
  /// Bounds the memory that clients hold.
  package nonisolated let budget: MemoryBudget
  /// By slot.
  var links: [LinkState?] = []
  /// Links that have ended and whose frames wait to be decided, by slot.
  var leaving: [Int: LinkState] = [:]
  /// The slots of links that have not taken everything they were sent.
  var unsentSlots: Set<Int> = []
  /// The slots of links that leave much unread: what they ask for waits.
  var heldSlots: Set<Int> = []
  /// The slots of links that are not read from until their clients hold less.
  var slowedSlots: Set<Int> = []
  /// The uptime of the last look at these.
  var slowedReview: Int64 = 0
  var inbox = FairQueue()
  /// The waiting direct requests, by request id.
  var askers: [UInt64: @Sendable (DirectAnswer) -> Void] = [:]
  var nextTicket: UInt64 = 0
  /// The reads that go piece by piece, by number.
  var exports: [UInt64: OpenExport] = [:]
  /// Exports that lost their place and have not ended yet, by number.
  var leavingExports: [UInt64: OpenExport] = [:]
  /// The queue on which large frames are decoded.
  let preparer = DispatchQueue(label: "tern.frames")
  /// The most memory that clients held since free memory was given back to the system.
  var peakBytes = 0
  var isDraining = false
  var listeners: [any TransportListener] = []
  var ticking: Task<Void, Never>?
  /// Batches in a row whose results were not those the machine had foreseen.
  var contradictions = 0
  /// The state of the disk after the failure that is being reported, if it was a full disk.
  var spaceAfterFailure = DiskSpace.none
  /// The reason the server accepts no more clients.
  var end: SessionEnd?

  /// The server's state of one link.
  final class LinkState {
    let slot: Int
    let link: any Link
    /// The other end's address, without its port.
    let address: String
    /// The bytes sent so far, and what of them the budget counts, in order.
    var sentBytes = 0
    var unsent: [(end: Int, charge: OutputCharge)] = []
    /// The user that the link's session has proved to be, as of the last frame that arrived.
    var user: String?
    /// The uptime in milliseconds since which the link is not read from because its address or user
    /// holds more than its share, or because memory is short; `nil` when neither is so.
    var slowedSince: Int64?
    /// Bytes of frames that are not decided yet.
    var waitingBytes = 0
    /// A large frame that is decoded, and what came behind it.
    var behind: [ServerInput] = []
    /// True while the link is not read from, until they are.
    var isPaused = false
    /// True when anything arrived since that was last reported for a link that is held.
    var wasHeard = false
    /// The first output of the batch that is performed, and the output behind that. Mostly there is
    /// one.
    var pendingEffects: OutgoingBatch?
    var owedBehind: [OutgoingBatch] = []
    /// Room for so many parcels is kept from one batch to the next.
    static let owedKept = 64
    /// The reason the server closed the link.
    var reason: SessionEnd?

    init(slot: Int, link: any Link) {
      address = PeerAddress.address(of: link.peer)
      self.slot = slot
      self.link = link
    }
  }

  /// The number of open links.
  package var linkCount: Int { links.count { $0 != nil } }

  /// The most memory that all clients together may make the server hold, in bytes.
  public nonisolated var memoryBytes: Int { budget.limitBytes }

  /// The number of connection indexes in use, those included whose end is not decided yet.
  package nonisolated var slotsInUse: Int { slots.inUse }

  /// The number of sessions in the machine, open or half open.
  package var sessionCount: Int { machine.sessions.count }

  /// The link in a slot, until it has ended.
  func link(in slot: Int) -> LinkState? {
    links.indices.contains(slot) ? links[slot] : nil
  }

  /// The executor of the server's own transport.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Makes a server over a ledger that it alone writes to.
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
    self.ledger = ledger
    self.options = options
    budget = options.limits.budget
    self.authorizer = authorizer
    let documentAuthorizer =
      documentAuthorizer ?? authorizer as? any DocumentAuthorizer ?? AllowAdministrators()
    self.documentAuthorizer = documentAuthorizer
    self.authenticator = authenticator
    self.ambient = ambient
    self.report = report
    uptime = ambient.stopwatch()
    machine = ServerMachine(
      options: options, authorizer: authorizer, documentAuthorizer: documentAuthorizer,
      authenticator: authenticator, budget: budget, randomBits: ambient.randomBits)
    do throws(LedgerError) { try await restore() } catch { throw .ledger(error) }
    startTicking()
  }

  /// Lets clients in over `transport`, until the server stops.
  ///
  /// - Returns: The address that clients connect to.
  /// - Throws: ``ServerError/transport(_:)``; ``ServerError/stopped``, also when the server is
  ///   stopped while the door opens.
  @discardableResult
  public func listen(on transport: any Transport) async throws(ServerError) -> String {
    if end != nil { throw .stopped }
    let door = LinkAcceptor(to: self, from: transport)
    let listener: any TransportListener
    do throws(TransportError) { listener = try await transport.listen { door.open($0) } } catch {
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
    for listener in listeners { await listener.close() }
    listeners = []
    closeAll(.serverStopped("the server stops"))
    refuseAskers("The server stops.")
    await endExports()
  }
}
