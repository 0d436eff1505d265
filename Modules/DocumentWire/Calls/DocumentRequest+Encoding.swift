import TernCore
import TernQuery

extension DocumentRequest {
  /// The bytes of the message; its method is ``method``.
  ///
  /// Fields are written in the order of their numbers, apart from a few of our own. Equal requests
  /// give equal bytes: a numbered batch is recognized by the hash of a commit in this form.
  ///
  /// - Returns: The message, of any size. The caller keeps it below
  ///   ``DocumentWireLimits/requestBytes``.
  package func encode() -> [UInt8] {
    var writer = ProtoWriter()
    let names = DocumentNames(database)
    switch body {
    case .get(let key, let mask, let point): WireRequest.get(key, mask, point, names, to: &writer)
    case .list(let listing): WireRequest.list(listing, names, to: &writer)
    case .create(let path, let id, let fields, let mask):
      writer.parent(1, path.parent, names)
      writer.string(2, path.id)
      writer.string(3, id ?? "")
      writer.document(4, nil, fields, names)
      if let mask { writer.mask(5, mask) }
    case .update(let mutation, let mask): WireRequest.update(mutation, mask, names, to: &writer)
    case .delete(let mutation):
      writer.key(1, mutation.key, names)
      WireWrite.precondition(2, mutation.precondition, to: &writer)
    case .write(let request): WireWriteStream.request(request, names, to: &writer)
    case .listen(let request): WireRequest.listen(request, names, to: &writer)
    case .query(let query, let point):
      writer.parent(1, query.source.parent, names)
      WireQuery.query(2, query, to: &writer)
      WireRequest.readPoint(point, transaction: 5, begin: 6, time: 7, to: &writer)
      query.explaining?.write(10, to: &writer)
    case .aggregate(let query, let aggregations, let point):
      writer.parent(1, query.source.parent, names)
      WireAggregation.write(2, query, aggregations, to: &writer)
      WireRequest.readPoint(point, transaction: 4, begin: 5, time: 6, to: &writer)
      query.explaining?.write(8, to: &writer)
    case .partition(let partitioning): WireRequest.partition(partitioning, names, to: &writer)
    case .listCollections(let parent, let page, let point):
      writer.parent(1, parent, names)
      writer.int(2, page.size)
      writer.string(3, page.token)
      WireRequest.readPoint(point, transaction: 0, begin: 0, time: 4, to: &writer)
    case .batchGet, .begin, .commit, .rollback, .batchWrite:
      WireRequest.atomic(body, names, to: &writer)
    }
    return writer.bytes
  }
}

extension WireRequest {
  /// Requests that name their database.
  ///
  /// Writes field 1, which they have in common, and the rest of each.
  fileprivate static func atomic(
    _ body: DocumentRequest.Body, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.database(1, names)
    switch body {
    case .batchGet(let keys, let mask, let point):
      for key in keys { writer.key(2, key, names) }
      if let mask { writer.mask(3, mask) }
      readPoint(point, transaction: 4, begin: 5, time: 7, to: &writer)
    case .begin(let options): transactionOptions(2, options, to: &writer)
    case .commit(let writes, let transaction, let mark):
      for write in writes { WireWrite.mutation(2, write, names, to: &writer) }
      writer.data(3, transaction)
      if let mark { WireWriteStream.header(mark, to: &writer) }
    case .rollback(let transaction): writer.data(2, transaction)
    case .batchWrite(let writes):
      for write in writes { WireWrite.mutation(2, write, names, to: &writer) }
    case .get, .list, .create, .update, .delete, .query, .aggregate, .partition,
      .listCollections, .write, .listen:
      break
    }
  }

  /// Writes a `GetDocumentRequest`.
  fileprivate static func get(
    _ key: DocumentKey, _ mask: [DocumentFieldPath]?, _ point: DocumentReadPoint,
    _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.key(1, key, names)
    if let mask { writer.mask(2, mask) }
    readPoint(point, transaction: 3, begin: 0, time: 5, to: &writer)
  }

