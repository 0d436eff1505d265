package import TernCore

extension DocumentQuery {
  /// Puts together a query from parts that were a query before: nothing is checked.
  package static func assembled(
    _ source: Source, filter: DocumentFilter? = nil, orders: [DocumentOrder] = [],
    start: DocumentCursor? = nil, end: DocumentCursor? = nil,
    limit: (side: DocumentLimit.Side, count: Int)? = nil, offset: Int = 0
  ) -> DocumentQuery {
    var query = DocumentQuery(source: source)
    query.filter = filter
    query.orders = orders
    query.start = start
    query.end = end
    query.limit = limit.map { DocumentLimit($0.side, $0.count) }
    query.offset = offset
    return query
  }

  /// The rest of the query's result behind a document of it.
  ///
  /// - Parameters:
  ///   - document: The last document that was handed out, all of its fields.
  ///   - count: The number of documents that were handed out.
  ///   - database: The database of both.
  package func behind(
    _ document: Document, after count: Int, in database: DocumentDatabase
  ) throws(DocumentQueryError) -> DocumentQuery {
    var query = self
    query.orders = normalizedOrders
    query.start = DocumentCursor(
      try query.cursorValues(of: document, in: database), isInclusive: false)
    query.offset = 0
    query.limit = limit.map { DocumentLimit($0.side, max(0, $0.count - count)) }
    return query
  }

  /// Returns the query in the same order with other alternatives for a filter.
  ///
  /// - Parameter alternatives: Conditions that all hold, in each; without any nothing matches.
  package func matching(any alternatives: [[DocumentFieldFilter]]) -> DocumentQuery {
    var query = self
    query.orders = normalizedOrders
    query.filter = .or(alternatives.map { .and($0.map { .field($0) }) })
    return query
  }

  /// The query without a selection of fields.
  package var unselected: DocumentQuery {
    var query = self
    query.selection = nil
    return query
  }
}
