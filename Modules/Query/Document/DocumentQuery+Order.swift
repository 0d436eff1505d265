import TernCore

extension DocumentQuery {
  /// The complete order: what was asked for, then fields with range filters by path, then the key.
  ///
  /// A document that lacks one of the fields does not belong to the result.
  /// Source: documents reference, section 2.5.
  public var normalizedOrders: [DocumentOrder] {
    var result: [DocumentOrder] = []
    for order in orders {
      if result.contains(where: { $0.path == order.path }) { continue }
      result.append(order)
      if order.path.isKey { return result }
    }
    let isDescending = orders.last?.isDescending ?? false
    let filters = filter?.fieldFilters ?? []
    let ranges = filters.filter(\.comparison.isInequality).map(\.path)
    for path in DocumentFieldMask(ranges).paths where !path.isKey {
      if result.contains(where: { $0.path == path }) { continue }
      result.append(DocumentOrder(path, isDescending: isDescending))
    }
    result.append(DocumentOrder(.key, isDescending: isDescending))
    return result
  }

  /// The target for a server: the same documents, without a notion of the last ones.
  ///
  /// Source: documents reference, section 2.7.
  public var target: DocumentTarget { DocumentTarget(self) }
}

/// A query in the form that is sent, shared and stored: complete order, limits from the front.
///
/// Queries that differ only in the side of their limit may have one target.
public struct DocumentTarget: Hashable, Sendable {
  /// The collection, or group of collections, to search.
  public let source: DocumentQuery.Source
  /// The condition that documents of the result meet.
  public let filter: DocumentFilter?
  /// The complete order, the key last.
  public let orders: [DocumentOrder]
  /// The position at which the result begins.
  public let start: DocumentCursor?
  /// The position at which the result ends.
  public let end: DocumentCursor?
  /// The greatest number of documents, counted from the front.
  public let limit: Int?
  /// The number of documents to leave out at the front.
  public let offset: Int

  init(_ query: DocumentQuery) {
    let isFlipped = query.limit?.side == .last
    source = query.source
    filter = query.filter
    orders = query.normalizedOrders.map { isFlipped ? $0.reversed : $0 }
    start = isFlipped ? query.end : query.start
    end = isFlipped ? query.start : query.end
    limit = query.limit?.count
    offset = query.offset
  }
}
