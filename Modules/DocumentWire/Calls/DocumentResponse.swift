package import TernCore
package import TernQuery

/// One message of a server. Source: documents reference, sections 6.1, 6.2 and 6.6.
///
/// Unary methods answer with one of them. Streams answer with any number, and all of those of a
/// stream are of one case.
package enum DocumentResponse: Hashable, Sendable {
  /// The document that was asked for, made or updated.
  case document(Document)
  /// A page of documents, and where the next one begins; empty behind the last.
  case documents([Document], nextPageToken: String)
  /// Nothing but that it was done.
  case done
  /// One message of a batch of reads.
  case batchGet(DocumentBatchGetAnswer)
  /// The name of the transaction that began.
  case transaction([UInt8])
  /// A result for each write, in their order, and the version of the commit.
  case commit([DocumentWriteResult], DocumentVersion)
  /// One message of a query.
  case query(DocumentQueryAnswer)
  /// The message of an aggregation query.
  case aggregation(DocumentAggregationAnswer)
  /// The cursors that cut a group, and where the next page begins.
  case partitions([WireCursor], nextPageToken: String)
  /// Ids, ascending, and where the next page begins.
  case collectionIDs([String], nextPageToken: String)
  /// A result for each write, and its failure; `nil` where it succeeded.
  case batchWrite([DocumentWriteResult], [DocumentStatus?])
  /// A message of a write stream.
  case write(DocumentWriteResponse)
  /// A message of a listen stream.
  case listen(WatchChange)
}

/// One answer of a batch of reads.
///
/// Web clients end the call after as many messages with a document as they asked for keys, so the
/// server sends exactly one for each distinct key.
package struct DocumentBatchGetAnswer: Hashable, Sendable {
  /// The state of one document: ``Document/State/found(_:)`` or `missing`; `nil` in a message that
  /// only names the transaction.
  ///
  /// The document; `nil` in a message that has the time alone.
  package var document: Document?
  /// The transaction that began; empty when there is none.
  package var transaction: [UInt8]
  /// As of when the document was read.
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
///
/// An offset is reported in the first message, which then has no document.
package struct DocumentQueryAnswer: Hashable, Sendable {
  /// The next document of the result; `nil` in a message that tells something else.
  package var document: Document?
  /// The transaction that began; empty when there is none.
  package var transaction: [UInt8]
  /// As of when the query was run.
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
    /// The number of documents that were handed out.
    package var returned: Int
    /// The number of index rows that were looked at.
    package var entriesRead: Int
    /// The number of documents that were looked at, also those that did not match.
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
  /// As of when the aggregation was run.
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
