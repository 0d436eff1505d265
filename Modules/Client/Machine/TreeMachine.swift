package import TernCore
package import TernStorage
package import TernSync
package import TernTreeReplica
import TernTreeWire

/// The decisions of one client, without a thread, a clock, a disk or a socket.
///
/// Its owner calls one method for every event, and performs the effects it collects, in order,
/// before the next call: ``drainEffects()``. Nothing here waits.
package struct TreeMachine: Sendable {
  package struct Limits: Sendable {
    /// The most writes on their way to the server without an answer.
    package var window = 1_024
    /// The most bytes of frames on their way without an answer; one frame may always go.
    package var windowBytes = 16 * 1024 * 1024
    /// The time that a one-time read waits for a connection before it reads the cache.
    package var readPatience: Duration = .seconds(3)
    package var waiting = WaitingLimits()
    package var connection = Connection.Limits()

    package init() {}
  }

  let limits: Limits
  let ambient: RuntimeEnvironment
  var replica: TreeReplica
  var info = InfoTree()
  var connection: Connection
  var listens = ListenTable<ListenRequest>()
  var outbox = Outbox()
  /// True while nothing is sent from it: the server takes nothing now.
  var isOutboxResting = false
  var outboxBackoff = Backoff()
  /// The subject of each unanswered request on this connection.
  var requests: [UInt64: Request] = [:]
  /// The user of this device.
  package internal(set) var user: QueueUser
  /// The writes of the present user.
  var book: UserWrites
  /// The writes of former users of the device in this run.
  var former: [QueueUser: UserWrites] = [:]
  var reads: [OperationID: PendingRead] = [:]
  var disconnectRequests: [OperationID: DisconnectRequest] = [:]
  var disconnectPlan = DisconnectPlan()
  var presences: [OperationID: PresenceState] = [:]
  var transactions = TransactionTable()
  var tickets: [UInt64: (user: QueueUser, about: Ticket)] = [:]

  /// The name of the tree database on the server.
  let namespace: String
  /// The permanent name of this client at the server, for every user; purging a queue does not
  /// change it.
  let origin: UInt128
  /// The stream announced on this connection.
  var announcedClient: UInt128?
  /// The last number the greeting says the server has, while the outcomes up to it are unknown.
  var lastAnswered: UInt64 = 0
  var lastSession: String?
  var serverTimeOffset: Int64 = 0
  /// The time at which the last opening was sent, in milliseconds since 1970 on the client's clock.
  var openingSentAt: Int64?
  var credential = CredentialState()
  /// The listens that are over and that the server was not told to end, because what may take their
  /// place waits until it knows who is asking. Fewer than it serves.
  var stopsHeldBack: [ListenRequest] = []
  /// True when the outcomes of earlier writes were requested on this connection.
  var hasAskedForOutcomes = false
  var pushIDs = PushIDGenerator()
  /// The notices that the developer has received already.
  private var notices: Set<ClientNotice> = []
  /// The most that is remembered of it; then all of it may be told once more.
  private static let noticesKept = 1_000
  /// The reason the cache last could not be stored.
  package internal(set) var cacheFailure: StorageError?

  private var lastOperation: UInt64 = 0
  private var lastRequest: UInt64 = 0
  private var lastTicket: UInt64 = 0
  private var effects: [TreeClientEffect] = []

  /// Makes a client that has not been used yet.
  ///
  /// - Parameters:
  ///   - user: Who uses the device.
  ///   - client: The stream of their durable writes, from the queue.
  ///   - namespace: The name of the tree database on the server.
  ///   - origin: What names its store for ever, from the queue; by default its stream.
  ///   - nextSequence: The number its next write will get.
  package init(
    replica: TreeReplica, namespace: String = ClientOptions.defaultNamespace,
    user: QueueUser = .nobody, client: UInt128, origin: UInt128? = nil, nextSequence: UInt64,
    ambient: RuntimeEnvironment,
    limits: Limits = Limits()
  ) {
    self.replica = replica
    self.namespace = namespace
    self.user = user
    book = UserWrites(client: client, nextSequence: nextSequence)
    self.origin = origin ?? client
    self.ambient = ambient
    self.limits = limits
    connection = Connection(limits: limits.connection)
    transactions.stream = ambient.randomID()
  }

  /// Returns the effects since the last call.
  package mutating func drainEffects() -> [TreeClientEffect] {
    var taken: [TreeClientEffect] = []
    swap(&taken, &effects)
    return taken
  }

  /// The server's clock, as far as it is known, in milliseconds since 1970.
  var serverNow: Int64 { ambient.millisecondsSinceEpoch() + serverTimeOffset }
}

// MARK: - Naming and owing

extension TreeMachine {
  mutating func emit(_ effect: TreeClientEffect) { effects.append(effect) }

  /// Tells the developer something, once.
  mutating func notice(_ notice: ClientNotice) {
    if notices.count >= Self.noticesKept { notices.removeAll() }
    if notices.insert(notice).inserted { emit(.noticed(notice)) }
  }

  mutating func nextOperationID() -> OperationID {
    lastOperation += 1
    return OperationID(lastOperation)
  }

  /// Sends a request and remembers what it is about.
  mutating func send(_ request: TreeRequest, about: Request) -> UInt64 {
    lastRequest += 1
    requests[lastRequest] = about
    send(.request(lastRequest, request))
    return lastRequest
  }

  /// Sends the next item of the outbox.
  mutating func sendNext(_ request: TreeRequest, about: Request) {
    lastRequest += 1
    requests[lastRequest] = about
    outbox.sent(bytes: send(.request(lastRequest, request)))
  }

  /// - Returns: The bytes of the frame.
  @discardableResult
  mutating func send(_ message: TreeClientMessage) -> Int {
    let frame = message.encode()
    emit(.send(frame))
    _ = connection.handle(.sent) { 0 }
    return frame.count
  }

  /// Hands a change to the queue of a user; by default to that of the present user.
  mutating func change(_ change: QueueChange, about: Ticket, of owner: QueueUser? = nil) {
    lastTicket += 1
    tickets[lastTicket] = (owner ?? user, about)
    emit(.change(change, ticket: lastTicket, of: owner ?? user))
  }

  /// The name of a child made now.
  package mutating func pushKey() -> TreeKey {
    pushIDs.next(milliseconds: serverNow, randomBits: ambient.randomBits)
  }

  /// Carries out what a replica's step owes: starts, stops, events, cancellations.
  mutating func perform(_ outcome: ReplicaOutcome, because error: ListenError? = nil) {
    for request in outcome.starts { startListen(request) }
    for request in outcome.stops { stopListen(request) }
    if !outcome.events.isEmpty { emit(.deliver(outcome.events, to: .shared)) }
    if !outcome.cancelled.isEmpty, let error {
      let listeners = outcome.cancelled.map { ListenerID(tree: .shared, registration: $0) }
      emit(.cancelled(listeners, error))
    }
  }
}
