package import TernCore
package import TernQuery

/// One message of a client: a whole request, or one of those of a stream.
///
/// Source: documents reference, sections 6.1 and 6.2.
///
/// The gateway makes it out of gRPC, REST and WebChannel, and a link of our own carries the same
/// bytes. It names no identity: the metadata of the call have the credential.
package struct DocumentRequest: Hashable, Sendable {
  /// The database it is about.
  package let database: DocumentDatabase
  /// The body of the request.
  package let body: Body

  package init(_ body: Body, in database: DocumentDatabase) {
    self.database = database
    self.body = body
  }

  /// Masks choose the fields of the answer: `nil` shows all, an empty list none. Keys and paths lie
  /// in ``DocumentRequest/database``.
  package enum Body: Hashable, Sendable {
    /// One document by its key.
    case get(DocumentKey, mask: [DocumentFieldPath]?, DocumentReadPoint)
    /// A page of a collection.
    case list(DocumentListing)
    /// A new document; without an id the server chooses one.
    case create(CollectionPath, id: String?, DocumentFields, mask: [DocumentFieldPath]?)
    /// A write of one document, which is answered with the document.
    case update(DocumentMutation, mask: [DocumentFieldPath]?)
    /// A deletion of one document, with or without a precondition.
    case delete(DocumentMutation)
    /// Documents by their keys. The answers come in any order, one for each distinct key.
    case batchGet([DocumentKey], mask: [DocumentFieldPath]?, DocumentReadPoint)
    /// A transaction, which is named by its answer.
    case begin(DocumentTransactionOptions)
    /// Writes that are applied together or not at all; an empty transaction id for writes outside
    /// of one. The header numbers them, and excludes a transaction.
    case commit([DocumentMutation], transaction: [UInt8], DocumentWriteHeader?)
    /// The end of a transaction without writes.
    case rollback(transaction: [UInt8])
    /// A query that runs once.
    case query(DocumentQuery, DocumentReadPoint)
    /// Aggregations over the result of a query.
    case aggregate(DocumentQuery, [DocumentAggregation], DocumentReadPoint)
    /// Cursors that cut a group into parts.
    case partition(DocumentPartitioning)
    /// Ids of the collections below a document, or at the root for `nil`.
    case listCollections(below: DocumentKey?, DocumentPageRequest, DocumentReadPoint)
    /// Writes of distinct documents, each a commit of its own.
    case batchWrite([DocumentMutation])
    /// A message of a write stream.
    case write(DocumentWriteRequest)
    /// A message of a listen stream.
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
///
/// The server allows read points of the past hour.
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
  /// The part of the list.
  package var page: DocumentPageRequest
  /// The sort order of the documents; empty for their keys.
  package var orders: [DocumentOrder]
  /// The fields to show of each document; `nil` for all.
  package var mask: [DocumentFieldPath]?
  /// True to list missing documents that have descendants.
  package var showsMissing: Bool
  /// As of when the collection is read; with missing documents only ``DocumentReadPoint/now``.
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
  /// A group in the order of keys; the server rejects any other query.
  package var query: DocumentQuery
  /// The most keys that are wanted, 1 and up.
  package var count: Int
  /// The part of the list of cursors.
  package var page: DocumentPageRequest
  /// As of when the group is read.
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
  /// A target to watch. Its id must not be in use on the stream.
  case add(WatchTarget)
  /// The id of a target to end. The server answers with a REMOVE without a cause.
  case remove(Int32)
}
