import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Queries, whose answers go out portion by portion.
///
/// No more of a result is in memory than one portion; the rest is read as of the same time once
/// the link takes more. Source: firestore server reference, section 2.7.
///
/// A call passes through `begin`, any number of `goOn`, and an end. Between two portions the rest
/// of the query is a query itself, behind the last document that was sent; ``RunningQuery`` holds
/// it. The link decides when the next portion is due: the machine asks for it by
/// ``ServerInput/more(slot:)``.
struct DocumentQueries {
  let reads: DocumentReads
  let registry: DatabaseRegistry
  let longReads: LongReads

  /// Begins to answer a query.
  ///
  /// A message with the transaction's id goes first, unless an offset makes another message the
  /// first one; stock clients expect the id in the first message. A request for the plan alone ends
  /// here.
  func begin(
    _ query: DocumentQuery, _ point: DocumentReadPoint, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let query = reads.judge.executable(query, call, database)
    let place: DocumentReadPlace
    switch try reads.place(for: query, point, call, database, batch) {
    case .failure(let status): return registry.finish(call, status, &batch)
    case .success(let found): place = found
    }
    if !place.begun.isEmpty, query.offset == 0 || query.explaining == .plan {
      send(DocumentQueryAnswer(transaction: place.begun, readTime: .none), call, &batch)
      call.untold = []
    }
    if query.explaining == .plan {
      let answer = DocumentQueryAnswer(readTime: place.readTime, metrics: query.metrics(nil))
      send(answer, call, &batch)
      return registry.finish(call, nil, &batch)
    }
    call.runningQuery = RunningQuery(query, place, judgedBy: registry.rulesGeneration)
    try goOn(call, &batch)
  }

  /// Sends the next portion of a query's result.
  ///
  /// Rules that changed since the last portion judge the query again before it continues.
  func goOn(_ call: DocumentCall, _ batch: inout ServerBatch) throws(StorageError) {
    guard call.readings.isEmpty, var running = call.runningQuery, let database = call.database
    else { return }
    if let denial = try judgeAgain(&running, call, database, batch) {
      return registry.finish(call, denial, &batch)
    }
    call.runningQuery = running
    let portion = portion(of: running, call, database, isBounded: batch.isBounded)
    try longReads.begin(portion, of: call, isBeside: running.isBeside, &batch) {
      outcome, batch throws(StorageError) in
      switch outcome {
      case .success(let portion):
        try send(portion, call, database, &batch)
      case .failure(let status): registry.finish(call, status, &batch)
      }
    }
    // Its further portions take as many rows.
    if !call.readings.isEmpty { call.runningQuery?.isBeside = true }
  }

  /// The read of the next portion.
  ///
  /// - Parameter isBounded: False when the whole result goes out at once, as in tests without
  ///   portions.
  private func portion(
    of running: RunningQuery, _ call: DocumentCall, _ database: OpenDatabase, isBounded: Bool
  ) -> LongRead<QueryPortion> {
    let (authority, names) = (database.authority, database.names)
    let (query, time, selection) = (running.query, running.place.readTime, running.selection)
    let most = running.isWhole ? reads.limits.answerBytes : running.portionBytes
    let isWhole = running.isWhole
    return LongRead(
      judgedBy: [DocumentReads.access(to: running.judged)], at: time
    ) { reader throws(StorageError) in
      var messages: [[UInt8]] = []
      var size = 0
      var last: Document?
      let outcome = try authority.run(query, at: time, in: reader) { document in
        let answer = DocumentQueryAnswer(document.masked(by: selection), readTime: time)
        let message = DocumentResponse.query(answer).encode(names)
        messages.append(message)
        size += message.count
        last = document
        return isWhole ? size <= most : size < most || !isBounded
      }
      let portion = QueryPortion(messages: messages, size: size, last: last, outcome: outcome)
      return (portion, bytes: size)
    } finish: { portion, _ in
      portion
    }
  }

  /// Sends a portion, and lets the query go on or ends it.
  ///
  /// The end of a result has three forms: the portion was not full, the result was whole, or the
  /// read failed. A failure behind the first portion is `aborted`, because the client has to begin
  /// anew rather than give up.
  private func send(
    _ portion: QueryPortion, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard var running = call.runningQuery else { return }
    call.runningQuery = nil
    if running.told == 0, running.toSkip > 0, !portion.messages.isEmpty {
      tellSkipped(running.toSkip, running, call, &batch)
    }
    for message in portion.messages { call.send(message, &batch) }
    running.told += portion.messages.count
    batch.spend(portion.size / ServerBatch.bytesPerStep)
    let explanation: DocumentExplanation
    switch portion.outcome {
    case .failure(let status):
      let isOld = running.place.time == nil && status == DocumentAuthority.tooOld
      return registry.finish(call, running.told == 0 && !isOld ? status : Self.tooLong, &batch)
    case .success(let found): explanation = found
    }
    if running.isWhole, portion.size > reads.limits.answerBytes {
      return registry.finish(call, AnswerSize.tooLarge(reads.limits.answerBytes), &batch)
    }
    if !running.isWhole, let last = portion.last, batch.isBounded,
      portion.size >= running.portionBytes
    {
      do throws(DocumentQueryError) {
        try running.pass(last, explanation, in: database.name)
      } catch {
        return registry.finish(call, DocumentStatus(.internalError, error.text), &batch)
      }
      call.runningQuery = running
      return batch.goOnLater(call.slot)
    }
    reads.improve(explanation, database, &batch)
    if running.told == 0 { tellSkipped(explanation.skipped, running, call, &batch) }
    if running.query.explaining == .analysis {
      let metrics = running.query.metrics(running.statistics(with: explanation))
      send(DocumentQueryAnswer(readTime: running.place.readTime, metrics: metrics), call, &batch)
    }
    registry.finish(call, nil, &batch)
  }

