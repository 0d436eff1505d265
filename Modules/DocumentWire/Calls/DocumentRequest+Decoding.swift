package import TernCore
import TernQuery

extension DocumentRequest {
  /// Reads one message of a call.
  ///
  /// - Parameters:
  ///   - bytes: The message, at most ``DocumentWireLimits/requestBytes``.
  ///   - database: What messages before it were about; the first one of a call tells it.
  /// - Throws: ``DocumentWireError``: answer the call with its status.
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
      case .getDocument: try reader.getDocument(&names)
      case .listDocuments: try reader.listDocuments(&names)
      case .createDocument: try reader.createDocument(&names)
      case .updateDocument: try reader.updateDocument(&names)
      case .deleteDocument: try reader.deleteDocument(&names)
      case .batchGetDocuments: try reader.batchGet(&names)
      case .beginTransaction: try reader.begin(&names)
      case .commit: try reader.commit(&names)
      case .rollback: try reader.rollback(&names)
      case .runQuery: try reader.runQuery(&names)
      case .runAggregationQuery: try reader.runAggregation(&names)
      case .partitionQuery: try reader.partition(&names)
      case .listCollectionIDs: try reader.listCollections(&names)
      case .batchWrite: try reader.batchWrite(&names)
      case .write: .write(try reader.writeRequest(&names))
      case .listen: .listen(try reader.listenRequest(&names))
      }
    return DocumentRequest(body, in: try names.required())
  }
}

extension ProtoReader {
  fileprivate typealias Body = DocumentRequest.Body

  fileprivate mutating func begin(_ names: inout DocumentNames) throws(DocumentWireError) -> Body {
    var options = DocumentTransactionOptions.readWrite(retrying: [])
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2: options = try transactionOptions()
      default: try skip()
      }
    }
    return .begin(options)
  }

  fileprivate mutating func commit(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var writes: [DocumentMutation] = []
    var transaction: [UInt8] = []
    var mark: DocumentWriteHeader?
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2:
        var message = try message()
        writes.append(try message.write(&names))
      case 3: transaction = try data()
      case DocumentWireField.mark: mark = try writeMark()
      default: try skip()
      }
    }
    return .commit(writes, transaction: transaction, mark)
  }

  fileprivate mutating func rollback(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var transaction: [UInt8] = []
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2: transaction = try data()
      default: try skip()
      }
    }
    return .rollback(transaction: transaction)
  }

  fileprivate mutating func runQuery(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var point = DocumentReadPoint.now
    var explaining: DocumentExplaining?
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: query = try message()
      case 5: point = .transaction(try data())
      case 6: point = .begin(try transactionOptions(otherwise: .readOnly(nil)))
      case 7: point = .time(try version())
      case 10: explaining = try explainOptions()
      default: try skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    var asked = try query.query(below: parent, names)
    asked.explaining = explaining
    return .query(asked, point)
  }

  fileprivate mutating func runAggregation(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var point = DocumentReadPoint.now
    var explaining: DocumentExplaining?
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: query = try message()
      case 4: point = .transaction(try data())
      case 5: point = .begin(try transactionOptions(otherwise: .readOnly(nil)))
      case 6: point = .time(try version())
      case 8: explaining = try explainOptions()
      default: try skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    var (base, aggregations) = try query.aggregationQuery(below: parent, names)
    base.explaining = explaining
    return .aggregate(base, aggregations, point)
  }

  /// Reads `ExplainOptions`.
  private mutating func explainOptions() throws(DocumentWireError) -> DocumentExplaining {
    var isAnalyzed = false
    var message = try message()
    while let field = try message.next() {
      if field == 1 { isAnalyzed = try message.bool() } else { try message.skip() }
    }
    return isAnalyzed ? .analysis : .plan
  }

  fileprivate mutating func partition(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var query: ProtoReader?
    var count: Int64 = 0
    var page = DocumentPageRequest()
    var point = DocumentReadPoint.now
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: query = try message()
      case 3: count = try int64()
      case 4: page.token = try string()
      case 5: page.size = Int(try int32())
      case 6: point = .time(try version())
      default: try skip()
      }
    }
    guard var query else { throw .member("only structured queries are supported") }
    guard count > 0 else { throw .member("partition_count must be greater than zero.") }
    if page.size < 0 { throw .member("Page size must be nonnegative.") }
    let base = try query.query(below: parent, names)
    return .partition(
      DocumentPartitioning(query: base, count: Int(count), page: page, readPoint: point))
  }

  fileprivate mutating func listenRequest(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> DocumentListenRequest {
    var target: WatchTarget?
    var removed: Int32?
    var purpose = WatchTarget.Purpose.listen
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2:
        var message = try message()
        target = try message.target(&names)
      case 3: removed = try int32()
      case 4:
        let (name, value) = try label()
        if name == WatchTarget.Purpose.label {
          purpose = WatchTarget.Purpose(rawValue: value) ?? .listen
        }
      default: try skip()
      }
    }
    if let target { return .add(target.labelled(purpose)) }
    guard let removed else { throw .member("a listen request adds or removes a target") }
    return .remove(removed)
  }

  /// Reads one entry of a map of texts.
  private mutating func label() throws(DocumentWireError) -> (String, String) {
    var (name, value) = ("", "")
    var message = try message()
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
  /// - Parameter usual: The mode of options that name none; it depends on the method.
  mutating func transactionOptions(
    otherwise usual: DocumentTransactionOptions = .readWrite(retrying: [])
  ) throws(DocumentWireError) -> DocumentTransactionOptions {
    var options = usual
    var message = try message()
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
  static let label = "goog-listen-tags"
}

extension WatchTarget {
  fileprivate func labelled(_ purpose: Purpose) -> WatchTarget {
    WatchTarget(
      id: id, subject: subject, resume: resume, expectedCount: expectedCount, purpose: purpose,
      isOnce: isOnce)
  }
}

extension DocumentRequest {
  /// The target that a message to a listen stream adds, where the rest of it is not in order.
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
