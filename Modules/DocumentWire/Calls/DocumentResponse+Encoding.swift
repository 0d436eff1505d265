package import TernCore
import TernQuery

extension DocumentResponse {
  /// The bytes of the message.
  ///
  /// - Parameter names: The database of the call.
  /// - Returns: The message. The caller keeps it below ``DocumentWireLimits/messageBytes``.
  package func encode(_ names: DocumentNames) -> [UInt8] {
    var writer = ProtoWriter()
    switch self {
    case .document(let document): WireResponse.bareDocument(document, names, to: &writer)
    case .documents(let documents, let token):
      for document in documents { writer.document(1, document, names) }
      writer.string(2, token)
    case .done: break
    case .batchGet(let answer): WireResponse.batchGet(answer, names, to: &writer)
    case .transaction(let id): writer.data(1, id)
    case .commit(let results, let version):
      for result in results { WireWrite.result(1, result, to: &writer) }
      writer.timestamp(2, version.timestamp)
    case .query(let answer): WireResponse.query(answer, names, to: &writer)
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
      for cursor in cursors { WireQuery.cursor(1, cursor, to: &writer) }
      writer.string(2, token)
    case .collectionIDs(let ids, let token):
      for id in ids { writer.put(1, id) }
      writer.string(2, token)
    case .batchWrite(let results, let statuses):
      for result in results { WireWrite.result(1, result, to: &writer) }
      for status in statuses { writer.status(2, status) }
    case .write(let response): WireWriteStream.response(response, to: &writer)
    case .listen(let change): WireWatchChange.write(change, names, to: &writer)
    }
    return writer.bytes
  }

  /// A document as part of later messages: encode it once, send it to many.
  ///
  /// - Returns: The bytes of a `Document`, which ``changed(_:targets:removed:)`` wraps.
  package static func encoded(_ document: Document, _ names: DocumentNames) -> [UInt8] {
    var writer = ProtoWriter()
    WireResponse.bareDocument(document, names, to: &writer)
    return writer.bytes
  }

  /// ``WatchChange/changed(_:targets:removed:)`` around a document that is encoded already.
  ///
  /// - Parameters:
  ///   - encoded: A document, as ``encoded(_:_:)`` makes it.
  ///   - targets: The targets that it belongs to.
  ///   - removed: The targets that it no longer belongs to.
  /// - Complexity: O(*n*) in the bytes of the document, which are copied and not encoded again.
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

extension WireResponse {
  /// Writes the fields of a `Document`: 1 name, 2 fields, 3 create time, 4 update time. A missing
  /// document has a name alone.
  fileprivate static func bareDocument(
    _ document: Document, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    writer.key(1, document.key, names)
    writer.fields(2, document.fields ?? .empty)
    writer.version(3, document.created)
    writer.version(4, document.version)
  }

  /// Writes a `BatchGetDocumentsResponse`.
  fileprivate static func batchGet(
    _ answer: DocumentBatchGetAnswer, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    if let document = answer.document {
      if document.isFound {
        writer.document(1, document, names)
      } else {
        writer.key(2, document.key, names)
      }
    }
    writer.data(3, answer.transaction)
    writer.version(4, answer.readTime)
  }

  /// Writes a `RunQueryResponse`.
  fileprivate static func query(
    _ answer: DocumentQueryAnswer, _ names: DocumentNames, to writer: inout ProtoWriter
  ) {
    if let document = answer.document { writer.document(1, document, names) }
    writer.data(2, answer.transaction)
    writer.version(3, answer.readTime)
    writer.int(4, answer.skipped)
    writer.bool(6, answer.isDone)
    answer.metrics?.write(11, to: &writer)
  }
}
