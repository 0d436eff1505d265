import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Requests of one message that write.
///
/// Three forms exist: one document by create, update or delete; a commit, possibly of a transaction
/// or numbered; and a batch of independent writes. All of them end in
/// ``DocumentWriter/commit(_:_:_:_:_:_:)``.
struct DocumentCommits {
  let writer: DocumentWriter

  /// Creates a document, under a random id if the request names none.
  ///
  /// - Returns: `alreadyExists` if there is a document of that name.
  func create(
    _ path: CollectionPath, _ id: String?, _ fields: DocumentFields, _ mask: [DocumentFieldPath]?,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let key: DocumentKey
    do throws(DocumentError) {
      key = try path.document(id ?? DocumentIDGenerator.next(randomBits: writer.context.randomBits))
    } catch {
      return .failure(DocumentWireError.document(error).status)
    }
    let mutation = DocumentMutation(key, .set(fields), precondition: .exists(false))
    return try update(mutation, mask, call, database, &batch)
  }

  /// Makes one write and answers with the document as it is then.
  ///
  /// A caller that may not get the document is told the fields that the write itself has written.
  ///
  /// - Parameters:
  ///   - mask: The fields of the answer; `nil` for all. It does not restrict the write.
  func update(
    _ mutation: DocumentMutation, _ mask: [DocumentFieldPath]?, _ call: DocumentCall,
    _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    switch try writer.commit([mutation], nil, nil, call, database, &batch) {
    case .failure(let status): return .failure(status)
    case .success:
      var document = try database.authority.document(mutation.key, in: batch.reader)
      // A whole document that was set holds nothing but what its caller has written.
      if let written = mutation.touchedFields,
        try writer.judge.denial(of: [.get(document)], call, database, batch) != nil
      {
        document = document.limited(to: written)
      }
      return .success([.document(document.masked(by: mask.map { DocumentFieldMask(asked: $0) }))])
    }
  }

  /// Commits writes together.
  ///
  /// - Parameters:
  ///   - id: The transaction that the commit ends; empty for none. The transaction is over
  ///     afterwards, whatever the outcome.
  ///   - mark: The number of the batch in its writer's stream. It excludes a transaction, whose
  ///     reads would not be valid for a repetition.
  /// - Returns: A result for each write, and the version of the commit. A read-only transaction may
  ///   only commit nothing.
  func commit(
    _ writes: [DocumentMutation], in id: [UInt8], _ mark: DocumentWriteHeader?,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    if let mark {
      guard let stream = mark.stream, id.isEmpty else {
        let text = "A numbered commit names its stream, and belongs to no transaction."
        return .failure(DocumentStatus(.invalidArgument, text))
      }
      return try writer.once(writes, mark, stream, call, database, &batch)
        .flatMap(Self.answer(to:))
    }
    var reads: DocumentReadSet?
    if !id.isEmpty {
      switch database.transactions.finish(id, uptime: batch.uptime) {
      case .failure(let status): return .failure(status)
      case .success(let read?): reads = read
      case .success(nil):
        if writes.isEmpty { return .success([.commit([], database.readTime)]) }
        let text = "Cannot modify entities in a read-only transaction."
        return .failure(DocumentStatus(.invalidArgument, text))
      }
    }
    return try writer.commit(writes, reads, nil, call, database, &batch).map {
      if !id.isEmpty { database.transactions.noteCommit(id) }
      return [.commit($0.results, $0.version)]
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
  ///
  /// The rules must allow `batchWrite` as a whole, which is a privilege of administrators, before
  /// each write is judged alone. A failed write has an empty result and its status; the texts of
  /// statuses are left out once they exceed ``DocumentWireLimits/batchStatusBytes``, so that the
  /// answer fits a message.
  func writeEach(
    _ writes: [DocumentMutation], _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    do throws(DocumentStatus) {
      try DocumentAuthority.checkBatch(writes)
      try DocumentWireLimits.checkResults(of: writes)
    } catch {
      return .failure(error)
    }
    let denial = try writer.judge.denial(of: [.privileged(.batchWrite)], call, database, batch)
    if let denial { return .failure(denial) }
    var results: [DocumentWriteResult] = []
    var statuses: [DocumentStatus?] = []
    var textBytes = 0
    for write in writes {
      switch try writer.commit([write], nil, nil, call, database, &batch) {
      case .success(let done):
        results.append(done.results.first ?? DocumentWriteResult(version: nil))
        statuses.append(nil)
      case .failure(let status):
        results.append(DocumentWriteResult(version: nil))
        textBytes += status.message.utf8.count
        let fits = textBytes <= DocumentWireLimits.batchStatusBytes
        statuses.append(fits ? status : DocumentStatus(status.code, ""))
      }
    }
    return .success([.batchWrite(results, statuses)])
  }
}
