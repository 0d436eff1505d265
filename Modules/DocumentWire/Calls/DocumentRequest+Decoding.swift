package import TernCore
import TernQuery

extension DocumentRequest {
  /// Reads one message of a call.
  ///
  /// - Parameters:
  ///   - bytes: The message, at most ``DocumentWireLimits/requestBytes``.
  ///   - database: What messages before it were about; the first one of a call tells it.
  /// - Returns: A request that is valid in form. Rules about stored documents, about sizes of
  ///   values, and about permission are the server's.
  /// - Throws: ``DocumentWireError``: answer the call with its status.
  /// - Complexity: O(*n*) in the bytes of the message, except for the filters and orders of a
  ///   query, which are bounded in number before they are compared.
  package static func decode(
    _ method: DocumentMethod, _ bytes: [UInt8], in database: DocumentDatabase? = nil
  ) throws(DocumentWireError) -> DocumentRequest {
    if bytes.count > DocumentWireLimits.requestBytes {
      throw .tooLarge(byteCount: bytes.count, limit: DocumentWireLimits.requestBytes)
    }
    var reader = ProtoReader(bytes)
    var names = database.map { DocumentNames($0) } ?? DocumentNames()
    let body: Body =
      switch method {
      case .getDocument: try WireRequest.getDocument(&reader, &names)
      case .listDocuments: try WireRequest.listDocuments(&reader, &names)
      case .createDocument: try WireRequest.createDocument(&reader, &names)
      case .updateDocument: try WireRequest.updateDocument(&reader, &names)
      case .deleteDocument: try WireRequest.deleteDocument(&reader, &names)
      case .batchGetDocuments: try WireRequest.batchGet(&reader, &names)
      case .beginTransaction: try WireRequest.begin(&reader, &names)
      case .commit: try WireRequest.commit(&reader, &names)
      case .rollback: try WireRequest.rollback(&reader, &names)
      case .runQuery: try WireRequest.runQuery(&reader, &names)
      case .runAggregationQuery: try WireRequest.runAggregation(&reader, &names)
      case .partitionQuery: try WireRequest.partition(&reader, &names)
      case .listCollectionIDs: try WireRequest.listCollections(&reader, &names)
      case .batchWrite: try WireRequest.batchWrite(&reader, &names)
      case .write: .write(try WireWriteStream.request(&reader, &names))
      case .listen: .listen(try WireRequest.listenRequest(&reader, &names))
      }
    return DocumentRequest(body, in: try names.required())
  }
}

/// The messages of a client, each by its method.
///
/// Each function reads one message from its beginning. Fields come in any order: what depends on
/// another field is kept as a reader and read at the end. A repeated field counts the last time.
/// Absent fields have the defaults of proto3, and unknown ones are skipped.
enum WireRequest {
  typealias Body = DocumentRequest.Body

