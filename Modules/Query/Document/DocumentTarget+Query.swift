import TernCore

extension DocumentQuery {
  /// The query that a target asks for; limits count from the front.
  package init(_ target: DocumentTarget) {
    self.init(source: target.source)
    filter = target.filter
    orders = target.orders
    start = target.start
    end = target.end
    limit = target.limit.map { DocumentLimit(.first, $0) }
    offset = target.offset
  }

  /// The query in one alternative of its filter, in the same order.
  ///
  /// - Parameter filters: All of them are to hold, beside the query's source and cursors.
  package func restricted(to filters: [DocumentFieldFilter]) -> DocumentQuery {
    var query = self
    query.orders = normalizedOrders
    query.filter = filters.isEmpty ? nil : .and(filters.map(DocumentFilter.field))
    return query
  }

  /// The query without its offset, and with another limit from the front.
  package func windowed(_ count: Int?) -> DocumentQuery {
    var query = self
    query.offset = 0
    query.limit = count.map { DocumentLimit(.first, $0) }
    return query
  }
}
