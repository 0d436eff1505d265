import TernCore
import TernQuery

extension DocumentRequest {
  /// The bytes of the message; its method is ``method``.
  package func encode() -> [UInt8] {
    var writer = ProtoWriter()
    let names = DocumentNames(database)
    switch body {
    case .get(let key, let mask, let point): writer.get(key, mask, point, names)
    case .list(let listing): writer.list(listing, names)
    case .create(let path, let id, let fields, let mask):
      writer.parent(1, path.parent, names)
      writer.string(2, path.id)
      writer.string(3, id ?? "")
      writer.document(4, nil, fields, names)
      if let mask { writer.mask(5, mask) }
    case .update(let mutation, let mask): writer.update(mutation, mask, names)
    case .delete(let mutation):
      writer.key(1, mutation.key, names)
      writer.precondition(2, mutation.precondition)
    case .write(let request): writer.writeRequest(request, names)
    case .listen(let request): writer.listen(request, names)
    case .query(let query, let point):
      writer.parent(1, of: query.source, names)
      writer.query(2, query)
      writer.readPoint(point, transaction: 5, begin: 6, time: 7)
      query.explaining?.write(10, to: &writer)
    case .aggregate(let query, let aggregations, let point):
      writer.parent(1, of: query.source, names)
      writer.aggregation(2, query, aggregations)
      writer.readPoint(point, transaction: 4, begin: 5, time: 6)
      query.explaining?.write(8, to: &writer)
    case .partition(let partitioning): writer.partition(partitioning, names)
    case .listCollections(let parent, let page, let point):
      writer.parent(1, parent, names)
      writer.int(2, page.size)
      writer.string(3, page.token)
      writer.readPoint(point, transaction: 0, begin: 0, time: 4)
    case .batchGet, .begin, .commit, .rollback, .batchWrite: writer.atomic(body, names)
    }
    return writer.bytes
  }
}

extension ProtoWriter {
  /// Requests that name their database.
  fileprivate mutating func atomic(_ body: DocumentRequest.Body, _ names: DocumentNames) {
    database(1, names)
    switch body {
    case .batchGet(let keys, let mask, let point):
      for key in keys { self.key(2, key, names) }
      if let mask { self.mask(3, mask) }
      readPoint(point, transaction: 4, begin: 5, time: 7)
    case .begin(let options): transactionOptions(2, options)
    case .commit(let writes, let transaction, let mark):
      for write in writes { self.write(2, write, names) }
      data(3, transaction)
      if let mark { self.mark(mark) }
    case .rollback(let transaction): data(2, transaction)
    case .batchWrite(let writes): for write in writes { self.write(2, write, names) }
    case .get, .list, .create, .update, .delete, .query, .aggregate, .partition,
      .listCollections, .write, .listen:
      break
    }
  }

  fileprivate mutating func get(
    _ key: DocumentKey, _ mask: [DocumentFieldPath]?, _ point: DocumentReadPoint,
    _ names: DocumentNames
  ) {
    self.key(1, key, names)
    if let mask { self.mask(2, mask) }
    readPoint(point, transaction: 3, begin: 0, time: 5)
  }

  fileprivate mutating func list(_ listing: DocumentListing, _ names: DocumentNames) {
    parent(1, listing.parent, names)
    string(2, listing.collectionID ?? "")
    int(3, listing.page.size)
    string(4, listing.page.token)
    string(6, DocumentOrder.text(listing.orders))
    if let mask = listing.mask { self.mask(7, mask) }
    readPoint(listing.readPoint, transaction: 8, begin: 0, time: 10)
    bool(12, listing.showsMissing)
  }

  fileprivate mutating func update(
    _ mutation: DocumentMutation, _ mask: [DocumentFieldPath]?, _ names: DocumentNames
  ) {
    switch mutation.change {
    case .set(let fields): document(1, mutation.key, fields, names)
    case .patch(let fields, let updated):
      document(1, mutation.key, fields, names)
      self.mask(2, updated.paths)
    case .delete, .verify: document(1, mutation.key, .empty, names)
    }
    if let mask { self.mask(3, mask) }
    precondition(4, mutation.precondition)
  }

  fileprivate mutating func partition(
    _ partitioning: DocumentPartitioning, _ names: DocumentNames
  ) {
    parent(1, of: partitioning.query.source, names)
    query(2, partitioning.query)
    int(3, partitioning.count)
    string(4, partitioning.page.token)
    int(5, partitioning.page.size)
    readPoint(partitioning.readPoint, transaction: 0, begin: 0, time: 6)
  }

  fileprivate mutating func listen(_ request: DocumentListenRequest, _ names: DocumentNames) {
    database(1, names)
    switch request {
    case .add(let target):
      self.target(2, target, names)
      if target.purpose != .listen {
        let label = begin(4)
        string(1, WatchTarget.Purpose.label)
        string(2, target.purpose.rawValue)
        end(label)
      }
    case .remove(let id): putInt(3, id)
    }
  }

  /// Writes as of when to read; a method that lacks a way of saying it has 0 for its field.
  fileprivate mutating func readPoint(
    _ point: DocumentReadPoint, transaction: Int, begin: Int, time: Int
  ) {
    switch point {
    case .now: break
    case .time(let version): timestamp(time, version.timestamp)
    case .transaction(let id) where transaction > 0: put(transaction, id.span)
    case .begin(let options) where begin > 0: transactionOptions(begin, options)
    case .transaction, .begin: preconditionFailure("this method reads outside of transactions")
    }
  }

  fileprivate mutating func transactionOptions(
    _ field: Int, _ options: DocumentTransactionOptions
  ) {
    let mark = begin(field)
    switch options {
    case .readOnly(let version):
      let inner = begin(2)
      if let version { timestamp(2, version.timestamp) }
      end(inner)
    case .readWrite(let retrying):
      let inner = begin(3)
      data(1, retrying)
      end(inner)
    }
    end(mark)
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