  /// Writes a `ListDocumentsRequest`.
  fileprivate static func list(
    _ listing: DocumentListing, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.parent(1, listing.parent, names)
    writer.string(2, listing.collectionID ?? "")
    writer.int(3, listing.page.size)
    writer.string(4, listing.page.token)
    writer.string(6, DocumentOrder.text(listing.orders))
    if let mask = listing.mask { writer.mask(7, mask) }
    readPoint(listing.readPoint, transaction: 8, begin: 0, time: 10, to: &writer)
    writer.bool(12, listing.showsMissing)
  }

  /// Writes an `UpdateDocumentRequest`. A deletion or verification has no form here; it is written
  /// as a document without fields.
  fileprivate static func update(
    _ mutation: DocumentMutation, _ mask: [DocumentFieldPath]?, _ names: DocumentNames,
    to writer: inout ProtoWriter
  ) {
    switch mutation.change {
    case .set(let fields): writer.document(1, mutation.key, fields, names)
    case .patch(let fields, let updated):
      writer.document(1, mutation.key, fields, names)
      writer.mask(2, updated.paths)
    case .delete, .verify: writer.document(1, mutation.key, .empty, names)
    }
    if let mask { writer.mask(3, mask) }
    WireWrite.precondition(4, mutation.precondition, to: &writer)
  }

  /// Writes a `PartitionQueryRequest`.
  fileprivate static func partition(
    _ partitioning: DocumentPartitioning, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.parent(1, partitioning.query.source.parent, names)
    WireQuery.query(2, partitioning.query, to: &writer)
    writer.int(3, partitioning.count)
    writer.string(4, partitioning.page.token)
    writer.int(5, partitioning.page.size)
    readPoint(partitioning.readPoint, transaction: 0, begin: 0, time: 6, to: &writer)
  }

  /// Writes a `ListenRequest`. The purpose of a target travels as a label of the request.
  fileprivate static func listen(
    _ request: DocumentListenRequest, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.database(1, names)
    switch request {
    case .add(let target):
      WireTarget.write(2, target, names, to: &writer)
      if target.purpose != .listen {
        let label = writer.begin(4)
        writer.string(1, WatchTarget.Purpose.label)
        writer.string(2, target.purpose.rawValue)
        writer.end(label)
      }
    case .remove(let id): writer.putInt(3, id)
    }
  }

  /// Writes as of when to read; a method that lacks a way of saying it has 0 for its field.
  ///
  /// - Parameters:
  ///   - transaction: The number of the field for a transaction that was begun, or 0.
  ///   - begin: The number of the field for a transaction that begins, or 0.
  ///   - time: The number of the field for a read time, which every method has.
  /// - Precondition: The method has a field for the read point.
  fileprivate static func readPoint(
    _ point: DocumentReadPoint, transaction: Int, begin: Int, time: Int,
    to writer: inout ProtoWriter
  ) {
    switch point {
    case .now: break
    case .time(let version): writer.timestamp(time, version.timestamp)
    case .transaction(let id) where transaction > 0: writer.put(transaction, id.span)
    case .begin(let options) where begin > 0: transactionOptions(begin, options, to: &writer)
    case .transaction, .begin: preconditionFailure("this method reads outside of transactions")
    }
  }

  /// Writes `TransactionOptions`. The mode is a message that is present even when it is empty.
  fileprivate static func transactionOptions(
    _ field: Int, _ options: DocumentTransactionOptions, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    switch options {
    case .readOnly(let version):
      let inner = writer.begin(2)
      if let version { writer.timestamp(2, version.timestamp) }
      writer.end(inner)
    case .readWrite(let retrying):
      let inner = writer.begin(3)
      writer.data(1, retrying)
      writer.end(inner)
    }
    writer.end(mark)
  }
}

extension DocumentExplaining {
  /// Writes `ExplainOptions`.
  fileprivate func write(_ field: Int, to writer: inout ProtoWriter) {
    let mark = writer.begin(field)
    writer.bool(1, self == .analysis)
    writer.end(mark)
  }
}
