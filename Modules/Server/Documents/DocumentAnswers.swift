import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// The messages of an answer, or the reason why there is none.
typealias DocumentAnswer = Result<[DocumentResponse], DocumentStatus>

/// Answers requests that are one message.
struct DocumentAnswers {
  let reads: DocumentReads
  let commits: DocumentCommits

  /// Carries out a request.
  func answer(
    _ body: DocumentRequest.Body, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    switch body {
    case .get(let key, let mask, let point): try reads.get(key, mask, point, call, database, batch)
    case .batchGet(let keys, let mask, let point):
      try reads.batchGet(keys, mask, point, call, database, batch)
    case .aggregate(let query, let aggregations, let point):
      try reads.aggregate(aggregations, query, point, call, database, &batch)
    case .list(let listing): try DocumentLists(reads: reads).list(listing, call, database, batch)
    case .listCollections(let parent, let page, let point):
      try DocumentLists(reads: reads).listCollections(parent, page, point, call, database, batch)
    case .partition(let partitioning):
      try DocumentLists(reads: reads).partition(partitioning, call, database, batch)
    case .create(let path, let id, let fields, let mask):
      try commits.create(path, id, fields, mask, call, database, &batch)
    case .update(let mutation, let mask): try commits.update(mutation, mask, call, database, &batch)
    case .delete(let mutation):
      try commits.writer.commit([mutation], nil, nil, call, database, &batch).map { _ in [.done] }
    case .commit(let writes, let transaction, let mark):
      try commits.commit(writes, in: transaction, mark, call, database, &batch)
    case .batchWrite(let writes): try commits.writeEach(writes, call, database, &batch)
    case .begin(let options): try reads.begin(options, call, database, batch)
    case .rollback(let id):
      database.transactions.rollback(id).map { .failure($0) } ?? .success([.done])
    case .query, .write, .listen:
      .failure(DocumentStatus(.internalError, "A stream is no request."))
    }
  }
}

extension Document {
  /// The document with no other fields than those asked for.
  func masked(by paths: [DocumentFieldPath]?) -> Document {
    guard let paths else { return self }
    return limited(to: DocumentFieldMask(paths.filter { !$0.isKey }))
  }

  /// The document with no other fields than those of a mask.
  func limited(to mask: DocumentFieldMask) -> Document {
    guard let fields else { return self }
    var masked = self
    masked.state = .found(DocumentFields(mask.projection(of: fields.map)))
    return masked
  }
}
