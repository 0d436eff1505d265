import TernCore
import TernQuery

extension DocumentResponse {
  /// Reads one message of a call.
  ///
  /// - Parameters:
  ///   - bytes: The message, at most ``DocumentWireLimits/messageBytes``.
  ///   - names: The database of the call; other names are refused.
  /// - Throws: ``DocumentWireError``: the server is not to be understood, end the call.
  package static func decode(
    _ method: DocumentMethod, _ bytes: [UInt8], _ names: DocumentNames
  ) throws(DocumentWireError) -> DocumentResponse {
    if bytes.count > DocumentWireLimits.messageBytes {
      throw .tooLarge(byteCount: bytes.count, limit: DocumentWireLimits.messageBytes)
    }
    var reader = ProtoReader(bytes)
    var names = names
    switch method {
    case .getDocument, .createDocument, .updateDocument:
      return .document(try reader.document(&names).named())
    case .listDocuments: return try WireResponse.documents(&reader, &names)
    case .deleteDocument, .rollback: return .done
    case .batchGetDocuments: return .batchGet(try WireResponse.batchGetAnswer(&reader, &names))
    case .beginTransaction: return .transaction(try WireResponse.transaction(&reader))
    case .commit: return try WireResponse.commitAnswer(&reader)
    case .runQuery: return .query(try WireResponse.queryAnswer(&reader, &names))
    case .runAggregationQuery: return .aggregation(try WireResponse.aggregationAnswer(&reader))
    case .partitionQuery: return try WireResponse.partitions(&reader)
    case .listCollectionIDs: return try WireResponse.collectionIDs(&reader)
    case .batchWrite: return try WireResponse.batchWriteAnswer(&reader)
    case .write: return .write(try WireWriteStream.response(&reader))
    case .listen: return .listen(try WireWatchChange.read(&reader, &names))
    }
  }
}

/// The messages of a server, each by its method.
///
/// Each function reads one message from its beginning. Absent fields have the defaults of proto3.
enum WireResponse {
  /// Reads a `ListDocumentsResponse`.
  ///
  /// Fields: 1 documents, 2 token of the next page. Missing documents have a name and nothing else.
  fileprivate static func documents(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentResponse {
    var documents: [Document] = []
    var token = ""
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        var document = try message.document(&names).named()
        // What has no time of an update is only a name that something lies below.
        if document.version == .none { document.state = .missing }
        documents.append(document)
      case 2: token = try reader.string()
      default: try reader.skip()
      }
    }
    return .documents(documents, nextPageToken: token)
  }

  /// Reads a `BatchGetDocumentsResponse`.
  ///
  /// Fields: 1 found, 2 missing (a name), 3 transaction, 4 read time. A message with neither
  /// document is the one that names the transaction.
  fileprivate static func batchGetAnswer(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentBatchGetAnswer {
    var answer = DocumentBatchGetAnswer(nil, readTime: .none)
    var missing: DocumentKey?
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        answer.document = try message.document(&names).named()
      case 2: missing = try names.key(reader.bytes, try reader.text())
      case 3: answer.transaction = try reader.data()
      case 4: answer.readTime = try reader.version()
      default: try reader.skip()
      }
    }
    if let missing { answer.document = Document(missing, .missing, version: answer.readTime) }
    return answer
  }

  /// Reads a `BeginTransactionResponse`: the id of the transaction.
  fileprivate static func transaction(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> [UInt8] {
    var id: [UInt8] = []
    while let field = try reader.next() {
      if field == 1 { id = try reader.data() } else { try reader.skip() }
    }
    return id
  }

  /// Reads a `CommitResponse`.
  ///
  /// Fields: 1 results, 2 commit time.
  fileprivate static func commitAnswer(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentResponse {
    var results: [DocumentWriteResult] = []
    var version = DocumentVersion.none
    while let field = try reader.next() {
      switch field {
      case 1: results.append(try WireWrite.result(&reader))
      case 2: version = try reader.version()
      default: try reader.skip()
      }
    }
    return .commit(results, version)
  }

  /// Reads a `RunQueryResponse`.
  ///
  /// Fields: 1 document, 2 transaction, 3 read time, 4 skipped results, 6 done. Explain metrics
  /// (11) are skipped: our clients do not ask for them.
  fileprivate static func queryAnswer(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentQueryAnswer {
    var answer = DocumentQueryAnswer(readTime: .none)
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        answer.document = try message.document(&names).named()
      case 2: answer.transaction = try reader.data()
      case 3: answer.readTime = try reader.version()
      case 4: answer.skipped = Int(try reader.int32())
      case 6: answer.isDone = try reader.bool()
      default: try reader.skip()
      }
    }
    return answer
  }

  /// Reads a `RunAggregationQueryResponse`.
  ///
  /// Fields: 1 result {2 aggregate fields, a map}, 2 transaction, 3 read time.
  fileprivate static func aggregationAnswer(_ reader: inout ProtoReader)
    throws(DocumentWireError) -> DocumentAggregationAnswer
  {
    var answer = DocumentAggregationAnswer(nil, readTime: .none)
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        var builder = PackedBuilder()
        try message.map(2, into: &builder)
        answer.values = DocumentFields(builder)
      case 2: answer.transaction = try reader.data()
      case 3: answer.readTime = try reader.version()
      default: try reader.skip()
      }
    }
    return answer
  }

  /// Reads a `PartitionQueryResponse`.
  ///
  /// Fields: 1 cursors, 2 token of the next page.
  fileprivate static func partitions(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentResponse {
    var cursors: [WireCursor] = []
    var token = ""
    while let field = try reader.next() {
      switch field {
      case 1: cursors.append(try WireQuery.cursor(&reader))
      case 2: token = try reader.string()
      default: try reader.skip()
      }
    }
    return .partitions(cursors, nextPageToken: token)
  }

  /// Reads a `ListCollectionIdsResponse`.
  ///
  /// Fields: 1 ids, 2 token of the next page.
  fileprivate static func collectionIDs(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentResponse {
    var ids: [String] = []
    var token = ""
    while let field = try reader.next() {
      switch field {
      case 1: ids.append(try reader.string())
      case 2: token = try reader.string()
      default: try reader.skip()
      }
    }
    return .collectionIDs(ids, nextPageToken: token)
  }

  /// Reads a `BatchWriteResponse`: a result and a status for each write.
  ///
  /// Fields: 1 results, 2 statuses. Both lists have one element for each write, in its order.
  fileprivate static func batchWriteAnswer(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentResponse {
    var results: [DocumentWriteResult] = []
    var statuses: [DocumentStatus?] = []
    while let field = try reader.next() {
      switch field {
      case 1: results.append(try WireWrite.result(&reader))
      case 2: statuses.append(try reader.status())
      default: try reader.skip()
      }
    }
    return .batchWrite(results, statuses)
  }
}
