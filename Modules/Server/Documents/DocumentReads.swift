import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Requests that read. Source: documents reference, section 6.6.
///
/// It finds out *where* a request reads, that is at which version and in which transaction, and
/// whether the rules allow it. The reading itself is a ``LongRead``, which may go on beside the
/// executor.
struct DocumentReads {
  let limits: ServerLimits
  let judge: DocumentJudge
  /// The indexes that queries need; `nil` for none.
  let indexes: DocumentIndexCatalogs?
  let randomBits: @Sendable () -> UInt64
  /// True at a node that follows, which makes no index.
  let follows: Bool

  /// Computes counts, sums and averages over a query.
  ///
  /// - Returns: A failure, a plan without results for `explain` without analysis, or a read. When
  ///   the request begins a transaction, a message with its id comes first.
  func aggregate(
    _ aggregations: [DocumentAggregation], _ query: DocumentQuery, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
    let query = judge.executable(query, call, database)
    let place: DocumentReadPlace
    switch try self.place(for: query, point, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    if query.explaining == .plan {
      let answer = DocumentAggregationAnswer(
        nil, transaction: place.begun, readTime: place.readTime, metrics: query.metrics(nil))
      return .ready(.success([.aggregation(answer)]))
    }
    let (authority, time) = (database.authority, place.readTime)
    let read = LongRead<DocumentAnswer>(
      judgedBy: [Self.access(to: query)], at: time
    ) { reader throws(StorageError) in
      (try authority.aggregate(aggregations, over: query, at: time, in: reader), bytes: 0)
    } finish: { outcome, batch in
      switch outcome {
      case .failure(let status): return .failure(status)
      case .success(let (values, explanation)):
        improve(explanation, database, &batch)
        let fields = DocumentMap(zip(aggregations, values).map { ($0.alias, $1) })
        return .success(Self.answers(DocumentFields(fields), explanation, of: query, at: place))
      }
    }
    return .reading(read)
  }

  /// The messages of an aggregation.
  private static func answers(
    _ fields: DocumentFields, _ explanation: DocumentExplanation, of query: DocumentQuery,
    at place: DocumentReadPlace
  ) -> [DocumentResponse] {
    var answer = DocumentAggregationAnswer(fields, readTime: place.readTime)
    if query.explaining == .analysis {
      answer.metrics = query.metrics(
        DocumentExplainMetrics.Statistics(
          returned: 1, entriesRead: explanation.cost.entriesRead,
          documentsRead: explanation.cost.documentsRead))
    }
    if place.begun.isEmpty { return [.aggregation(answer)] }
    let head = DocumentAggregationAnswer(nil, transaction: place.begun, readTime: .none)
    return [.aggregation(head), .aggregation(answer)]
  }

  /// Returns the point in time that a query reads at, for a caller that may run it; a transaction
  /// records that it was run.
  ///
  /// The order of checks matters. Explanations need full permission, since their figures tell about
  /// documents outside the result. The rules come before the check for indexes, which would tell
  /// what exists. Only then does a transaction begin or record the query.
  ///
  /// - Returns: The place; `failedPrecondition` when a required index is not declared.
  func place(
    for query: DocumentQuery, _ point: DocumentReadPoint, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<DocumentReadPlace, DocumentStatus> {
    // The cost of a query tells about documents that it does not select.
    if query.explaining != nil, !judge.allowsEverything(call.requester(in: database), database) {
      return .failure(DocumentStatus.denied)
    }
    let time = snapshotTime(of: point, database)
    if let denial = try judge.denial(of: accesses(point, query), at: time, call, database, batch) {
      return .failure(denial)
    }
    if let need = indexes?.need(of: query, in: database) { return .failure(need) }
    let found = place(of: point, call, database, batch)
    guard case .success(let place) = found, !place.notes.isEmpty else { return found }
    let status = database.transactions.note(
      query: query.target, at: place.readTime, in: place.notes)
    return status.map { .failure($0) } ?? found
  }

  /// The accesses of a query: a transaction that it begins is judged before it exists.
  ///
  /// Beginning a read-write transaction takes a privilege of its own, because its reads are
  /// validated at the commit.
  private func accesses(
    _ point: DocumentReadPoint, _ query: DocumentQuery
  ) -> [DocumentAccess] {
    switch point {
    case .begin(.readWrite): [.privileged(.readWriteTransaction), Self.access(to: query)]
    case .begin(.readOnly), .now, .time, .transaction: [Self.access(to: query)]
    }
  }

  /// The version that a request reads at, before anything is done for it; `nil` for the newest, and
  /// for a transaction that is unknown.
  private func snapshotTime(
    of point: DocumentReadPoint, _ database: OpenDatabase
  ) -> DocumentVersion? {
    switch point {
    case .now, .begin(.readWrite): nil
    case .time(let version): version
    case .begin(.readOnly(let version)): version
    case .transaction(let id): database.transactions.readOnlyTime(of: id)
    }
  }

  /// The access that a query asks for. One that asks for no collection sees all there are.
  static func access(to query: DocumentQuery) -> DocumentAccess {
    if case .all(let parent, _) = query.source { return .listCollections(below: parent) }
    return .list(query)
  }

  /// Begins the indexes that a query has missed.
  ///
  /// A query that reads many more rows than it returns may begin the index it lacks. Nodes that
  /// follow leave that to the leader, since an index is stored.
  func improve(
    _ explanation: DocumentExplanation, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) {
    if follows { return }
    // The query has its answer also when what is known of indexes is damaged.
    let found = try? database.authority.indexes(worth: explanation, in: batch.counted)
    DocumentSweep.store(found ?? [], &batch)
  }

  /// Finds out where a request reads, and begins a transaction if it asks for one.
  func place(
    of point: DocumentReadPoint, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) -> Result<DocumentReadPlace, DocumentStatus> {
    switch point {
    case .now: return .success(DocumentReadPlace(readTime: database.readTime))
    case .time(let version):
      guard version <= max(database.readTime, DocumentVersion(microseconds: batch.now * 1_000))
      else {
        return .failure(Self.futureTime)
      }
      if Self.isTooOld(version, database, batch) { return .failure(DocumentAuthority.tooOld) }
      return .success(DocumentReadPlace(time: version, readTime: version))
    case .transaction(let id): return place(in: id, database, batch)
    case .begin(let options):
      switch beginTransaction(options, call, database, batch) {
      case .failure(let status): return .failure(status)
      case .success(let id):
        call.untold = id
        return place(in: id, database, batch).map { place in
          var place = place
          place.begun = id
          return place
        }
      }
    }
  }

  private func place(
    in id: [UInt8], _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) -> Result<DocumentReadPlace, DocumentStatus> {
    let now = database.readTime
    return database.transactions.use(id, uptime: batch.uptime).map { kind in
      switch kind {
      case .readWrite: DocumentReadPlace(readTime: now, notes: id)
      case .readOnly(let time): DocumentReadPlace(time: time, readTime: time)
      }
    }
  }

  private static let futureTime = DocumentStatus(
    .invalidArgument, "The requested 'read_time' cannot be in the future.")

  /// Returns `true` for a time of a client's choice that is too long ago. Reads that are under way
  /// go on for as long as what they need is known.
  private static func isTooOld(
    _ time: DocumentVersion, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) -> Bool {
    let oldest = batch.now * 1_000 - DocumentAuthorityLimits.changeRetention
    return time < database.readTime && time.microseconds < oldest
  }

  /// Begins a transaction for a caller that may.
  ///
  /// - Parameters:
  ///   - options: A read-write transaction may name the one that it repeats; a read-only one may
  ///     name a time, which must lie in the retained history and not in the future.
  func begin(
    _ options: DocumentTransactionOptions, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    if case .readWrite = options,
      let denial = try judge.denial(
        of: [.privileged(.readWriteTransaction)], call, database, batch)
    {
      return .failure(denial)
    }
    return beginTransaction(options, call, database, batch).map { [.transaction($0)] }
  }

  /// Begins a transaction without asking the rules.
  ///
  /// Transactions are limited for each client, by address and user; see ``DocumentTransactions``.
  private func beginTransaction(
    _ options: DocumentTransactionOptions, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) -> Result<[UInt8], DocumentStatus> {
    let kind: DocumentTransactions.Kind
    switch options {
    case .readWrite(let retried):
      if let status = DocumentTransactions.checkRetried(retried) { return .failure(status) }
      kind = .readWrite
    case .readOnly(let time):
      if let time, time > max(database.readTime, DocumentVersion(microseconds: batch.now * 1_000)) {
        return .failure(Self.futureTime)
      }
      if let time, Self.isTooOld(time, database, batch) {
        return .failure(DocumentAuthority.tooOld)
      }
      kind = .readOnly(at: time ?? database.readTime)
    }
    let owner = DocumentTransactions.Owner(address: call.link.address, user: call.identity.userID)
    return database.transactions.begin(
      kind, for: owner, uptime: batch.uptime, randomBits: randomBits)
  }
}

extension DocumentIndexCatalogs {
  /// Returns the failure of a query whose index is not declared; `nil` when none is missing.
  func need(of query: DocumentQuery, in database: OpenDatabase) -> DocumentStatus? {
    catalog(of: database.name.databaseID).need(of: query)
      .map { DocumentStatus(.failedPrecondition, $0.text) }
  }
}

/// The point in time that a request reads at.
///
/// `time` and `readTime` are equal for reads of the past. For reads of the newest state `time` is
/// `nil`, and `readTime` is the version that the answer names.
struct DocumentReadPlace {
  /// As of when; `nil` for the newest commit.
  var time: DocumentVersion?
  /// As of when it tells that it has read.
  var readTime: DocumentVersion
  /// The transaction that notes what is read; empty for none.
  var notes: [UInt8] = []
  /// The transaction that begins; empty for none.
  var begun: [UInt8] = []
}
