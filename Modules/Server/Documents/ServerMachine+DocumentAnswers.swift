import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery
import TernStorage

/// What a request gets: the messages of its answer, or why there is none.
typealias DocumentAnswer = Result<[DocumentResponse], DocumentStatus>

// Requests that are one message.
extension ServerMachine {
  /// Carries out a request.
  mutating func answer(
    _ body: DocumentRequest.Body, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    switch body {
    case .get(let key, let mask, let point): try get(key, mask, point, call, room, batch)
    case .batchGet(let keys, let mask, let point):
      try batchGet(keys, mask, point, call, room, batch)
    case .query(let query, let point): try run(query, point, call, room, &batch)
    case .aggregate(let query, let aggregations, let point):
      try aggregate(aggregations, query, point, call, room, &batch)
    case .list(let listing): try list(listing, call, room, batch)
    case .listCollections(let parent, let page, let point):
      try listCollections(parent, page, point, call, room, batch)
    case .partition(let partitioning): try partition(partitioning, call, room, batch)
    case .create(let path, let id, let fields, let mask):
      try create(path, id, fields, mask, call, room, &batch)
    case .update(let mutation, let mask): try update(mutation, mask, call, room, &batch)
    case .delete(let mutation):
      try commit([mutation], nil, nil, call, room, &batch).map { _ in [.done] }
    case .commit(let writes, let transaction, let mark):
      try commit(writes, transaction, mark, call, room, &batch)
    case .batchWrite(let writes): try writeEach(writes, call, room, &batch)
    case .begin(let options): begin(options, room, batch).map { [.transaction($0)] }
    case .rollback(let id): rollback(id, room)
    case .write, .listen: .failure(DocumentStatus(.internalError, "A stream is no request."))
    }
  }

  private mutating func create(
    _ path: CollectionPath, _ id: String?, _ fields: DocumentFields, _ mask: [DocumentFieldPath]?,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let key: DocumentKey
    do throws(DocumentError) {
      key = try path.document(id ?? DocumentIDGenerator.next(randomBits: randomBits))
    } catch {
      return .failure(DocumentWireError.document(error).status)
    }
    let mutation = DocumentMutation(key, .set(fields), precondition: .exists(false))
    return try update(mutation, mask, call, room, &batch)
  }

  /// Makes one write and answers with the document as it is then.
  private mutating func update(
    _ mutation: DocumentMutation, _ mask: [DocumentFieldPath]?, _ call: DocumentCall,
    _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    switch try commit([mutation], nil, nil, call, room, &batch) {
    case .failure(let status): return .failure(status)
    case .success:
      let document = try room.authority.document(mutation.key, in: batch.reader)
      return .success([.document(document.masked(by: mask))])
    }
  }

  private mutating func commit(
    _ writes: [DocumentMutation], _ id: [UInt8], _ mark: DocumentWriteMark?,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    if let mark {
      guard let stream = mark.stream, id.isEmpty else {
        let text = "A numbered commit names its stream, and belongs to no transaction."
        return .failure(DocumentStatus(.invalidArgument, text))
      }
      return try once(writes, mark, stream, call, room, &batch)
        .flatMap(ServerMachine.answer(to:))
    }
    var reads: DocumentReadSet?
    if !id.isEmpty {
      switch room.transactions.finish(id, uptime: batch.uptime) {
      case .failure(let status): return .failure(status)
      case .success(let read?): reads = read
      case .success(nil):
        if writes.isEmpty { return .success([.commit([], room.readTime)]) }
        let text = "The transaction is for reading only."
        return .failure(DocumentStatus(.invalidArgument, text))
      }
    }
    return try commit(writes, reads, nil, call, room, &batch).map {
      [.commit($0.results, $0.version)]
    }
  }

  private static func answer(to outcome: DocumentWriteOutcome) -> DocumentAnswer {
    switch outcome.verdict {
    case .committed(let version, let results): .success([.commit(results, version)])
    case .rejected(let status): .failure(status)
    case .gap(let expected):
      .failure(DocumentStatus(.outOfRange, "The next number of the stream is \(expected)."))
    }
  }

  /// Makes each write on its own: some may fail.
  private mutating func writeEach(
    _ writes: [DocumentMutation], _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    do throws(DocumentStatus) { try DocumentAuthority.checkBatch(writes) } catch {
      return .failure(error)
    }
    var results: [DocumentWriteResult] = []
    var statuses: [DocumentStatus?] = []
    for write in writes {
      switch try commit([write], nil, nil, call, room, &batch) {
      case .success(let done):
        results.append(done.results.first ?? DocumentWriteResult(version: nil))
        statuses.append(nil)
      case .failure(let status):
        results.append(DocumentWriteResult(version: nil))
        statuses.append(status)
      }
    }
    return .success([.batchWrite(results, statuses)])
  }

  private func begin(
    _ options: DocumentTransactionOptions, _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) -> Result<[UInt8], DocumentStatus> {
    let kind: DocumentTransactions.Kind =
      switch options {
      case .readWrite: .readWrite
      case .readOnly(let time): .readOnly(at: time ?? room.readTime)
      }
    return room.transactions.begin(kind, uptime: batch.uptime, randomBits: randomBits)
  }

  private func rollback(_ id: [UInt8], _ room: DocumentRoom) -> DocumentAnswer {
    room.transactions.rollback(id)
    return .success([.done])
  }

  /// Where a request reads.
  struct Place {
    /// As of when; `nil` for the newest commit.
    var time: DocumentVersion?
    /// As of when it tells that it has read.
    var readTime: DocumentVersion
    /// The transaction that notes what is read; empty for none.
    var notes: [UInt8] = []
    /// The transaction that begins; empty for none.
    var begun: [UInt8] = []
  }

  /// Finds out where a request reads, and begins a transaction if it asks for one.
  func place(
    of point: DocumentReadPoint, _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) -> Result<Place, DocumentStatus> {
    switch point {
    case .now: return .success(Place(readTime: room.readTime))
    case .time(let version):
      guard version <= max(room.readTime, DocumentVersion(microseconds: batch.now * 1_000)) else {
        return .failure(DocumentStatus(.invalidArgument, "The read time has not come yet."))
      }
      return .success(Place(time: version, readTime: version))
    case .transaction(let id): return place(in: id, room, batch)
    case .begin(let options):
      switch begin(options, room, batch) {
      case .failure(let status): return .failure(status)
      case .success(let id):
        return place(in: id, room, batch).map { place in
          var place = place
          place.begun = id
          return place
        }
      }
    }
  }

  private func place(
    in id: [UInt8], _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) -> Result<Place, DocumentStatus> {
    let now = room.readTime
    return room.transactions.use(id, uptime: batch.uptime).map { kind in
      switch kind {
      case .readWrite: Place(readTime: now, notes: id)
      case .readOnly(let time): Place(time: time, readTime: time)
      }
    }
  }
}

extension Document {
  /// The document with no other fields than those asked for.
  func masked(by paths: [DocumentFieldPath]?) -> Document {
    guard let paths, let fields else { return self }
    var masked = self
    let mask = DocumentFieldMask(paths.filter { !$0.isKey })
    masked.state = .found(DocumentFields(mask.projection(of: fields.map)))
    return masked
  }
}
