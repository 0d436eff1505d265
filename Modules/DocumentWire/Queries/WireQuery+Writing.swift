import TernCore
import TernQuery

/// Queries as `StructuredQuery`. Source: documents reference, sections 6.2 and 6.3.
extension WireQuery {
  /// Writes the target of a listen: complete order, limit from the front.
  ///
  /// A limit to the last documents is turned round by ``DocumentTarget``, so the wire needs no form
  /// for it. Stock clients send the complete order as well.
  static func target(_ field: Int, _ target: DocumentTarget, to writer: inout ProtoWriter) {
    let mark = writer.begin(field)
    source(target.source, to: &writer)
    clauses(target.filter, target.orders[...], target.start, target.end, to: &writer)
    limit(target.limit, offset: target.offset, to: &writer)
    writer.end(mark)
  }

  /// Writes a query that runs once. Its order is completed; if `isExplicit`, only as far as cursors
  /// need it.
  ///
  /// - Parameters:
  ///   - field: The number of the field that the query is.
  ///   - isExplicit: True for aggregations, which implied orders would change.
  static func query(
    _ field: Int, _ query: DocumentQuery, isExplicit: Bool = false, to writer: inout ProtoWriter
  ) {
    let target = query.target
    let mark = writer.begin(field)
    if let selection = query.selection {
      let projection = writer.begin(1)
      for path in selection { writer.reference(2, path) }
      writer.end(projection)
    }
    source(target.source, to: &writer)
    let cursors = [target.start, target.end].compactMap { $0?.values.count }
    let count = max(query.orders.count, cursors.max() ?? 0)
    let orders = isExplicit ? target.orders.prefix(count) : target.orders[...]
    clauses(target.filter, orders, target.start, target.end, to: &writer)
    limit(target.limit, offset: target.offset, to: &writer)
    if let search = query.vectorSearch { WireVectorSearch.write(9, search, to: &writer) }
    writer.end(mark)
  }

  /// Writes the selector. It has no form for one document, and names the collection around it:
  /// callers use a get or a target of documents instead.
  private static func source(_ source: DocumentQuery.Source, to writer: inout ProtoWriter) {
    let mark = writer.begin(2)
    switch source {
    case .collection(let path): writer.string(2, path.id)
    case .group(let id):
      writer.string(2, id)
      writer.putBool(3, true)
    case .document(let key): writer.string(2, key.collectionID)
    case .all(_, let isRecursive): writer.bool(3, isRecursive)
    }
    writer.end(mark)
  }

  /// Writes filter, orders and cursors.
  ///
  /// - Parameter last: The cursor at the back, where `before` is exclusive.
  private static func clauses(
    _ filter: DocumentFilter?, _ orders: ArraySlice<DocumentOrder>, _ start: DocumentCursor?,
    _ last: DocumentCursor?, to writer: inout ProtoWriter
  ) {
    if let filter { Self.filter(3, filter, to: &writer) }
    for order in orders {
      let mark = writer.begin(4)
      writer.reference(1, order.path)
      writer.putInt(2, order.isDescending ? 2 : 1)
      writer.end(mark)
    }
    if let start { cursor(7, WireCursor(start.values, isBefore: start.isInclusive), to: &writer) }
    if let last { cursor(8, WireCursor(last.values, isBefore: !last.isInclusive), to: &writer) }
  }

  /// Writes limit and offset. The limit is wrapped, because 0 differs from none.
  private static func limit(_ limit: Int?, offset: Int, to writer: inout ProtoWriter) {
    if let limit { writer.wrapped(5, limit) }
    writer.int(6, offset)
  }

  /// Writes a `Cursor`.
  static func cursor(_ field: Int, _ cursor: WireCursor, to writer: inout ProtoWriter) {
    let mark = writer.begin(field)
    for value in cursor.values { writer.value(1, value) }
    writer.bool(2, cursor.isBefore)
    writer.end(mark)
  }

  /// Writes a `Filter`. A composite of one member is written as that member.
  private static func filter(_ field: Int, _ filter: DocumentFilter, to writer: inout ProtoWriter) {
    switch filter {
    case .field(let comparison): fieldFilter(field, comparison, to: &writer)
    case .and(let members), .or(let members):
      if members.count == 1 { return Self.filter(field, members[0], to: &writer) }
      let mark = writer.begin(field)
      let composite = writer.begin(1)
      if case .and = filter { writer.putInt(1, 1) } else { writer.putInt(1, 2) }
      for member in members { Self.filter(2, member, to: &writer) }
      writer.end(composite)
      writer.end(mark)
    }
  }

  /// Writes a `FieldFilter`, or a `UnaryFilter` for null and NaN: a server takes the former for a
  /// filter that keeps nothing.
  private static func fieldFilter(
    _ field: Int, _ filter: DocumentFieldFilter, to writer: inout ProtoWriter
  ) {
    let mark = writer.begin(field)
    if let unary = filter.unaryNumber {
      let inner = writer.begin(3)
      writer.putInt(1, unary)
      writer.reference(2, filter.path)
      writer.end(inner)
    } else {
      let inner = writer.begin(2)
      writer.reference(1, filter.path)
      writer.putInt(2, filter.comparison.wireNumber)
      writer.value(3, filter.operand)
      writer.end(inner)
    }
    writer.end(mark)
  }
}

extension ProtoWriter {
  /// A `google.protobuf` wrapper of a whole number.
  mutating func wrapped(_ field: Int, _ value: Int) {
    let mark = begin(field)
    int(1, value)
    end(mark)
  }

  /// A `FieldReference`.
  mutating func reference(_ field: Int, _ path: DocumentFieldPath) {
    let mark = begin(field)
    string(2, path.text)
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
  var parent: DocumentKey? {
    switch self {
    case .collection(let path): path.parent
    case .group: nil
    case .document(let key): key.collection.parent
    case .all(let key, _): key
    }
  }
}
