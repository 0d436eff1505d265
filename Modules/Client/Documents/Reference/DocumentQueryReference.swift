public import TernCore
import TernDocumentReplica
import TernDocumentWire
public import TernQuery

/// Something that can be queried: a collection, or a query of one.
public protocol DocumentQuerying: Sendable {
  /// The query.
  var queried: DocumentQueryReference { get }
}

/// A query and the documents it is for. A mistake in it is told by the first operation on it.
public struct DocumentQueryReference: DocumentQuerying {
  let documents: Documents
  let query: Result<DocumentQuery, DocumentQueryError>

  package init(documents: Documents, query: Result<DocumentQuery, DocumentQueryError>) {
    self.documents = documents
    self.query = query
  }

  /// This query.
  public var queried: DocumentQueryReference { self }

  func refined(
    _ refine: (DocumentQuery) throws(DocumentQueryError) -> DocumentQuery
  ) -> DocumentQueryReference {
    DocumentQueryReference(
      documents: documents,
      query: Result { () throws(DocumentQueryError) in try refine(try query.get()) })
  }

  /// Refines by a cursor: values, of which those for the key may be texts.
  func refined(
    cursor values: [DocumentValue],
    _ refine: (DocumentQuery, [DocumentValue]) throws(DocumentQueryError) -> DocumentQuery
  ) -> DocumentQueryReference {
    refined { query throws(DocumentQueryError) in
      try refine(query, try query.resolved(cursor: values, in: documents.database))
    }
  }

  /// The query, ready to be run.
  func checked() throws(DocumentsError) -> DocumentQuery {
    do throws(DocumentQueryError) {
      let query = try query.get()
      try query.checkExecutable()
      try query.checkReferences(in: documents.database)
      return query
    } catch {
      throw .invalidQuery(error)
    }
  }
}

extension DocumentQueryReference: Equatable {
  /// Returns true when both are the same query of the same database.
  public static func == (left: DocumentQueryReference, right: DocumentQueryReference) -> Bool {
    left.documents.session === right.documents.session && left.query == right.query
  }
}

extension DocumentOperator {
  /// Equivalent to the operand.
  public static var equals: DocumentOperator { .equal }
}

extension DocumentQuerying {
  /// Keeps those whose field compares.
  ///
  /// - Parameters:
  ///   - field: A path, its names joined by dots; or `__name__`, which is compared with ids, with
  ///     whole paths in a collection group, or with references.
  ///   - comparison: How it is compared.
  ///   - operand: With what; an array for the operators that take a list.
  public func `where`(
    _ field: String, _ comparison: DocumentOperator, _ operand: DocumentValue
  ) -> DocumentQueryReference {
    let queried = queried
    return queried.refined { query throws(DocumentQueryError) in
      let filter = DocumentFilter.where(
        try DocumentFieldPath.queried(field), comparison, operand)
      return try query.filtered(try query.resolved(filter, in: queried.documents.database))
    }
  }

  /// Keeps those that a filter keeps.
  public func filtered(_ filter: DocumentFilter) -> DocumentQueryReference {
    let queried = queried
    return queried.refined { query throws(DocumentQueryError) in
      try query.filtered(try query.resolved(filter, in: queried.documents.database))
    }
  }

  /// Sorts by a field, after the fields it is sorted by already.
  public func order(by field: String, isDescending: Bool = false) -> DocumentQueryReference {
    queried.refined { query throws(DocumentQueryError) in
      try query.ordered(by: try DocumentFieldPath.queried(field), isDescending: isDescending)
    }
  }

  /// Keeps the first documents.
  public func first(_ count: Int) -> DocumentQueryReference {
    queried.refined { query throws(DocumentQueryError) in try query.first(count) }
  }

  /// Keeps the last documents, in the same order.
  public func last(_ count: Int) -> DocumentQueryReference {
    queried.refined { query throws(DocumentQueryError) in try query.last(count) }
  }

  /// Begins at values of the first fields of the order; for `__name__` an id, or in a collection
  /// group a whole path.
  public func start(at values: DocumentValue..., isInclusive: Bool = true) -> DocumentQueryReference
  {
    queried.refined(cursor: values) { query, values throws(DocumentQueryError) in
      try query.starting(at: values, isInclusive: isInclusive)
    }
  }

