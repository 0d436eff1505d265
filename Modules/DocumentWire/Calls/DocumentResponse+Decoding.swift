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
    case .listDocuments: return try reader.documents(&names)
    case .deleteDocument, .rollback: return .done
    case .batchGetDocuments: return .batchGet(try reader.batchGetAnswer(&names))
    case .beginTransaction: return .transaction(try reader.transaction())
    case .commit: return try reader.commitAnswer()
    case .runQuery: return .query(try reader.queryAnswer(&names))
    case .runAggregationQuery: return .aggregation(try reader.aggregationAnswer())
    case .partitionQuery: return try reader.partitions()
    case .listCollectionIDs: return try reader.collectionIDs()
    case .batchWrite: return try reader.batchWriteAnswer()
    case .write: return .write(try reader.writeResponse())
    case .listen: return .listen(try reader.watchChange(&names))
    }
  }
}

extension ProtoReader {
  fileprivate mutating func documents(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentResponse {
    var documents: [Document] = []
    var token = ""
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        var document = try message.document(&names).named()
        // What has no time of an update is only a name that something lies below.
        if document.version == .none { document.state = .missing }
        documents.append(document)
      case 2: token = try string()
      default: try skip()
      }
    }
    return .documents(documents, nextPageToken: token)
  }

  fileprivate mutating func batchGetAnswer(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentBatchGetAnswer {
    var answer = DocumentBatchGetAnswer(nil, readTime: .none)
    var missing: DocumentKey?
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        answer.document = try message.document(&names).named()
      case 2: missing = try names.key(bytes, try text())
      case 3: answer.transaction = try data()
      case 4: answer.readTime = try version()
      default: try skip()
      }
    }
    if let missing { answer.document = Document(missing, .missing, version: answer.readTime) }
    return answer
  }

  fileprivate mutating func transaction() throws(DocumentWireError) -> [UInt8] {
    var id: [UInt8] = []
    while let field = try next() {
      if field == 1 { id = try data() } else { try skip() }
    }
    return id
  }

  fileprivate mutating func commitAnswer() throws(DocumentWireError) -> DocumentResponse {
    var results: [DocumentWriteResult] = []
    var version = DocumentVersion.none
    while let field = try next() {
      switch field {
      case 1: results.append(try writeResult())
      case 2: version = try self.version()
      default: try skip()
      }
    }
    return .commit(results, version)
  }

  fileprivate mutating func queryAnswer(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentQueryAnswer {
    var answer = DocumentQueryAnswer(readTime: .none)
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        answer.document = try message.document(&names).named()
      case 2: answer.transaction = try data()
      case 3: answer.readTime = try version()
      case 4: answer.skipped = Int(try int32())
      case 6: answer.isDone = try bool()
      default: try skip()
      }
    }
    return answer
  }

  fileprivate mutating func aggregationAnswer()
    throws(DocumentWireError) -> DocumentAggregationAnswer
  {
    var answer = DocumentAggregationAnswer(nil, readTime: .none)
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        var builder = PackedBuilder()
        try message.map(2, into: &builder)
        answer.values = DocumentFields(builder)
      case 2: answer.transaction = try data()
      case 3: answer.readTime = try version()
      default: try skip()
      }
    }
    return answer
  }

  fileprivate mutating func partitions() throws(DocumentWireError) -> DocumentResponse {
    var cursors: [WireCursor] = []
    var token = ""
    while let field = try next() {
      switch field {
      case 1: cursors.append(try cursor())
      case 2: token = try string()
      default: try skip()
      }
    }
    return .partitions(cursors, nextPageToken: token)
  }

  fileprivate mutating func collectionIDs() throws(DocumentWireError) -> DocumentResponse {
    var ids: [String] = []
    var token = ""
    while let field = try next() {
      switch field {
      case 1: ids.append(try string())
      case 2: token = try string()
      default: try skip()
      }
    }
    return .collectionIDs(ids, nextPageToken: token)
  }

  fileprivate mutating func batchWriteAnswer() throws(DocumentWireError) -> DocumentResponse {
    var results: [DocumentWriteResult] = []
    var statuses: [DocumentStatus?] = []
    while let field = try next() {
      switch field {
      case 1: results.append(try writeResult())
      case 2: statuses.append(try status())
      default: try skip()
      }
    }
    return .batchWrite(results, statuses)
  }
}