  /// Reads a `BeginTransactionRequest`.
  ///
  /// Fields: 1 database, 2 options. Without options the transaction reads and writes.
  fileprivate static func begin(_ reader: inout ProtoReader, _ names: inout DocumentNames)
    throws(DocumentWireError) -> Body
  {
    var options = DocumentTransactionOptions.readWrite(retrying: [])
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2: options = try transactionOptions(&reader)
      default: try reader.skip()
      }
    }
    return .begin(options)
  }

  /// Reads a `CommitRequest`, with the header of a numbered batch.
  ///
  /// Fields: 1 database, 2 writes, 3 transaction, 7001 header. The number of writes has no limit
  /// beyond that of the message.
  fileprivate static func commit(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var writes: [DocumentMutation] = []
    var transaction: [UInt8] = []
    var mark: DocumentWriteHeader?
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2:
        var message = try reader.message()
        writes.append(try WireWrite.mutation(&message, &names))
      case 3: transaction = try reader.data()
      case DocumentWireField.mark: mark = try WireWriteStream.header(&reader)
      default: try reader.skip()
      }
    }
    return .commit(writes, transaction: transaction, mark)
  }

  /// Reads a `RollbackRequest`.
  ///
  /// Fields: 1 database, 2 transaction.
  fileprivate static func rollback(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var transaction: [UInt8] = []
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2: transaction = try reader.data()
      default: try reader.skip()
      }
    }
    return .rollback(transaction: transaction)
  }

  /// Reads a `RunQueryRequest`. The query comes last, because its parent may stand behind it.
  ///
  /// Fields: 1 parent, 2 query, 5 transaction, 6 new transaction, 7 read time, 10 explain options.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a request without a structured query, and for
  ///   one that breaks a rule of queries.
  fileprivate static func runQuery(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var point = DocumentReadPoint.now
    var explaining: DocumentExplaining?
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: query = try reader.message()
      case 5: point = .transaction(try reader.data())
      case 6: point = .begin(try transactionOptions(&reader, otherwise: .readOnly(nil)))
      case 7: point = .time(try reader.version())
      case 10: explaining = try explainOptions(&reader)
      default: try reader.skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    var asked = try WireQuery.query(&query, below: parent, names)
    asked.explaining = explaining
    return .query(asked, point)
  }

  /// Reads a `RunAggregationQueryRequest`.
  ///
  /// Fields: 1 parent, 2 query, 4 transaction, 5 new transaction, 6 read time, 8 explain options.
  /// The numbers differ from those of a `RunQueryRequest` with the same members.
  fileprivate static func runAggregation(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var point = DocumentReadPoint.now
    var explaining: DocumentExplaining?
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: query = try reader.message()
      case 4: point = .transaction(try reader.data())
      case 5: point = .begin(try transactionOptions(&reader, otherwise: .readOnly(nil)))
      case 6: point = .time(try reader.version())
      case 8: explaining = try explainOptions(&reader)
      default: try reader.skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    var (base, aggregations) = try WireAggregation.read(&query, below: parent, names)
    base.explaining = explaining
    return .aggregate(base, aggregations, point)
  }

  /// Reads `ExplainOptions`.
  ///
  /// Field: 1 analyze. An empty message asks for the plan alone, without running the query.
  private static func explainOptions(
    _ reader: inout ProtoReader
  ) throws(DocumentWireError) -> DocumentExplaining {
    var isAnalyzed = false
    var message = try reader.message()
    while let field = try message.next() {
      if field == 1 { isAnalyzed = try message.bool() } else { try message.skip() }
    }
    return isAnalyzed ? .analysis : .plan
  }

  /// Reads a `PartitionQueryRequest`.
  ///
  /// Fields: 1 parent, 2 query, 3 count, 4 page token, 5 page size, 6 read time.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a count below 1 and for a negative page size.
  fileprivate static func partition(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var count: Int64 = 0
    var page = DocumentPageRequest()
    var point = DocumentReadPoint.now
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: query = try reader.message()
      case 3: count = try reader.int64()
      case 4: page.token = try reader.string()
      case 5: page.size = Int(try reader.int32())
      case 6: point = .time(try reader.version())
      default: try reader.skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    guard count > 0 else { throw .member("partition_count must be greater than zero.") }
    if page.size < 0 { throw .member("Page size must be nonnegative.") }
    let base = try WireQuery.query(&query, below: parent, names)
    return .partition(
      DocumentPartitioning(query: base, count: Int(count), page: page, readPoint: point))
  }

  /// Reads a `ListenRequest`, with the label that tells the purpose of a target.
  ///
  /// Fields: 1 database, 2 target to add, 3 id of the target to remove, 4 labels. A message with
  /// both adds the target. An unknown purpose is that of a plain listener: a label changes nothing
  /// that is sent.
  fileprivate static func listenRequest(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentListenRequest {
    var target: WatchTarget?
    var removed: Int32?
    var purpose = WatchTarget.Purpose.listen
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2:
        var message = try reader.message()
        target = try WireTarget.read(&message, &names)
      case 3: removed = try reader.int32()
      case 4:
        let (name, value) = try label(&reader)
        if name == WatchTarget.Purpose.label {
          purpose = WatchTarget.Purpose(rawValue: value) ?? .listen
        }
      default: try reader.skip()
      }
    }
    if let target { return .add(target.labelled(purpose)) }
    guard let removed else { throw .member("a listen request adds or removes a target") }
    return .remove(removed)
  }

  /// Reads one entry of a map of texts.
  private static func label(_ reader: inout ProtoReader) throws(DocumentWireError) -> (
    String, String
  ) {
    var (name, value) = ("", "")
    var message = try reader.message()
    while let field = try message.next() {
      switch field {
      case 1: name = try message.string()
      case 2: value = try message.string()
      default: try message.skip()
      }
    }
    return (name, value)
  }

  /// Reads `TransactionOptions`.
  ///
  /// Fields: 2 read-only {2 read time}, 3 read-write {1 transaction to retry}.
  ///
  /// - Parameter usual: The mode of options that name none; it depends on the method.
  static func transactionOptions(
    _ reader: inout ProtoReader,
    otherwise usual: DocumentTransactionOptions = .readWrite(retrying: [])
  ) throws(DocumentWireError) -> DocumentTransactionOptions {
    var options = usual
    var message = try reader.message()
    while let field = try message.next() {
      guard field == 2 || field == 3 else {
        try message.skip()
        continue
      }
      options = field == 2 ? .readOnly(nil) : .readWrite(retrying: [])
      var mode = try message.message()
      while let inner = try mode.next() {
        switch (field, inner) {
        case (2, 2): options = .readOnly(try mode.version())
        case (3, 1): options = .readWrite(retrying: try mode.data())
        default: try mode.skip()
        }
      }
    }
    return options
  }
}

extension WatchTarget.Purpose {
  /// The name of the label that tells a purpose.
  ///
  /// Stock clients send it for targets that the application did not ask for.
  static let label = "goog-listen-tags"
}

extension WatchTarget {
  /// Returns the target with the purpose, which stands outside of it on the wire.
  fileprivate func labelled(_ purpose: Purpose) -> WatchTarget {
    WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: expectedCount, purpose: purpose,
      isOnce: isOnce)
  }
}

extension DocumentRequest {
  /// The target that a message to a listen stream adds, where the rest of it is not in order.
  ///
  /// The server rejects that target alone. Without an id it ends the whole stream, with all its
  /// targets.
  ///
  /// - Returns: `nil` when that cannot be told.
  package static func addedTarget(in bytes: [UInt8]) -> Int32? {
    var reader = ProtoReader(bytes)
    var target: Int32?
    do throws(DocumentWireError) {
      while let field = try reader.next() {
        guard field == 2 else {
          try reader.skip()
          continue
        }
        var message = try reader.message()
        while let field = try message.next() {
          if field == 5 { target = try message.int32() } else { try message.skip() }
        }
      }
    } catch {
      return nil
    }
    return target.flatMap { $0 > 0 ? $0 : nil }
  }
}
