import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery
import TernSecurity
import TernStorage

// Requests that read. Source: documents reference, section 6.6.
extension ServerMachine {
  mutating func get(
    _ key: DocumentKey, _ mask: [DocumentFieldPath]?, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let found: (documents: [Document], place: Place)
    switch try read([key], point, call, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let read): found = read
    }
    guard let document = found.documents.first, document.isFound else {
      return .failure(DocumentStatus(.notFound, "There is no document \(key)."))
    }
    return .success([.document(document.masked(by: mask))])
  }

  mutating func batchGet(
    _ keys: [DocumentKey], _ mask: [DocumentFieldPath]?, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    var asked: Set<DocumentKey> = []
    let distinct = keys.filter { asked.insert($0).inserted }
    switch try read(distinct, point, call, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let (documents, place)):
      var answers: [DocumentBatchGetAnswer] = []
      if !place.begun.isEmpty {
        answers.append(
          DocumentBatchGetAnswer(nil, transaction: place.begun, readTime: place.readTime))
      }
      for document in documents {
        answers.append(
          DocumentBatchGetAnswer(document.masked(by: mask), readTime: place.readTime))
      }
      return .success(answers.map { .batchGet($0) })
    }
  }

  /// Reads documents for somebody who may read them.
  private mutating func read(
    _ keys: [DocumentKey], _ point: DocumentReadPoint, _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<(documents: [Document], place: Place), DocumentStatus> {
    if deniesEverything(call, room) { return .failure(Self.denied) }
    let place: Place
    switch self.place(of: point, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    var found: [Document] = []
    var size = AnswerSize(limitBytes: options.limits.answerBytes)
    var surplus: DocumentStatus?
    for key in keys {
      let document: Document
      switch try self.document(key, at: place.time, room, batch) {
      case .failure(let status): return .failure(status)
      case .success(let read): document = read
      }
      // A denial comes before the size of anything is told.
      guard try allows([.get(document)], call, room, batch) else {
        return .failure(ServerMachine.denied)
      }
      surplus = surplus ?? size.add(document)
      if surplus == nil { found.append(document) }
    }
    if let surplus { return .failure(surplus) }
    if !place.notes.isEmpty, let status = room.transactions.note(found, in: place.notes) {
      return .failure(status)
    }
    return .success((found, place))
  }

  private func document(
    _ key: DocumentKey, at time: DocumentVersion?, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<Document, DocumentStatus> {
    guard let time else { return .success(try room.authority.document(key, in: batch.reader)) }
    let query = DocumentQuery.document(key)
    return try room.authority.documents(of: query, at: time, in: batch.reader).map { past in
      past.first ?? Document(key, .missing)
    }
  }

  mutating func run(
    _ query: DocumentQuery, _ point: DocumentReadPoint, _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let place: Place
    switch try self.place(for: query, point, call, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    var answers: [DocumentResponse] = []
    if !place.begun.isEmpty {
      answers.append(
        .query(DocumentQueryAnswer(transaction: place.begun, readTime: place.readTime)))
    }
    var size = AnswerSize(limitBytes: options.limits.answerBytes)
    var surplus: DocumentStatus?
    let outcome = try room.authority.run(query, at: place.time, in: batch.reader) { document in
      answers.append(.query(DocumentQueryAnswer(document, readTime: place.readTime)))
      surplus = size.add(document)
      return surplus == nil
    }
    if let surplus { return .failure(surplus) }
    switch outcome {
    case .failure(let status): return .failure(status)
    case .success(let explanation): improve(explanation, room, &batch)
    }
    // Who finds nothing learns at least as of when.
    if answers.isEmpty { answers = [.query(DocumentQueryAnswer(readTime: place.readTime))] }
    return .success(answers)
  }

  mutating func aggregate(
    _ aggregations: [DocumentAggregation], _ query: DocumentQuery, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let place: Place
    switch try self.place(for: query, point, call, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    let outcome = try room.authority.aggregate(
      aggregations, over: query, at: place.time, in: batch.reader)
    switch outcome {
    case .failure(let status): return .failure(status)
    case .success(let (values, explanation)):
      improve(explanation, room, &batch)
      let fields = DocumentMap(zip(aggregations, values).map { ($0.alias, $1) })
      let answer = DocumentAggregationAnswer(
        DocumentFields(fields), transaction: place.begun, readTime: place.readTime)
      return .success([.aggregation(answer)])
    }
  }

  /// Where a query reads, for somebody who may run it; a transaction notes that it was run.
  mutating func place(
    for query: DocumentQuery, _ point: DocumentReadPoint, _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Result<Place, DocumentStatus> {
    guard try allows([.list(query)], call, room, batch) else {
      return .failure(ServerMachine.denied)
    }
    let found = place(of: point, room, batch)
    guard case .success(let place) = found, !place.notes.isEmpty else { return found }
    let status = room.transactions.note(query: query.target, at: place.readTime, in: place.notes)
    return status.map { .failure($0) } ?? found
  }

  /// Begins the indexes that a query has missed.
  private func improve(
    _ explanation: DocumentExplanation, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) {
    // The query has its answer also when what is known of indexes is damaged.
    let found = try? room.authority.indexes(worth: explanation, in: batch.reader)
    store(found ?? [], &batch)
  }

  static var denied: DocumentStatus { DocumentStatus(.permissionDenied, "Permission denied") }
}

/// How much an answer holds so far.
struct AnswerSize {
  private let limitBytes: Int
  private var byteCount = 0

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Adds a document.
  ///
  /// - Returns: Why there can be no such answer; `nil` as long as it is not too large.
  mutating func add(_ document: Document) -> DocumentStatus? {
    byteCount += (document.fields?.bytes.count ?? 0) + document.key.text.utf8.count
    return byteCount > limitBytes ? AnswerSize.tooLarge(limitBytes) : nil
  }

  static func tooLarge(_ limitBytes: Int) -> DocumentStatus {
    DocumentStatus(.resourceExhausted, "The answer is larger than \(limitBytes) bytes.")
  }
}
