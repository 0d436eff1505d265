package import TernCore
package import TernQuery

/// One message of a client: a whole request, or one of those of a stream.
///
/// Source: documents reference, sections 6.1 and 6.2.
package struct DocumentRequest: Hashable, Sendable {
  /// The database it is about.
  package let database: DocumentDatabase
  /// The body of the request.
  package let body: Body

  package init(_ body: Body, in database: DocumentDatabase) {
    self.database = database
    self.body = body
  }

  package enum Body: Hashable, Sendable {
    case get(DocumentKey, mask: [DocumentFieldPath]?, DocumentReadPoint)
    case list(DocumentListing)
    /// A new document; without an id the server chooses one.
    case create(CollectionPath, id: String?, DocumentFields, mask: [DocumentFieldPath]?)
    /// A write of one document, which is answered with the document.
    case update(DocumentMutation, mask: [DocumentFieldPath]?)
    case delete(DocumentMutation)
    case batchGet([DocumentKey], mask: [DocumentFieldPath]?, DocumentReadPoint)
    case begin(DocumentTransactionOptions)
    case commit([DocumentMutation], transaction: [UInt8], DocumentWriteHeader?)
    case rollback(transaction: [UInt8])
    case query(DocumentQuery, DocumentReadPoint)
    case aggregate(DocumentQuery, [DocumentAggregation], DocumentReadPoint)
    case partition(DocumentPartitioning)
    case listCollections(below: DocumentKey?, DocumentPageRequest, DocumentReadPoint)
    case batchWrite([DocumentMutation])
    case write(DocumentWriteRequest)
    case listen(DocumentListenRequest)
  }

  /// The method that the message belongs to.
  package var method: DocumentMethod {
    switch body {
    case .get: .getDocument
    case .list: .listDocuments
    case .create: .createDocument
    case .update: .updateDocument
    case .delete: .deleteDocument
    case .batchGet: .batchGetDocuments
    case .begin: .beginTransaction
    case .commit: .commit
    case .rollback: .rollback
    case .query: .runQuery
    case .aggregate: .runAggregationQuery
    case .partition: .partitionQuery
    case .listCollections: .listCollectionIDs
    case .batchWrite: .batchWrite
    case .write: .write
    case .listen: .listen
    }
  }
}

/// As of when something is read.
package enum DocumentReadPoint: Hashable, Sendable {
  /// As of the newest commit.
  case now
  /// As of a time.
  case time(DocumentVersion)
  /// Within a transaction that was begun.
  case transaction([UInt8])
  /// Within a transaction that begins with this.
  case begin(DocumentTransactionOptions)
}

/// The kind of a transaction. Source: documents reference, section 3.9.
package enum DocumentTransactionOptions: Hashable, Sendable {
  /// Reads and one commit; `retrying` names one that failed before.
  case readWrite(retrying: [UInt8])
  /// Reads of one moment only; `nil` is the newest commit.
  case readOnly(DocumentVersion?)
}

/// The requested part of a list.
package struct DocumentPageRequest: Hashable, Sendable {
  /// The most entries; 0 leaves it to the server.
  package var size: Int
  /// The token of an earlier answer at which the list continues; empty at its beginning.
  package var token: String

  package init(size: Int = 0, token: String = "") {
    self.size = size
    self.token = token
  }
}

/// The documents of a collection, page by page.
package struct DocumentListing: Hashable, Sendable {
  /// The document that the collections are below; `nil` at the root.
  package var parent: DocumentKey?
  /// The collection; `nil` for all of them.
  package var collectionID: String?
  package var page: DocumentPageRequest
  /// The sort order of the documents; empty for their keys.
  package var orders: [DocumentOrder]
  package var mask: [DocumentFieldPath]?
  /// True to list missing documents that have descendants.
  package var showsMissing: Bool
  package var readPoint: DocumentReadPoint

  package init(
    parent: DocumentKey?, collectionID: String?, page: DocumentPageRequest = DocumentPageRequest(),
    orders: [DocumentOrder] = [], mask: [DocumentFieldPath]? = nil, showsMissing: Bool = false,
    readPoint: DocumentReadPoint = .now
  ) {
    self.parent = parent
    self.collectionID = collectionID
    self.page = page
    self.orders = orders
    self.mask = mask
    self.showsMissing = showsMissing
    self.readPoint = readPoint
  }
}

/// A question for the keys that cut a group into parts of like size.
package struct DocumentPartitioning: Hashable, Sendable {
  package var query: DocumentQuery
  /// The most keys that are wanted, 1 and up.
  package var count: Int
  package var page: DocumentPageRequest
  package var readPoint: DocumentReadPoint

  package init(
    query: DocumentQuery, count: Int, page: DocumentPageRequest = DocumentPageRequest(),
    readPoint: DocumentReadPoint = .now
  ) {
    self.query = query
    self.count = count
    self.page = page
    self.readPoint = readPoint
  }
}

/// A message to a listen stream.
package enum DocumentListenRequest: Hashable, Sendable {
  case add(WatchTarget)
  case remove(Int32)
}