  /// Ends at values of the first fields of the order; for `__name__` an id, or in a collection
  /// group a whole path.
  public func end(at values: DocumentValue..., isInclusive: Bool = true) -> DocumentQueryReference {
    queried.refined(cursor: values) { query, values throws(DocumentQueryError) in
      try query.ending(at: values, isInclusive: isInclusive)
    }
  }

  /// Begins at a document, in the query's order completed by the key.
  ///
  /// A document that does not exist, or that lacks a field of the order, is told by the first
  /// operation. Source: documents reference, section 2.6.
  public func start(
    at snapshot: SingleDocumentSnapshot, isInclusive: Bool = true
  ) -> DocumentQueryReference {
    queried.refined { query throws(DocumentQueryError) in
      try query.starting(
        at: try snapshot.cursorDocument(), in: snapshot.reference.documents.database,
        isInclusive: isInclusive)
    }
  }

  /// Ends at a document, in the query's order completed by the key.
  public func end(
    at snapshot: SingleDocumentSnapshot, isInclusive: Bool = true
  ) -> DocumentQueryReference {
    queried.refined { query throws(DocumentQueryError) in
      try query.ending(
        at: try snapshot.cursorDocument(), in: snapshot.reference.documents.database,
        isInclusive: isInclusive)
    }
  }

  /// The result now.
  ///
  /// - Throws: ``DocumentsError/refused(_:)`` with the code `unavailable` when only the server was
  ///   allowed and it cannot be reached.
  public func get(
    from source: DocumentGetSource = .serverOrCache
  ) async throws(DocumentsError) -> DocumentQuerySnapshot {
    let reference = queried
    let query = try reference.checked()
    let promise = Promise<DocumentGetResult>()
    await reference.documents.session.get(query, source) { promise.resolve($0) }
    let cancelled = DocumentStatus(.cancelled, "the task was cancelled")
    switch await promise.value(ifCancelled: .failure(cancelled)) {
    case .success(let snapshot): return DocumentQuerySnapshot(snapshot, reference.documents)
    case .failure(let status): throw await reference.documents.failure(status)
    }
  }

  /// The result now, and again after every change that affects it.
  ///
  /// A slow reader skips intermediate results and never sees two out of order; the changes of each
  /// are those since the one it saw before.
  ///
  /// - Parameters:
  ///   - includingMetadata: Whether to hear also when only pending writes or the source changed.
  ///   - source: Where the data comes from.
  public func snapshots(
    includingMetadata: Bool = false, source: DocumentListenOptions.Source = .server
  ) -> DocumentSnapshots<DocumentQuerySnapshot> {
    queried.delivery(includingMetadata, source) { $0 }
  }

  /// Computes over the result, on the server.
  ///
  /// - Returns: One value for each aggregation, by its alias.
  public func aggregate(
    _ aggregations: [DocumentAggregation]
  ) async throws(DocumentsError) -> DocumentMap {
    let reference = queried
    let query = try reference.checked()
    do throws(DocumentQueryError) { try DocumentAggregation.check(aggregations) } catch {
      throw .invalidQuery(error)
    }
    let answer = await reference.documents.session.call(.aggregate(query, aggregations, .now))
    switch answer {
    case .failure(let status): throw await reference.documents.failure(status)
    case .success(let messages):
      for case .aggregation(let answer) in messages {
        if let values = answer.values { return values.map }
      }
      throw .refused(DocumentStatus(.internalError, "the server computed nothing"))
    }
  }

  /// Returns the plan by which the cache on this device answers the query now: the indexes, and the
  /// number of documents examined. Runs it there, without any traffic; like every run it may begin
  /// an index, see ``DocumentIndexes/createAutomatically(_:)``.
  public func explain() async throws(DocumentsError) -> DocumentQueryPlan {
    let reference = queried
    let query = try reference.checked()
    return await reference.documents.session.withReplica { $0.cache.run(query).plan }
  }
}

extension SingleDocumentSnapshot {
  /// The document a cursor is made of; a missing one is refused where its fields are asked for.
  fileprivate func cursorDocument() throws(DocumentQueryError) -> Document {
    if let document { return document }
    do throws(DocumentError) { return Document(try reference.key.get(), .missing) } catch {
      throw .document(error)
    }
  }
}

extension DocumentFieldPath {
  /// A path as applications write it; `__name__` is the key.
  static func queried(_ text: String) throws(DocumentQueryError) -> DocumentFieldPath {
    if text == "__name__" { return .key }
    do throws(DocumentError) { return try DocumentFieldPath(dotted: text) } catch {
      throw .document(error)
    }
  }
}
