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
///
/// The calls that stream, `query`, `write` and `listen`, have answers of their own; this type
/// handles all others.
struct DocumentAnswers {
  let reads: DocumentReads
  let commits: DocumentCommits
  let gets: DocumentGets

  /// Carries out a request.
  ///
  /// - Returns: `ready` for what is decided at once, `reading` for a read that may take long, and
  ///   `underWay` for an answer that goes out in portions.
  func reply(
    to body: DocumentRequest.Body, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentReply {
    let lists = DocumentLists(reads: reads)
    switch body {
    case .get(let key, let mask, let point):
      return try gets.begin([key], mask, point, isBatch: false, call, database, batch)
    case .batchGet(let keys, let mask, let point):
      return try gets.begin(keys, mask, point, isBatch: true, call, database, batch)
    case .aggregate(let query, let aggregations, let point):
      return try reads.aggregate(aggregations, query, point, call, database, batch)
    case .list(let listing): return try lists.list(listing, call, database, batch)
    case .listCollections(let parent, let page, let point):
      return try lists.listCollections(parent, page, point, call, database, batch)
    case .partition(let partitioning):
      return try lists.partition(partitioning, call, database, batch)
    case .create, .update, .delete, .commit, .batchWrite, .begin, .rollback, .query, .write,
      .listen:
      return .ready(try answer(body, call, database, &batch))
    }
  }

  private func answer(
    _ body: DocumentRequest.Body, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: inout ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    switch body {
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
    case .get, .batchGet, .aggregate, .list, .listCollections, .partition, .query, .write,
      .listen:
      .failure(DocumentStatus(.internalError, "A read or a stream has no answer of its own."))
    }
  }
}

extension Document {
  /// The document with no other fields than those asked for; `nil` asks for all.
  func masked(by mask: DocumentFieldMask?) -> Document { mask.map { limited(to: $0) } ?? self }

  /// The document with no other fields than those of a mask.
  func limited(to mask: DocumentFieldMask) -> Document {
    guard let fields else { return self }
    var masked = self
    masked.state = .found(DocumentFields(mask.projection(of: fields.map)))
    return masked
  }
}

extension DocumentFieldMask {
  /// The mask of the fields that a request asks for, to be made once for all documents of its
  /// answer. The key is always told.
  init(asked paths: [DocumentFieldPath]) { self.init(paths.filter { !$0.isKey }) }
}