  /// Judges a query that is under way when other rules came into force since it was judged last.
  ///
  /// - Returns: The denial; `nil` when its answer goes on.
  private func judgeAgain(
    _ running: inout RunningQuery, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentStatus? {
    let generation = registry.rulesGeneration
    if running.rulesGeneration == generation { return nil }
    running.rulesGeneration = generation
    return try reads.judge.denial(
      of: [DocumentReads.access(to: running.judged)], at: running.place.readTime, call, database,
      batch)
  }

  /// The end of a query that was under way for so long that its time is no longer known.
  private static let tooLong = DocumentStatus(
    .aborted, "The query was under way for too long. Try again.")

  /// The message without a document: how many an offset left out, and as of when. With an offset
  /// it is the first one, and names the transaction that begins.
  private func tellSkipped(
    _ count: Int, _ running: RunningQuery, _ call: DocumentCall, _ batch: inout ServerBatch
  ) {
    let answer = DocumentQueryAnswer(
      transaction: running.toSkip > 0 ? running.place.begun : [],
      readTime: running.place.readTime, skipped: count)
    send(answer, call, &batch)
    if running.toSkip > 0 { call.untold = [] }
  }

  @discardableResult
  private func send(
    _ answer: DocumentQueryAnswer, _ call: DocumentCall, _ batch: inout ServerBatch
  ) -> Int {
    let bytes = DocumentResponse.query(answer).encode(call.database?.names ?? DocumentNames())
    call.send(bytes, &batch)
    return bytes.count
  }
}

/// The next part of a query's result.
struct QueryPortion: Sendable {
  /// The messages of its documents, encoded.
  let messages: [[UInt8]]
  /// Their bytes.
  let size: Int
  /// The last document, with all fields.
  let last: Document?
  let outcome: Result<DocumentExplanation, DocumentStatus>
}

/// A query whose answer is under way.
///
/// `query` shrinks with every portion, `judged` never changes. Portions grow by a factor of four up
/// to a limit, so that the first documents arrive soon and long results cost few reads.
struct RunningQuery {
  /// The part of the query that was not answered yet, with all fields.
  private(set) var query: DocumentQuery
  /// The whole query as its caller asked for it, which is the one that rules judge.
  let judged: DocumentQuery
  /// The generation of the rules that have allowed it.
  var rulesGeneration: UInt64
  let place: DocumentReadPlace
  let selection: DocumentFieldMask?
  /// The number of documents that its offset leaves out.
  let toSkip: Int
  /// True for a result that is small by itself, and told at once.
  ///
  /// Results of a vector search are sorted by distance and limited, so they cannot be continued
  /// behind a document.
  let isWhole: Bool
  /// True when its portions are read beside the server's executor.
  var isBeside = false
  /// The number of documents told.
  var told = 0
  /// The number of documents told when the previous portion ended.
  private var toldBefore = 0
  /// The cost of all earlier portions; the last one is added by `statistics`.
  private var entriesRead = 0
  private var documentsRead = 0
  /// The bytes of the next portion; little at first, so that its client can begin.
  private(set) var portionBytes = RunningQuery.firstBytes
  private var mostBytes = RunningQuery.usualBytes

  private static let firstBytes = 16 << 10
  private static let usualBytes = 256 << 10
  /// Portions that are read beside the executor are larger, because each opens a snapshot.
  private static let besideBytes = 1 << 20
  /// A result that is sorted as a whole is sorted again for each portion: there are fewer then.
  private static let sortedBytes = 4 << 20

  init(_ query: DocumentQuery, _ place: DocumentReadPlace, judgedBy rulesGeneration: UInt64) {
    judged = query
    self.rulesGeneration = rulesGeneration
    isWhole = query.vectorSearch != nil
    self.query = isWhole ? query : query.unselected
    self.place = place
    selection = isWhole ? nil : DocumentFieldMask(selectionOf: query)
    toSkip = query.offset
  }

  /// Leaves what was told behind.
  ///
  /// - Throws: ``DocumentQueryError`` if no query describes the rest, which would be a fault of the
  ///   server.
  mutating func pass(
    _ last: Document, _ explanation: DocumentExplanation, in database: DocumentDatabase
  ) throws(DocumentQueryError) {
    query = try query.behind(last, after: told - toldBefore, in: database)
    if explanation.cost.rowsRead > 8 * (explanation.returned + explanation.skipped) + 256 {
      mostBytes = Self.sortedBytes
    }
    entriesRead += explanation.cost.entriesRead
    documentsRead += explanation.cost.documentsRead
    toldBefore = told
    portionBytes = min(portionBytes * 4, isBeside ? max(mostBytes, Self.besideBytes) : mostBytes)
  }

  /// Returns the cost of all portions, the last one included.
  func statistics(
    with explanation: DocumentExplanation
  ) -> DocumentExplainMetrics.Statistics {
    DocumentExplainMetrics.Statistics(
      returned: told, entriesRead: entriesRead + explanation.cost.entriesRead,
      documentsRead: documentsRead + explanation.cost.documentsRead)
  }
}

extension DocumentQuery {
  /// Returns the plan and the cost in the form of the service.
  func metrics(_ statistics: DocumentExplainMetrics.Statistics?) -> DocumentExplainMetrics {
    let isGroup = if case .group = source { true } else { false }
    return DocumentExplainMetrics(
      scope: isGroup ? "Collection group" : "Collection", properties: indexText,
      statistics: statistics)
  }
}
