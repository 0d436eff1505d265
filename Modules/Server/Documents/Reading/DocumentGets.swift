import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Reads of documents by name. Source: documents reference, section 6.6.
///
/// Few documents as of now are read at once; more of them, and documents as of an earlier time,
/// portion by portion, between which other clients have their turns. Nothing is told before all of
/// them were judged.
struct DocumentGets {
  let reads: DocumentReads
  let registry: DatabaseRegistry
  let longReads: LongReads

  /// The documents of a portion.
  static let portionKeys = 32

  /// That of now: a read may be finished under other rules than it was begun.
  private var judge: DocumentJudge { registry.judge }

  /// Reads documents for a caller that may read them.
  ///
  /// - Parameter isBatch: Whether many were asked for, of which some may be missing.
  func begin(
    _ keys: [DocumentKey], _ mask: [DocumentFieldPath]?, _ point: DocumentReadPoint,
    isBatch: Bool, _ call: DocumentCall, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
    var asked: Set<DocumentKey> = []
    let distinct = keys.filter { asked.insert($0).inserted }
    if judge.deniesEverything(call, database) { return .ready(.failure(DocumentStatus.denied)) }
    if case .begin(.readWrite) = point,
      let denial = try judge.denial(
        of: [.privileged(.readWriteTransaction)], call, database, batch)
    {
      return .ready(.failure(denial))
    }
    let place: DocumentReadPlace
    switch reads.place(of: point, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    var get = RunningGet(
      rest: distinct[...], place: place,
      mask: mask.map { DocumentFieldMask(asked: $0) }, isBatch: isBatch,
      size: AnswerSize(limitBytes: reads.limits.answerBytes),
      rulesGeneration: registry.rulesGeneration,
      charge: ReadCharge(
        longReads.context.budget, address: call.link.address, user: call.identity.userID))
    guard place.time == nil, distinct.count <= Self.portionKeys else {
      call.runningGet = get
      return .underWay
    }
    for key in distinct {
      let document = try database.authority.document(key, in: batch.counted)
      if let failure = try take([document], &get, call, database, batch) {
        return .ready(.failure(failure))
      }
    }
    return .ready(finish(get, database))
  }

  /// Reads and judges the next portion.
  ///
  /// - Parameter deliver: Called with the answer, in this batch or a later one.
  func goOn(
    _ call: DocumentCall, _ batch: inout ServerBatch,
    deliver: @escaping (DocumentAnswer, OpenDatabase, inout ServerBatch) -> Void
  ) throws(StorageError) {
    guard call.readings.isEmpty, let get = call.runningGet, let database = call.database else {
      return
    }
    let keys = batch.isBounded ? Array(get.rest.prefix(Self.portionKeys)) : Array(get.rest)
    let (authority, time) = (database.authority, get.place.readTime)
    let read = LongRead<Result<[Document], DocumentStatus>>(
      judgedBy: [], at: nil
    ) { reader throws(StorageError) in
      let outcome = try authority.documents(keys, at: time, in: reader)
      let documents = (try? outcome.get()) ?? []
      return (outcome, bytes: documents.reduce(0) { $0 + ($1.fields?.bytes.count ?? 0) })
    } finish: { outcome, _ in
      outcome
    }
    try longReads.begin(read, of: call, &batch) { outcome, batch throws(StorageError) in
      guard var get = exchange(&call.runningGet, with: nil) else { return }
      switch outcome.flatMap({ $0 }) {
      case .failure(let status): deliver(.failure(status), database, &batch)
      case .success(let documents):
        if let failure = try take(documents, &get, call, database, batch) {
          return deliver(.failure(failure), database, &batch)
        }
        if get.rest.isEmpty { return deliver(finish(get, database), database, &batch) }
        call.runningGet = get
        batch.goOnLater(call.slot)
      }
    }
  }

  /// Takes documents in that were read.
  ///
  /// - Returns: The reason why there can be no answer.
  private func take(
    _ documents: [Document], _ get: inout RunningGet, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentStatus? {
    get.rest = get.rest.dropFirst(documents.count)
    var judged = documents
    if get.rulesGeneration != registry.rulesGeneration {
      // Other rules came into force since the first of them were judged.
      judged = get.found + documents
      (get.asked, get.rulesGeneration) = ([], registry.rulesGeneration)
    }
    let lookup = DocumentLookup(database.authority, batch.counted, at: get.place.time)
    for document in judged {
      // A denial comes before the size of anything is told. What rules have asked for counts for
      // all documents together.
      let verdict = try judge.verdict(
        on: [.get(document)], at: get.place.time, after: get.asked, by: lookup,
        call.requester(in: database), database, batch)
      if let refusal = verdict.refusal {
        batch.metrics.denials += 1
        return DocumentStatus(denial: refusal)
      }
      get.asked.formUnion(verdict.dependencies ?? [])
    }
    for document in documents { get.surplus = get.surplus ?? get.size.add(document) }
    if get.surplus != nil { return get.rest.isEmpty ? get.surplus : nil }
    get.found += documents
    return get.rest.isEmpty || get.hold(documents) ? nil : Self.tooMuch
  }

  private static let tooMuch = DocumentStatus(
    .resourceExhausted, "Too much is being read by this address or user. Try again.")

  private func finish(_ get: RunningGet, _ database: OpenDatabase) -> DocumentAnswer {
    let place = get.place
    if !place.notes.isEmpty,
      let status = database.transactions.note(get.found, in: place.notes)
    {
      return .failure(status)
    }
    if get.isBatch {
      var answers: [DocumentBatchGetAnswer] = []
      if !place.begun.isEmpty {
        answers.append(DocumentBatchGetAnswer(nil, transaction: place.begun, readTime: .none))
      }
      for document in get.found {
        answers.append(
          DocumentBatchGetAnswer(document.masked(by: get.mask), readTime: place.readTime))
      }
      return .success(answers.map { .batchGet($0) })
    }
    guard let document = get.found.first, document.isFound else {
      let name = get.found.first.map { DocumentName($0.key, in: database.name).resourceName } ?? ""
      return .failure(DocumentStatus(.notFound, "Document \"\(name)\" not found."))
    }
    return .success([.document(document.masked(by: get.mask))])
  }
}

/// A read of documents by name that is under way.
struct RunningGet {
  /// The names that were not read yet.
  var rest: ArraySlice<DocumentKey>
  let place: DocumentReadPlace
  let mask: DocumentFieldMask?
  /// True when many were asked for, of which some may be missing.
  let isBatch: Bool
  var size: AnswerSize
  /// The generation of the rules that have allowed what was read.
  var rulesGeneration: UInt64
  /// Holds the memory of what was read.
  let charge: ReadCharge
  var found: [Document] = []
  /// The documents that rules have asked for.
  var asked: Set<DocumentKey> = []
  /// The reason why the answer is too large; told when all documents were judged.
  var surplus: DocumentStatus?

  /// Charges the memory of documents that are kept while others are read.
  func hold(_ documents: [Document]) -> Bool {
    charge.add(documents.reduce(0) { $0 + ($1.fields?.bytes.count ?? 0) + $1.key.text.utf8.count })
  }
}
