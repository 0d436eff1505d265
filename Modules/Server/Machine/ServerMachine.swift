import TernCore
package import TernLedger
import TernPresence
package import TernSecurity
package import TernStorage
import TernTreeEngine
import TernTreeWire

/// The server without I/O: what happened goes in, commits and frames come out.
///
/// A batch of inputs is decided in order against one snapshot; each sees those before it. The
/// outputs may be performed once the commits are durable. The machine is the ledger's only
/// writer, so it knows beforehand which version each commit will have; when a commit fails, the
/// machine is no longer right and has to be made anew.
package struct ServerMachine: ~Copyable {
  let options: ServerOptions
  /// Changed by ``adopt(_:_:)`` alone.
  var authorizer: any Authorizer
  /// Changed by ``adopt(_:_:)`` alone.
  var documentAuthorizer: any DocumentAuthorizer
  let authenticator: any Authenticator
  let randomBits: @Sendable () -> UInt64
  /// By slot.
  var sessions: [Int: Session] = [:]
  /// By the id that a successor presents.
  var sessionsByID: [UInt128: Session] = [:]
  /// By what their client is known by.
  var sessionsByOrigin: [SessionOrigin: Session] = [:]
  /// The sessions of the run before that left writes, by what their client is known by.
  var orphans: [SessionOrigin: [UInt128]] = [:]
  var namespaces: [ExactText: Namespace] = [:]
  /// The hashes of large nodes, by database.
  var hashes: [ExactText: NodeHashes] = [:]
  /// The databases with rules of their own, in whose place ``authorizer`` has no say.
  var ownRules: [ExactText: RulesAuthorizer] = [:]
  /// Whose tokens do not count, beside those of whom the authenticator knows it.
  var revocations = Revocations()
  /// What was chosen about databases, besides their rules.
  var settings: [ExactText: DatabaseSettings] = [:]
  var presence: PresenceBook
  /// The streams that were written to of late, as they will be stored.
  var streams: [UInt128: StreamState] = [:]
  /// The bytes of their outcomes.
  var streamBytes = 0
  let documents = DocumentDesk()
  /// What everybody has asked of late.
  var rates: RateTable
  /// What can be stored.
  package internal(set) var diskRoom = DiskRoom.ample
  /// The ended sessions whose deferred writes wait for room.
  var waitingToFire: [UInt128] = []
  /// Names what is pushed without a session.
  var names = PushIDGenerator()

  /// A machine without sessions.
  package init(
    options: ServerOptions, authorizer: any Authorizer,
    documentAuthorizer: any DocumentAuthorizer = AllowLocal(),
    authenticator: any Authenticator, randomBits: @escaping @Sendable () -> UInt64
  ) {
    self.options = options
    self.authorizer = authorizer
    self.documentAuthorizer = documentAuthorizer
    self.authenticator = authenticator
    self.randomBits = randomBits
    rates = RateTable(options.limits.rates)
    presence = PresenceBook(
      rows: PresenceRows(prefix: StoreLayout.presence), limits: options.presence)
  }

  /// Takes up what sessions of the run before left behind.
  ///
  /// - Parameter uptime: Milliseconds of the machine's uptime.
  package mutating func restore(
    from snapshot: borrowing LedgerSnapshot, uptime: Int64
  ) throws(StorageError) {
    try restoreRules(from: snapshot)
    try restoreRevocations(from: snapshot)
    try restoreSettings(from: snapshot)
    try presence.restore(from: snapshot, now: uptime)
    for id in presence.due(at: .max) {
      guard let owner = presence.estate(of: id).flatMap({ SessionOwner($0.owner) }),
        let origin = owner.origin
      else { continue }
      orphans[origin, default: []].append(id)
    }
  }

  /// Decides a batch.
  ///
  /// - Parameters:
  ///   - now: Wall-clock time in milliseconds since 1970.
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - portion: How much may be made to be sent before further inputs are left undecided.
  package mutating func plan(
    _ inputs: [ServerInput], in snapshot: borrowing LedgerSnapshot, now: Int64, uptime: Int64,
    portion: BatchPortion = .unlimited
  ) throws(StorageError) -> ServerPlan {
    var batch = ServerBatch(over: snapshot, now: now, uptime: uptime, portion: portion)
    forgetStreams()
    for (index, input) in inputs.enumerated() {
      if batch.defers(input, at: index, of: inputs) { continue }
      switch input {
      case .opened(let slot, let isLocal, let address):
        open(slot, isLocal: isLocal, address: address, &batch)
      case .frame(let slot, let frame): try receive(frame, from: slot, &batch)
      case .prepared(let slot, let frame): try receive(frame, from: slot, &batch)
      case .closed(let slot): try end(slot, &batch)
      case .heard(let slot): sessions[slot]?.lastHeard = batch.uptime
      case .direct(let ticket, let request):
        batch.add(.answer(ticket: ticket, try decide(request, &batch)))
      case .adopt(let ticket, let access):
        try adopt(access, &batch)
        batch.add(.answer(ticket: ticket, .done))
      case .tick: try tick(&batch)
      case .room: try findRoom(&batch)
      }
    }
    try tellSnapshots(&batch)
    return batch.plan
  }

  /// The most streams whose state is kept between batches.
  private static let streamsKept = 4_096
  /// The most bytes of their outcomes.
  private static let streamBytesKept = 32 << 20

  /// Lets go of the states of streams when they are too many; they are read again.
  private mutating func forgetStreams() {
    if streams.count > Self.streamsKept || streamBytes > Self.streamBytesKept {
      streams.removeAll()
      streamBytes = 0
    }
  }

  private mutating func open(
    _ slot: Int, isLocal: Bool, address: String, _ batch: inout ServerBatch
  ) {
    let id = UInt128(randomBits()) << 64 | UInt128(randomBits())
    let session = Session(
      slot: slot, isLocal: isLocal, address: address, id: id, now: batch.uptime)
    sessions[slot] = session
    sessionsByID[id] = session
  }

  private mutating func receive(
    _ frame: [UInt8], from slot: Int, _ batch: inout ServerBatch
  ) throws(StorageError) {
    // What a link still delivers after its session was ended is nobody's.
    guard let session = sessions[slot] else { return }
    session.lastHeard = batch.uptime
    let speaksOfDocuments =
      session.documents != nil || session.isFresh && DocumentLink.begins(with: frame)
    session.isFresh = false
    if speaksOfDocuments { return try receiveDocuments(frame, from: session, &batch) }
    let message: TreeClientMessage
    do throws(WireError) {
      message = try TreeClientMessage.decode(frame)
    } catch {
      return try receive(error, from: session, &batch)
    }
    try handle(message, from: session, &batch)
  }

  private mutating func receive(
    _ frame: PreparedFrame, from slot: Int, _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let session = sessions[slot] else { return }
    session.lastHeard = batch.uptime
    session.isFresh = false
    if session.documents != nil { return try expel(session, .malformedFrame("text"), &batch) }
    switch frame.outcome {
    case .message(let message): try handle(message, from: session, &batch)
    case .invalid(let error): try receive(error, from: session, &batch)
    case .tooMuch(let number, let isForGood):
      let limit = options.limits.memoryBytesPerAddress ?? options.limits.memoryBytes / 4
      guard let number else { return try expel(session, .overShare(limitBytes: limit), &batch) }
      let text =
        isForGood
        ? "The data take more memory to read than the \(limit) bytes of one address."
        : "Too much is being read. Try again."
      let status: TreeStatus = isForGood ? .failed : .unavailable
      respond(.init(status, detail: text), to: number, session, &batch)
    }
  }

  private mutating func receive(
    _ error: WireError, from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if case .request(let number, let reason) = error {
      return respond(.init(.failed, detail: reason.text), to: number, session, &batch)
    }
    try expel(session, .garbage(error), &batch)
  }

  private mutating func handle(
    _ message: TreeClientMessage, from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    switch message {
    case .open(let opening): try greet(session, opening, &batch)
    case .ping: send(.pong, to: session, &batch)
    case .keepAlive: break
    case .request(let number, let request):
      guard let namespace = session.namespace else {
        return try expel(session, .outOfTurn("a request"), &batch)
      }
      let call = ServerCall(number: number, session: session, namespace: namespace)
      if let excess = count(session, namespace.name, batch) {
        return respond(.init(.unavailable, detail: excess.text), to: call, &batch)
      }
      try answer(request, call, &batch)
    }
  }

  private mutating func answer(
    _ request: TreeRequest, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    switch request {
    // Reading for a client that is gone would take the time of those that are there.
    case .listen where call.session.isUnreachable, .get where call.session.isUnreachable: break
    case .listen(let listen): try self.listen(listen, call, &batch)
    case .unlisten(let path, let query, _): unlisten(path, query, call, &batch)
    case .get(let path, let query): try get(path, query, call, &batch)
    case .put(let path, let node, let hash, let mark):
      try write(.set(path, node), expectedHash: hash, mark, call, &batch)
    case .merge(let path, let merge, let mark):
      try write(.merge(path, merge), expectedHash: nil, mark, call, &batch)
    case .outcomes(let stream, let first, let last):
      try tellOutcomes(stream ?? call.session.stream, first, last, call, &batch)
    case .onDisconnectSet(let path, let node):
      try leave(.set(path, node), request, call, &batch)
    case .onDisconnectMerge(let path, let merge):
      try leave(.merge(path, merge), request, call, &batch)
    case .onDisconnectCancel(let path): try takeBack(path, request, call, &batch)
    case .auth(let credential): try authenticate(credential, call, &batch)
    case .unauth: try signOut(call, &batch)
    case .appCheck, .stats: respond(.init(.ok), to: call, &batch)
    case .unknown(let action):
      respond(.init(.failed, detail: "Unknown action: \(action)"), to: call, &batch)
    }
  }
}

/// One request of one client.
struct ServerCall {
  let number: UInt64
  let session: Session
  let namespace: Namespace
}

extension ServerMachine {
  func send(_ message: TreeServerMessage, to session: Session, _ batch: inout ServerBatch) {
    batch.add(.send(slot: session.slot, message.encode()))
  }

  func respond(_ response: TreeResponse, to call: ServerCall, _ batch: inout ServerBatch) {
    respond(response, to: call.number, call.session, &batch)
  }

  func respond(
    _ response: TreeResponse, to number: UInt64, _ session: Session, _ batch: inout ServerBatch
  ) {
    send(.response(number, response), to: session, &batch)
  }
}
