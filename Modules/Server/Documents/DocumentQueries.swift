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
struct DocumentQueries {
  let reads: DocumentReads
  let registry: DatabaseRegistry

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
  func goOn(_ call: DocumentCall, _ batch: inout ServerBatch) throws(StorageError) {
    guard var running = call.runningQuery, let database = call.database else { return }
    call.runningQuery = nil
    if let denial = try judgeAgain(&running, call, database, batch) {
      return registry.finish(call, denial, &batch)
    }
    var size = 0
    var last: Document?
    var surplus: DocumentStatus?
    let most = running.portionBytes
    let time = running.told == 0 ? running.place.time : running.place.readTime
    let outcome = try database.authority.run(running.query, at: time, in: batch.reader) {
      document in
      if running.told == 0, running.toSkip > 0 {
        tellSkipped(running.toSkip, running, call, &batch)
      }
      let answer = DocumentQueryAnswer(
        document.masked(by: running.selection), readTime: running.place.readTime)
      size += send(answer, call, &batch)
      running.told += 1
      last = document
      if running.isWhole {
        if size > reads.limits.answerBytes {
          surplus = AnswerSize.tooLarge(reads.limits.answerBytes)
        }
        return surplus == nil
      }
      return size < most || !batch.isBounded
    }
    batch.spend(size / ServerBatch.bytesPerStep)
    let explanation: DocumentExplanation
    switch outcome {
    case .failure(let status):
      return registry.finish(call, running.told == 0 ? status : Self.tooLong, &batch)
    case .success(let found): explanation = found
    }
    batch.spend(rows: explanation.cost.rowsRead)
    if let surplus { return registry.finish(call, surplus, &batch) }
    if !running.isWhole, let last, batch.isBounded, size >= most {
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

/// A query whose answer is under way.
struct RunningQuery {
  /// The part of the query that was not answered yet, with all fields.
  private(set) var query: DocumentQuery
  /// The whole query as its caller asked for it, which is the one that rules judge.
  let judged: DocumentQuery
  /// The generation of the rules that have allowed it.
  var rulesGeneration: UInt64
  let place: DocumentReadPlace
  let selection: [DocumentFieldPath]?
  /// The number of documents that its offset leaves out.
  let toSkip: Int
  /// True for a result that is small by itself, and told at once.
  let isWhole: Bool
  /// The number of documents told.
  var told = 0
  private var toldBefore = 0
  private var entriesRead = 0
  private var documentsRead = 0
  /// The bytes of the next portion; little at first, so that its client can begin.
  private(set) var portionBytes = RunningQuery.firstBytes
  private var mostBytes = RunningQuery.usualBytes

  private static let firstBytes = 16 << 10
  private static let usualBytes = 256 << 10
  /// A result that is sorted as a whole is sorted again for each portion: there are fewer then.
  private static let sortedBytes = 4 << 20

  init(_ query: DocumentQuery, _ place: DocumentReadPlace, judgedBy rulesGeneration: UInt64) {
    judged = query
    self.rulesGeneration = rulesGeneration
    isWhole = query.vectorSearch != nil
    self.query = isWhole ? query : query.unselected
    self.place = place
    selection = isWhole ? nil : query.selection
    toSkip = query.offset
  }

  /// Leaves what was told behind.
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
    portionBytes = min(portionBytes * 4, mostBytes)
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
