import TernCore
package import TernLedger
package import TernSecurity
package import TernStorage
package import TernTransport
import TernTreeWire

/// The server without I/O: what happened goes in, commits and frames come out.
///
/// A batch of inputs is decided in order against one snapshot; each sees those before it. The
/// outputs may be performed once the commits are durable. The machine is the ledger's only
/// writer, so it knows beforehand which version each commit will have; when a commit fails, the
/// machine is no longer right and has to be made anew. Its parts own the state; it dispatches.
package struct ServerMachine: ~Copyable {
  let context: ServerContext
  var sessions: SessionTable
  private var stage = CommitStage()
  var tree: TreeService
  var documents: DocumentService
  var admin: AdminService
  private var direct: DirectService
  /// Listens that are to be judged again.
  var reviews = ReviewQueue()

  /// A machine without sessions.
  ///
  /// - Parameters:
  ///   - budget: Bounds the memory of listens; `nil` for one of the machine's own.
  ///   - metrics: Counts what is decided.
  ///   - follows: True at a node that follows: the machine commits nothing.
  ///   - places: The databases that belong to this node's shard.
  package init(
    options: ServerOptions, authorizer: any Authorizer,
    documentAuthorizer: any DocumentAuthorizer = AllowLocal(),
    authenticator: any Authenticator, budget: MemoryBudget? = nil,
    metrics: ServerMetrics = ServerMetrics(), randomBits: @escaping @Sendable () -> UInt64,
    follows: Bool = false, places: DatabasePlaces = DatabasePlaces()
  ) {
    context = ServerContext(
      options: options, budget: budget ?? options.limits.budget, randomBits: randomBits,
      metrics: metrics, follows: follows, places: places)
    sessions = SessionTable(options.limits.rates)
    tree = TreeService(context)
    documents = DocumentService(context, documentAuthorizer)
    admin = AdminService(authorizer, authenticator)
    direct = DirectService(context)
  }

  /// Takes up what sessions of the run before left behind.
  ///
  /// - Parameter uptime: Milliseconds of the machine's uptime.
  package mutating func restore(
    from snapshot: borrowing LedgerSnapshot, uptime: Int64
  ) throws(StorageError) {
    try admin.restore(from: snapshot)
    try documents.restore(from: snapshot)
    // What sessions leave for their end is the leader's to do.
    if context.follows { return }
    for (id, origin) in try tree.restore(from: snapshot, uptime: uptime) {
      sessions.addOrphan(id, of: origin)
    }
  }

  /// The space that can be written to.
  package var diskSpace: DiskSpace { stage.diskSpace }

  /// Notes that the disk is full.
  package mutating func lackSpace(_ left: DiskSpace) { stage.diskSpace = left }

  /// Notes that nothing reaches the other end of a link any more. What it wrote before its end is
  /// decided in its turn; what it asked to be told is not read for it.
  mutating func loseLink(_ slot: Int) {
    guard let session = sessions[slot] else { return }
    session.isUnreachable = true
    session.endRead()
  }

  /// Ends the reads that go on beside the executor, before the machine is given up.
  func endReads() {
    for session in sessions.inOrder {
      session.endRead()
      for call in (session.documents?.calls ?? [:]).values { call.cancelReadings() }
    }
  }

  /// Decides a batch.
  ///
  /// - Parameters:
  ///   - now: Wall-clock time in milliseconds since 1970.
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - portion: How much may be done before further inputs are left undecided.
  package mutating func plan(
    _ inputs: [ServerInput], in snapshot: borrowing LedgerSnapshot, now: Int64, uptime: Int64,
    portion: BatchPortion = .unlimited
  ) throws(StorageError) -> ServerPlan {
    stage.trim()
    // Moved there and back, so that nothing of it is copied.
    var batch = ServerBatch(
      over: snapshot, exchange(&stage, with: CommitStage()), now: now, uptime: uptime,
      portion: portion,
      pushes: PushBounds(context.budget, context.options.limits),
      metrics: context.metrics)
    var watch = context.metrics.tracesWrites ? WriteWatch(context.metrics) : nil
    for (index, input) in inputs.enumerated() where !batch.defers(input, at: index, of: inputs) {
      let (steps, rows) = (batch.stepsLeft, batch.counted.rows)
      if try !decide(input, &batch) { batch.putOff(input, at: index, of: inputs) }
      batch.spendRows(since: rows)
      batch.noteCost(of: input, since: steps)
      if let write = watch?.look(at: input) { batch.note(write) }
    }
    try reviews.goOn(sessions, documents, &batch)
    try documents.sendSnapshots(sessions, &batch)
    batch.finish(inputs)
    stage = batch.stage
    return batch.plan
  }

  /// - Returns: Whether it is decided; the rest of it otherwise waits for the next batch.
  private mutating func decide(
    _ input: ServerInput, _ batch: inout ServerBatch
  ) throws(StorageError) -> Bool {
    switch input {
    case .opened(let slot, let isLocal, let address):
      let charge = ListenCharge(context.budget, address: address)
      sessions.open(
        Session(
          slot: slot, isLocal: isLocal, address: address, id: context.nextID(), now: batch.uptime,
          charge: charge))
    case .frame(let slot, let frame): try receive(frame, from: slot, &batch)
    case .prepared(let slot, let frame): try receive(frame, from: slot, &batch)
    case .judge(let slot, let ticket, let outline):
      var answer = DirectAnswer.done
      if let session = sessions[slot], let namespace = session.namespace {
        answer = try admin.call(outline.request, session, namespace).access
          .certainDenial(ofWriting: outline.paths, batch)
      }
      batch.add(.answer(ticket: ticket, answer))
    case .closed(let slot):
      try end(slot, &batch)
      return clear(slot, &batch)
    case .heard(let slot): sessions[slot]?.lastHeard = batch.uptime
    case .direct(let ticket, let request): try answer(request, ticket, &batch)
    case .readDirect(let ticket, let request, let job):
      let answer = try direct.finish(job, request, &tree, admin, &batch)
      context.metrics.count(answer, to: request.operation)
      batch.add(.answer(ticket: ticket, answer))
    case .adopt(let ticket, let access):
      if let authorizer = access.tree { admin.adopt(authorizer) }
      if let authorizer = access.documents {
        documents.changeRules {
          $0.adopt(authorizer)
          return true
        }
      }
      try review({ _ in true }, &batch)
      reviews.answer(ticket, .done, &batch)
    case .followed(let batches): try follow(batches, &batch)
    case .tick: try tick(&batch)
    case .room:
      batch.noteSpace()
      for id in tree.disconnects.takeWaiting() { try tree.fire(id, admin, &batch) }
    case .goOn: break
    case .more(let slot):
      try sessions[slot].map { session throws(StorageError) in
        try documents.goOn(session, &batch)
      }
    case .read(let slot, let job):
      try sessions[slot].map { session throws(StorageError) in
        if job.holdsLink { return try tree.finish(job, session, admin, &batch) }
        try documents.finish(job, session, &batch)
      }
    }
    return true
  }

  private mutating func answer(
    _ request: DirectRequest, _ ticket: UInt64, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let decided = try direct.decide(request, ticket, &sessions.rates, &tree, &admin, &batch)
    guard let answer = decided else { return }
    context.metrics.count(answer, to: request.operation)
    switch request.operation {
    case .setRules(_, isTrial: false) where answer == .done,
      .removeDatabase where answer == .done:
      let key = ExactText(request.namespace)
      try review({ $0.namespace?.key == key }, &batch)
      reviews.answer(ticket, answer, &batch)
    case .setDocumentRules(let text, isTrial: false) where answer == .done:
      documents.changeRules { $0.adopt(text, for: request.namespace) }
      try review({ $0.documents != nil }, &batch)
      reviews.answer(ticket, answer, &batch)
    case .removeDocumentRules where answer == .done:
      documents.changeRules { $0.removeRules(of: request.namespace) }
      try review({ $0.documents != nil }, &batch)
      reviews.answer(ticket, answer, &batch)
    case .readRuleCoverage where answer == .done:
      let coverage = documents.authorizers.coverage(of: request.namespace)
      batch.add(.answer(ticket: ticket, .coverage(coverage)))
    case .rules(let question) where answer == .done:
      let namespace = tree.namespaceOrTransient(request.namespace)
      let told = try RulesAnswers(admin: admin, documents: documents)
        .answer(question, namespace, batch)
      batch.add(.answer(ticket: ticket, told))
    case .revoke where answer == .done:
      try endCredentials(&batch)
      batch.add(.answer(ticket: ticket, answer))
    default: batch.add(.answer(ticket: ticket, answer))
    }
  }

  // MARK: - Frames

  private mutating func receive(
    _ frame: [UInt8], from slot: Int, _ batch: inout ServerBatch
  ) throws(StorageError) {
    // Frames that a link still delivers after its session was ended are dropped.
    guard let session = sessions[slot] else { return }
    session.lastHeard = batch.uptime
    let isAboutDocuments =
      session.documents != nil || session.isFresh && DocumentLink.begins(with: frame)
    session.isFresh = false
    if isAboutDocuments { return try receiveDocuments(frame, from: session, &batch) }
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
    case .denied(let number, let refusal):
      context.metrics.treeRequests += 1
      if let namespace = session.namespace,
        let excess = sessions.rates.count(session, namespace.name, at: batch.uptime)
      {
        context.metrics.rateLimited += 1
        return batch.respond(.init(.unavailable, detail: excess.text), to: number, session)
      }
      context.metrics.treeWrites.denied += 1
      batch.respond(.init(.permissionDenied, detail: refusal.text), to: number, session)
    case .tooMuch(let number, let isForGood):
      let limit = context.budget.addressBytes
      guard let number else { return try expel(session, .overShare(limitBytes: limit), &batch) }
      let text =
        isForGood
        ? "The data take more memory to read than the \(limit) bytes of one address."
        : "Too much is being read. Try again."
      let status: TreeStatus = isForGood ? .failed : .unavailable
      batch.respond(.init(status, detail: text), to: number, session)
    }
  }

  private mutating func receiveDocuments(
    _ frame: [UInt8], from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let link = session.documents ?? DocumentLink(session)
    session.documents = link
    if let notice = context.options.farewell { return try redirect(session, notice, &batch) }
    let end = try documents.receive(
      frame, from: session, link, admin.credentials, &sessions.rates, &batch)
    if let end { try expel(session, end, &batch) }
  }

  private mutating func receive(
    _ error: WireError, from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if case .request(let number, let reason) = error {
      return batch.respond(.init(.failed, detail: reason.text), to: number, session)
    }
    try expel(session, .garbage(error), &batch)
  }

  private mutating func handle(
    _ message: TreeClientMessage, from session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    switch message {
    case .open(let opening): try greet(session, opening, &batch)
    case .ping: batch.send(.pong, to: session)
    case .keepAlive: break
    case .request(let number, let request):
      guard let namespace = session.namespace else {
        return try expel(session, .outOfTurn("a request"), &batch)
      }
      let call = admin.call(number, session, namespace)
      context.metrics.treeRequests += 1
      let excess = sessions.rates.count(session, namespace.name, at: batch.uptime)
      if let excess, !request.onlyTakesAway {
        context.metrics.rateLimited += 1
        if context.follows, case .auth = request { session.rejectedCredentials.append(number) }
        return batch.respond(.init(.unavailable, detail: excess.text), to: call)
      }
      switch request {
      case .auth(let credential): try authenticate(credential, call, &batch)
      case .unauth:
        batch.respond(.init(.ok), to: call)
        if session.identity == .anonymous, session.accepted == nil { return }
        session.identity = .anonymous
        session.accepted = nil
        _ = session.charge.transfer(to: nil)
        try review(session, &batch)
      default: try tree.answer(request, call, &batch)
      }
    }
  }

  /// Judges what some sessions listen to, after the rules they are under have changed.
  mutating func review(
    _ isConcerned: (Session) -> Bool, _ batch: inout ServerBatch
  ) throws(StorageError) {
    for session in sessions.inOrder where isConcerned(session) { reviews.add(session, admin) }
    try reviews.goOn(sessions, documents, &batch)
  }
}
