package import TernCore
package import TernQuery

/// One message of a server. Source: documents reference, sections 6.1, 6.2 and 6.6.
package enum DocumentResponse: Hashable, Sendable {
  /// The document that was asked for, made or updated.
  case document(Document)
  /// A page of documents, and where the next one begins; empty behind the last.
  case documents([Document], nextPageToken: String)
  /// Nothing but that it was done.
  case done
  case batchGet(DocumentBatchGetAnswer)
  /// The name of the transaction that began.
  case transaction([UInt8])
  case commit([DocumentWriteResult], DocumentVersion)
  case query(DocumentQueryAnswer)
  case aggregation(DocumentAggregationAnswer)
  case partitions([WireCursor], nextPageToken: String)
  case collectionIDs([String], nextPageToken: String)
  /// A result for each write, and its failure; `nil` where it succeeded.
  case batchWrite([DocumentWriteResult], [DocumentStatus?])
  case write(DocumentWriteResponse)
  case listen(WatchChange)
}

/// One answer of a batch of reads.
package struct DocumentBatchGetAnswer: Hashable, Sendable {
  /// The state of one document: ``Document/State/found(_:)`` or `missing`; `nil` in a message that
  /// only names the transaction.
  package var document: Document?
  /// The transaction that began; empty when there is none.
  package var transaction: [UInt8]
  package var readTime: DocumentVersion

  package init(
    _ document: Document?, transaction: [UInt8] = [], readTime: DocumentVersion
  ) {
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
  }
}

/// One document of a query's result, or none and only the time.
package struct DocumentQueryAnswer: Hashable, Sendable {
  package var document: Document?
  /// The transaction that began; empty when there is none.
  package var transaction: [UInt8]
  package var readTime: DocumentVersion
  /// The number of documents that an offset left out since the last message.
  package var skipped: Int
  /// True in the last message.
  package var isDone: Bool
  /// The plan and the cost of the query; `nil` unless they were asked for.
  package var metrics: DocumentExplainMetrics?

  package init(
    _ document: Document? = nil, transaction: [UInt8] = [], readTime: DocumentVersion,
    skipped: Int = 0, isDone: Bool = false, metrics: DocumentExplainMetrics? = nil
  ) {
    self.metrics = metrics
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
    self.skipped = skipped
    self.isDone = isDone
  }
}

/// The plan and the cost of a query.
package struct DocumentExplainMetrics: Hashable, Sendable {
  /// The numbers of rows that were read.
  package struct Statistics: Hashable, Sendable {
    package var returned: Int
    package var entriesRead: Int
    package var documentsRead: Int

    package init(returned: Int, entriesRead: Int, documentsRead: Int) {
      self.returned = returned
      self.entriesRead = entriesRead
      self.documentsRead = documentsRead
    }
  }

  /// `Collection` or `Collection group`.
  package var scope: String
  /// The fields of the index, such as `(a ASC, __name__ ASC)`.
  package var properties: String
  /// `nil` for a query that did not run.
  package var statistics: Statistics?

  package init(scope: String, properties: String, statistics: Statistics?) {
    self.scope = scope
    self.properties = properties
    self.statistics = statistics
  }
}

/// The results of aggregations, by alias.
package struct DocumentAggregationAnswer: Hashable, Sendable {
  /// `nil` in a message that tells the plan alone.
  package var values: DocumentFields?
  /// The transaction that began; empty when there is none.
  package var transaction: [UInt8]
  package var readTime: DocumentVersion
  /// The plan and the cost of the query; `nil` unless they were asked for.
  package var metrics: DocumentExplainMetrics?

  package init(
    _ values: DocumentFields?, transaction: [UInt8] = [], readTime: DocumentVersion,
    metrics: DocumentExplainMetrics? = nil
  ) {
    self.metrics = metrics
    self.values = values
    self.transaction = transaction
    self.readTime = readTime
  }
}
