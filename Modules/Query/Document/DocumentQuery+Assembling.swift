import TernCore

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
}
