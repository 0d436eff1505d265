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
    let place: Place
    switch self.place(of: point, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    var found: [Document] = []
    for key in keys {
      guard let time = place.time else {
        found.append(try room.authority.document(key, in: batch.reader))
        continue
      }
      let query = DocumentQuery.document(key)
      switch try room.authority.documents(of: query, at: time, in: batch.reader) {
      case .failure(let status): return .failure(status)
      case .success(let past): found.append(past.first ?? Document(key, .missing))
      }
    }
    guard try allows(found.map { .get($0) }, call, room, batch) else {
      return .failure(ServerMachine.denied)
    }
    if !place.notes.isEmpty, let status = room.transactions.note(found, in: place.notes) {
      return .failure(status)
    }
    return .success((found, place))
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
    let outcome = try room.authority.run(query, at: place.time, in: batch.reader) { document in
      answers.append(.query(DocumentQueryAnswer(document, readTime: place.readTime)))
      return true
    }
    switch outcome {
    case .failure(let status): return .failure(status)
    case .success(let explanation): try improve(explanation, room, &batch)
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
      try improve(explanation, room, &batch)
      let fields = DocumentMap(zip(aggregations, values).map { ($0.alias, $1) })
      let answer = DocumentAggregationAnswer(
        DocumentFields(fields), transaction: place.begun, readTime: place.readTime)
      return .success([.aggregation(answer)])
    }
  }

  /// Where a query reads, for somebody who may run it; a transaction notes that it was run.
  private mutating func place(
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
  ) throws(StorageError) {
    store(try room.authority.indexes(worth: explanation, in: batch.reader), &batch)
  }

  static var denied: DocumentStatus { DocumentStatus(.permissionDenied, "Permission denied") }
}
