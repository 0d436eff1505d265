package import TernCore
import TernQuery

extension DocumentResponse {
  /// The bytes of the message.
  ///
  /// - Parameter names: The database of the call.
  package func encode(_ names: DocumentNames) -> [UInt8] {
    var writer = ProtoWriter()
    switch self {
    case .document(let document): writer.bareDocument(document, names)
    case .documents(let documents, let token):
      for document in documents { writer.document(1, document, names) }
      writer.string(2, token)
    case .done: break
    case .batchGet(let answer): writer.batchGet(answer, names)
    case .transaction(let id): writer.data(1, id)
    case .commit(let results, let version):
      for result in results { writer.writeResult(1, result) }
      writer.timestamp(2, version.timestamp)
    case .query(let answer): writer.query(answer, names)
    case .aggregation(let answer):
      if let values = answer.values {
        let mark = writer.begin(1)
        writer.fields(2, values)
        writer.end(mark)
      }
      writer.data(2, answer.transaction)
      writer.version(3, answer.readTime)
      answer.metrics?.write(10, to: &writer)
    case .partitions(let cursors, let token):
      for cursor in cursors { writer.cursor(1, cursor) }
      writer.string(2, token)
    case .collectionIDs(let ids, let token):
      for id in ids { writer.put(1, id) }
      writer.string(2, token)
    case .batchWrite(let results, let statuses):
      for result in results { writer.writeResult(1, result) }
      for status in statuses { writer.status(2, status) }
    case .write(let response): writer.writeResponse(response)
    case .listen(let change): writer.watchChange(change, names)
    }
    return writer.bytes
  }

  /// A document as part of later messages: encode it once, send it to many.
  package static func encoded(_ document: Document, _ names: DocumentNames) -> [UInt8] {
    var writer = ProtoWriter()
    writer.bareDocument(document, names)
    return writer.bytes
  }

  /// ``WatchChange/changed(_:targets:removed:)`` around a document that is encoded already.
  package static func changed(
    _ encoded: [UInt8], targets: [Int32], removed: [Int32]
  ) -> [UInt8] {
    var writer = ProtoWriter()
    writer.reserve(encoded.count + 32)
    let mark = writer.begin(3)
    writer.put(1, encoded.span)
    writer.int32s(5, targets)
    writer.int32s(6, removed)
    writer.end(mark)
    return writer.bytes
  }
}

extension ProtoWriter {
  fileprivate mutating func bareDocument(_ document: Document, _ names: DocumentNames) {
    key(1, document.key, names)
    fields(2, document.fields ?? .empty)
    version(3, document.created)
    version(4, document.version)
  }

  fileprivate mutating func batchGet(
    _ answer: DocumentBatchGetAnswer, _ names: DocumentNames
  ) {
    if let document = answer.document {
      if document.isFound {
        self.document(1, document, names)
      } else {
        key(2, document.key, names)
      }
    }
    data(3, answer.transaction)
    version(4, answer.readTime)
  }

  fileprivate mutating func query(_ answer: DocumentQueryAnswer, _ names: DocumentNames) {
    if let document = answer.document { self.document(1, document, names) }
    data(2, answer.transaction)
    version(3, answer.readTime)
    int(4, answer.skipped)
    bool(6, answer.isDone)
    answer.metrics?.write(11, to: &self)
  }
}
