import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport

/// Links that speak about documents: frames in, calls out of them.
struct DocumentService {
  let context: ServerContext
  let registry: DatabaseRegistry
  /// The rules in force. Calls under way are judged by others as soon as these change.
  private(set) var authorizers: DocumentAuthorizers

  init(_ context: ServerContext, _ authorizer: any DocumentAuthorizer) {
    self.context = context
    authorizers = DocumentAuthorizers(authorizer)
    registry = DatabaseRegistry(DocumentJudge(authorizers: authorizers))
  }

  private var limits: ServerLimits { context.options.limits }

  private var judge: DocumentJudge { DocumentJudge(authorizers: authorizers) }

  /// The indexes that queries need.
  private var indexes: DocumentIndexCatalogs? { context.options.requiredIndexes }

  /// The targets of listen calls.
  var listens: DocumentListens {
    DocumentListens(
      limits: limits, registry: registry, indexes: indexes, longReads: longReads)
  }

  private var writer: DocumentWriter {
    DocumentWriter(context: context, judge: judge, registry: registry, listens: listens)
  }

  private var reads: DocumentReads {
    DocumentReads(
      limits: limits, judge: judge, indexes: indexes, randomBits: context.randomBits,
      follows: context.follows)
  }

  private var answers: DocumentAnswers {
    DocumentAnswers(reads: reads, commits: DocumentCommits(writer: writer), gets: gets)
  }

  private var queries: DocumentQueries {
    DocumentQueries(reads: reads, registry: registry, longReads: longReads)
  }

  private var gets: DocumentGets {
    DocumentGets(reads: reads, registry: registry, longReads: longReads)
  }

  private var longReads: LongReads {
    LongReads(context: context, registry: registry)
  }

  /// Goes on with the call of a read that was done beside the server's executor.
  func finish(
    _ job: ReadJob, _ session: Session, _ batch: inout ServerBatch
  ) throws(StorageError) {
    try longReads.finish(job, session, &batch) { call, pending, error, batch throws(StorageError) in
      let status = try DocumentStatus(damage: error)
      guard let target = pending.target else { return registry.finish(call, status, &batch) }
      listens.refuse(target, status, call, &batch)
    }
  }

  /// Goes on with the answers of a session's queries and reads.
  func goOn(_ session: Session, _ batch: inout ServerBatch) throws(StorageError) {
    let calls = session.documents?.calls.values.filter(\.isAnswering) ?? []
    for call in calls.sorted(by: { $0.number < $1.number }) {
      do throws(StorageError) {
        try goOn(call, &batch)
      } catch {
        registry.finish(call, try DocumentStatus(damage: error), &batch)
      }
    }
  }

  private func goOn(_ call: DocumentCall, _ batch: inout ServerBatch) throws(StorageError) {
    try queries.goOn(call, &batch)
    try gets.goOn(call, &batch) { answer, database, batch in
      deliver(answer, call, database, &batch)
    }
  }

  /// Changes the rules in force, and puts the listens and reads under way under review: they are
  /// judged anew before they are told anything more. See ``ReviewQueue``.
  ///
  /// - Parameter change: Returns false when it leaves the rules in force as they are.
  mutating func changeRules(_ change: (inout DocumentAuthorizers) -> Bool) {
    if change(&authorizers) { registry.noteOtherRules(judge) }
  }

  /// The stored rules that could not be taken up.
  var unusableRules: [UnusableRules] { authorizers.unusableRules }

