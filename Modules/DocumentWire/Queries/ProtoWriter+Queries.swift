import TernCore
import TernQuery

/// Queries as `StructuredQuery`. Source: documents reference, sections 6.2 and 6.3.
extension ProtoWriter {
  /// Writes the target of a listen: complete order, limit from the front.
  mutating func target(_ field: Int, _ target: DocumentTarget) {
    let mark = begin(field)
    source(target.source)
    clauses(target.filter, target.orders[...], target.start, target.end)
    limit(target.limit, offset: target.offset)
    end(mark)
  }

  /// Writes a query that runs once. Its order is completed; if `isExplicit`, only as far as cursors
  /// need it.
  mutating func query(_ field: Int, _ query: DocumentQuery, isExplicit: Bool = false) {
    let target = query.target
    let mark = begin(field)
    if let selection = query.selection {
      let projection = begin(1)
      for path in selection { reference(2, path) }
      end(projection)
    }
    source(target.source)
    let cursors = [target.start, target.end].compactMap { $0?.values.count }
    let count = max(query.orders.count, cursors.max() ?? 0)
    let orders = isExplicit ? target.orders.prefix(count) : target.orders[...]
    clauses(target.filter, orders, target.start, target.end)
    limit(target.limit, offset: target.offset)
    if let search = query.vectorSearch { WireVectorSearch.write(9, search, to: &self) }
    end(mark)
  }

  /// The name of what the query's collection is below.
  mutating func parent(
    _ field: Int, of source: DocumentQuery.Source, _ names: DocumentNames
  ) {
    parent(field, source.parent, names)
  }

  private mutating func source(_ source: DocumentQuery.Source) {
    let mark = begin(2)
    switch source {
    case .collection(let path): string(2, path.id)
    case .group(let id):
      string(2, id)
      putBool(3, true)
    case .document(let key): string(2, key.collectionID)
    case .all(_, let isRecursive): bool(3, isRecursive)
    }
    end(mark)
  }

  private mutating func clauses(
    _ filter: DocumentFilter?, _ orders: ArraySlice<DocumentOrder>, _ start: DocumentCursor?,
    _ last: DocumentCursor?
  ) {
    if let filter { self.filter(3, filter) }
    for order in orders {
      let mark = begin(4)
      reference(1, order.path)
      putInt(2, order.isDescending ? 2 : 1)
      end(mark)
    }
    if let start { cursor(7, WireCursor(start.values, isBefore: start.isInclusive)) }
    if let last { cursor(8, WireCursor(last.values, isBefore: !last.isInclusive)) }
  }

  private mutating func limit(_ limit: Int?, offset: Int) {
    if let limit { wrapped(5, limit) }
    int(6, offset)
  }

  /// A `google.protobuf` wrapper of a whole number.
  mutating func wrapped(_ field: Int, _ value: Int) {
    let mark = begin(field)
    int(1, value)
    end(mark)
  }

  mutating func cursor(_ field: Int, _ cursor: WireCursor) {
    let mark = begin(field)
    for value in cursor.values { self.value(1, value) }
    bool(2, cursor.isBefore)
    end(mark)
  }

  /// A `FieldReference`.
  mutating func reference(_ field: Int, _ path: DocumentFieldPath) {
    let mark = begin(field)
    string(2, path.text)
    end(mark)
  }

  private mutating func filter(_ field: Int, _ filter: DocumentFilter) {
    switch filter {
    case .field(let comparison): fieldFilter(field, comparison)
    case .and(let members), .or(let members):
      if members.count == 1 { return self.filter(field, members[0]) }
      let mark = begin(field)
      let composite = begin(1)
      if case .and = filter { putInt(1, 1) } else { putInt(1, 2) }
      for member in members { self.filter(2, member) }
      end(composite)
      end(mark)
    }
  }

  private mutating func fieldFilter(_ field: Int, _ filter: DocumentFieldFilter) {
    let mark = begin(field)
    if let unary = filter.unaryNumber {
      let inner = begin(3)
      putInt(1, unary)
      reference(2, filter.path)
      end(inner)
    } else {
      let inner = begin(2)
      reference(1, filter.path)
      putInt(2, filter.comparison.wireNumber)
      value(3, filter.operand)
      end(inner)
    }
    end(mark)
  }
}

extension DocumentFieldFilter {
  /// The number of the unary filter that says the same; `nil` when there is none.
  fileprivate var unaryNumber: Int? {
    switch (comparison, operand) {
    case (.equal, .double(let number)) where number.isNaN: 2
    case (.equal, .null): 3
    case (.notEqual, .double(let number)) where number.isNaN: 4
    case (.notEqual, .null): 5
    default: nil
    }
  }
}

extension DocumentQuery.Source {
  /// The document that the collections are below; `nil` at the root.
  fileprivate var parent: DocumentKey? {
    switch self {
    case .collection(let path): path.parent
    case .group: nil
    case .document(let key): key.collection.parent
    case .all(let key, _): key
    }
  }
}
