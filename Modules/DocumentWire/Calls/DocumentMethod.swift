/// The methods that can be called. Source: documents reference, section 6.1.
///
/// Raw values are the names on the wire, of which links of our own use the bare one.
package enum DocumentMethod: String, Hashable, Sendable, CaseIterable {
  case getDocument = "GetDocument"
  case listDocuments = "ListDocuments"
  case createDocument = "CreateDocument"
  case updateDocument = "UpdateDocument"
  case deleteDocument = "DeleteDocument"
  case batchGetDocuments = "BatchGetDocuments"
  case beginTransaction = "BeginTransaction"
  case commit = "Commit"
  case rollback = "Rollback"
  case runQuery = "RunQuery"
  case runAggregationQuery = "RunAggregationQuery"
  case partitionQuery = "PartitionQuery"
  case listCollectionIDs = "ListCollectionIds"
  case batchWrite = "BatchWrite"
  case write = "Write"
  case listen = "Listen"

  /// The service that the methods belong to, as gRPC names it.
  package static let service = "google.firestore.v1.Firestore"

  /// The path of the method in gRPC: `/service/method`.
  package var path: String { "/\(DocumentMethod.service)/\(rawValue)" }

  /// The method of a gRPC path; `nil` when nothing here serves it.
  package init?(path: String) {
    let prefix = "/\(DocumentMethod.service)/"
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    self.init(rawValue: String(path.dropFirst(prefix.count)))
  }

  /// True when a call changes nothing at the server, so that it can be made again.
  ///
  /// A client may repeat such a call on a new connection without knowing what became of the first.
  /// ``listen`` and ``beginTransaction`` are not among them: each leaves something at the server
  /// that a repetition would leave twice.
  package var onlyReads: Bool {
    switch self {
    case .getDocument, .listDocuments, .batchGetDocuments, .runQuery, .runAggregationQuery,
      .partitionQuery, .listCollectionIDs:
      true
    case .createDocument, .updateDocument, .deleteDocument, .beginTransaction, .commit, .rollback,
      .batchWrite, .write, .listen:
      false
    }
  }

  /// True for methods that change documents or transactions: what they answer is decided.
  ///
  /// A follower sends such a call to the leader. The server sends its answer even when it exceeds
  /// the limit of answers: a client that is told of a failure would make the write again.
  package var changesState: Bool {
    switch self {
    case .createDocument, .updateDocument, .deleteDocument, .beginTransaction, .commit, .rollback,
      .batchWrite, .write:
      true
    case .getDocument, .listDocuments, .batchGetDocuments, .runQuery, .runAggregationQuery,
      .partitionQuery, .listCollectionIDs, .listen:
      false
    }
  }

  /// True when the client may send any number of messages.
  package var streamsRequests: Bool { self == .write || self == .listen }

  /// True when the server may send any number of messages.
  package var streamsResponses: Bool {
    switch self {
    case .batchGetDocuments, .runQuery, .runAggregationQuery, .write, .listen: true
    case .getDocument, .listDocuments, .createDocument, .updateDocument, .deleteDocument,
      .beginTransaction, .commit, .rollback, .partitionQuery, .listCollectionIDs, .batchWrite:
      false
    }
  }
}