  /// Reads documents for rules.
  func lookup(
    in database: DocumentDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentLookup {
    let reader = batch.reader
    return DocumentLookup(
      try registry.database(database, in: reader).authority, reader, at: nil)
  }

  /// Restores the rules that were given in runs before.
  mutating func restore(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    try authorizers.restore(from: snapshot)
    registry.judge = judge
  }

  /// Restores the rules that hold now, in the place of those that were known.
  mutating func restoreAnew(from snapshot: borrowing LedgerSnapshot) throws(StorageError) {
    try authorizers.restore(from: snapshot)
    registry.noteOtherRules(judge)
  }

  /// Tells listen calls that the batch is complete.
  func sendSnapshots(
    _ sessions: borrowing SessionTable, _ batch: inout ServerBatch
  ) throws(StorageError) {
    try DocumentSnapshots(registry: registry).send(sessions, &batch)
  }

  /// Does what comes with time and commits nothing.
  func tickFollowing(_ batch: borrowing ServerBatch) {
    registry.expire(uptime: batch.uptime)
    DocumentSnapshots(registry: registry).remindQuietStreams(batch)
  }

  /// Does what comes with time.
  func tick(_ batch: inout ServerBatch) throws(StorageError) {
    tickFollowing(batch)
    try DocumentSweep(registry: registry).run(&batch)
  }

  /// Ends calls of a session that has ended, as many as the batch has steps for.
  ///
  /// - Returns: Whether none is left.
  func clear(_ session: Session, _ batch: inout ServerBatch) -> Bool {
    for call in session.documents?.calls.values.sorted(by: { $0.number < $1.number }) ?? [] {
      if batch.stepsLeft <= 0 { return false }
      batch.spend(1 + (call.stream.flatMap { call.database?.watch.targetCount(of: $0) } ?? 0))
      registry.close(call)
    }
    session.documents = nil
    return true
  }

  /// Ends the calls of a session whose credentials no longer count.
  func endCalls(
    of session: Session, _ credentials: CredentialChecker, _ batch: inout ServerBatch
  ) {
    for call in session.documents?.calls.values.sorted(by: { $0.number < $1.number }) ?? [] {
      guard let error = credentials.revalidate(call.accepted, batch) else { continue }
      registry.finish(call, DocumentStatus(.unauthenticated, error.text), &batch)
    }
  }

  /// Receives a frame of a link of documents.
  ///
  /// - Returns: The reason to end the session; `nil` when it goes on.
  func receive(
    _ frame: [UInt8], from session: Session, _ link: DocumentLink,
    _ credentials: CredentialChecker, _ rates: inout RateTable, _ batch: inout ServerBatch
  ) throws(StorageError) -> SessionEnd? {
    let message: DocumentClientFrame
    do throws(DocumentWireError) {
      message = try DocumentClientFrame.decode(frame)
    } catch {
      return .malformedFrame(error.status.message)
    }
    switch message {
    case .open(let number, _) where isTooMuch(number, session, &rates, &batch): break
    case .message(let number, _) where isTooMuch(number, session, &rates, &batch): break
    case .open(let number, let opening):
      if let last = link.lastCall, number <= last {
        return .outOfTurn("call \(number) after \(last)")
      }
      link.lastCall = number
      try begin(opening, number, link, credentials, &batch)
    // What is said in a call that has ended was on its way when it did.
    case .message(let number, let message):
      if let call = link.calls[number], !call.isAnswering { try receive(message, call, &batch) }
    case .halfClose(let number):
      if let call = link.calls[number] { halfClose(call, &batch) }
    case .cancel(let number):
      if let call = link.calls[number] { registry.close(call) }
    case .ping: batch.add(.send(slot: link.slot, DocumentServerFrame.pong.encode()))
    }
    return nil
  }

  /// Counts a frame; ends its call when its client asks too much.
  private func isTooMuch(
    _ number: UInt32, _ session: Session, _ rates: inout RateTable, _ batch: inout ServerBatch
  ) -> Bool {
    batch.metrics.documentRequests += 1
    guard let excess = rates.count(session, "", at: batch.uptime) else { return false }
    batch.metrics.rateLimited += 1
    if let call = session.documents?.calls[number] { registry.close(call) }
    let status = DocumentStatus(.resourceExhausted, excess.text)
    batch.add(
      .send(slot: session.slot, DocumentServerFrame.end(stream: number, status).encode()))
    return true
  }

  private func begin(
    _ opening: DocumentCallOpening, _ number: UInt32, _ link: DocumentLink,
    _ credentials: CredentialChecker, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let call: DocumentCall
    do throws(DocumentStatus) {
      call = try DocumentCallOpener(context: context)
        .open(opening, number, on: link, credentials, batch)
    } catch {
      return batch.add(
        .send(slot: link.slot, DocumentServerFrame.end(stream: number, error).encode()))
    }
    guard let message = opening.message else { return }
    try receive(message, call, &batch)
    if link.calls[number] === call { halfClose(call, &batch) }
  }

  private func receive(
    _ message: [UInt8], _ call: DocumentCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let weight = DocumentWeight.bytes(ofMessage: message.count)
    guard context.budget.charge(weight, .parsing, to: call.link.address, user: call.identity.userID)
    else {
      return try refuseUnread(message, tooHeavy(weight), call, &batch)
    }
    defer {
      context.budget.release(weight, .parsing, of: call.link.address, user: call.identity.userID)
    }
    let request: DocumentRequest
    do throws(DocumentWireError) {
      request = try DocumentRequest.decode(call.method, message, in: call.database?.name)
    } catch {
      if case .severalDatabases = error, call.method == .listen {
        return registry.finish(call, error.status, &batch)
      }
      return try refuseUnread(message, error.status, call, &batch)
    }
    do throws(StorageError) {
      try perform(request, call, &batch)
    } catch {
      registry.finish(call, try DocumentStatus(damage: error), &batch)
    }
  }

  /// The rejection of a message that would take more memory to read than its client may hold, now
  /// or whenever it is sent.
  private func tooHeavy(_ weight: Int) -> DocumentStatus {
    let limit = min(context.budget.addressBytes, context.budget.identityBytes)
    if weight <= limit {
      return DocumentStatus(.unavailable, "Too much is being read. Try again.")
    }
    return DocumentStatus(
      .resourceExhausted, "The message takes \(weight) bytes of memory to read, more than \(limit)."
    )
  }

  /// Answers a message that cannot be read, or is too large.
  private func refuseUnread(
    _ message: [UInt8], _ status: DocumentStatus, _ call: DocumentCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    // A target that cannot be watched is refused; the others of the stream go on.
    if call.method == .listen, let target = DocumentRequest.addedTarget(in: message) {
      return listens.refuseUnread(target, status, call, &batch)
    }
    // So does a stream whose batches are numbered: without an outcome, the batch would be sent
    // again and again.
    if call.method == .write, let unread = DocumentRequest.unreadWrite(in: message) {
      guard batch.diskSpace == .ample else { return registry.finish(call, .diskFull, &batch) }
      do throws(StorageError) {
        if try writer.refuse(unread, status, call, &batch) { return }
      } catch {
        return registry.finish(call, try DocumentStatus(damage: error), &batch)
      }
    }
    registry.finish(call, status, &batch)
  }

  private func perform(
    _ request: DocumentRequest, _ call: DocumentCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let database: OpenDatabase
    if let known = call.database {
      database = known
    } else {
      let name = request.database.resourceName
      guard context.serves(database: name) else {
        return registry.finish(
          call, DocumentStatus(.notFound, "The database \(name) does not exist"), &batch)
      }
      guard
        let opened = try registry.database(request.database, for: call, in: batch.reader)
      else { return registry.finish(call, Self.tooManyDatabases, &batch) }
      database = opened
      database.callCount += 1
      call.database = database
    }
    switch request.body {
    case _ where context.follows && call.method.changesState:
      registry.finish(call, DocumentStatus(.unavailable, RefusalText.follows), &batch)
    case .listen(let request): try listens.listen(request, call, database, &batch)
    case .write(let request): try writer.write(request, call, database, &batch)
    case .query(let query, let point):
      try queries.begin(query, point, call, database, &batch)
    case .get, .list, .create, .update, .delete, .batchGet, .begin, .commit, .rollback,
      .aggregate, .partition, .listCollections, .batchWrite:
      switch try answers.reply(to: request.body, call, database, &batch) {
      case .ready(let answer): deliver(answer, call, database, &batch)
      case .reading(let read):
        try longReads.begin(read, of: call, &batch) { outcome, batch in
          deliver(outcome.flatMap { $0 }, call, database, &batch)
        }
      case .underWay: try goOn(call, &batch)
      }
    }
  }

  private static let tooManyDatabases = DocumentStatus(
    .resourceExhausted,
    "The databases of this address or user hold their share of the server's memory.")

  private func deliver(
    _ answer: DocumentAnswer, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) {
    let responses: [DocumentResponse]
    switch answer {
    case .failure(let status): return registry.finish(call, status, &batch)
    case .success(let made): responses = made
    }
    let isDecided = call.method.changesState
    var size = 0
    for response in responses {
      let bytes = response.encode(database.names)
      size += bytes.count
      // A write is made: its results were bounded before, and an error would have it made again.
      if size > limits.answerBytes, !isDecided {
        return registry.finish(call, AnswerSize.tooLarge(limits.answerBytes), &batch)
      }
      if !call.method.streamsResponses {
        if size > DocumentWireLimits.messageBytes, !isDecided {
          return registry.finish(call, AnswerSize.tooLarge(DocumentWireLimits.messageBytes), &batch)
        }
        let frame = DocumentServerFrame.answer(stream: call.number, bytes)
        batch.add(.send(slot: call.slot, frame.encode()))
        call.untold = []
        return registry.close(call)
      }
      call.send(bytes, &batch)
    }
    call.untold = []
    registry.finish(call, nil, &batch)
  }

  private func halfClose(_ call: DocumentCall, _ batch: inout ServerBatch) {
    // The rest of its answer is still to be sent.
    if call.isAnswering { return }
    let isStream = call.method.streamsRequests
    let status = DocumentStatus(.invalidArgument, "No message came.")
    registry.finish(call, isStream ? nil : status, &batch)
  }
}
