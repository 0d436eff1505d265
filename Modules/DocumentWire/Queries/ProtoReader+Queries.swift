package import TernCore
import TernQuery

/// `StructuredQuery` as a ``DocumentQuery``. Source: documents reference, sections 2 and 6.2.
extension ProtoReader {
  /// Reads a query below a parent; `nil` is the root.
  ///
  /// - Throws: ``DocumentWireError/query(_:)`` for a query that breaks a rule,
  ///   ``DocumentWireError/unsupported(_:)`` for queries without a collection and for searches
  ///   by likeness.
  mutating func query(
    below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> DocumentQuery {
    var parts = QueryParts()
    while let field = try next() {
      switch field {
      case 1: parts.selection = try projection()
      case 2: try selector(&parts)
      case 3:
        var message = try message()
        parts.filter = try message.filter()
      case 4: parts.orders.append(try order())
      case 5: parts.limit = try wrappedInt()
      case 6: parts.offset = try int32()
      case 7: parts.start = try cursor()
      case 8: parts.end = try cursor()
      case 9: throw .unsupported("search by likeness is not served")
      default: try skip()
      }
    }
    return try parts.query(below: parent, names)
  }

  private mutating func selector(_ parts: inout QueryParts) throws(DocumentWireError) {
    if parts.collectionID != nil { throw .member("a query reads from one collection") }
    parts.collectionID = ""
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 2: parts.collectionID = try message.string()
      case 3: parts.isGroup = try message.bool()
      default: try message.skip()
      }
    }
  }

  private mutating func projection() throws(DocumentWireError) -> [DocumentFieldPath] {
    var paths: [DocumentFieldPath] = []
    var message = try message()
    while let field = try message.next() {
      if field == 2 { paths.append(try message.reference()) } else { try message.skip() }
    }
    return paths
  }

  /// Reads a `FieldReference`.
  mutating func reference() throws(DocumentWireError) -> DocumentFieldPath {
    var path: DocumentFieldPath?
    var message = try message()
    while let field = try message.next() {
      if field == 2 { path = try message.path() } else { try message.skip() }
    }
    guard let path else { throw .member("a field is not named") }
    return path
  }

  private mutating func order() throws(DocumentWireError) -> DocumentOrder {
    var path: DocumentFieldPath?
    var direction: UInt64 = 0
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: path = try message.reference()
      case 2: direction = try message.varint()
      default: try message.skip()
      }
    }
    guard let path, direction <= 2 else { throw .member("an order has a field and a direction") }
    return DocumentOrder(path, isDescending: direction == 2)
  }

  /// Reads a `google.protobuf` wrapper of a whole number.
  mutating func wrappedInt() throws(DocumentWireError) -> Int64 {
    var value: Int64 = 0
    var message = try message()
    while let field = try message.next() {
      if field == 1 { value = try message.int64() } else { try message.skip() }
    }
    return value
  }

  /// Reads a `Cursor`.
  mutating func cursor() throws(DocumentWireError) -> WireCursor {
    var cursor = WireCursor()
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1:
        var value = try message.message()
        cursor.values.append(try value.value())
      case 2: cursor.isBefore = try message.bool()
      default: try message.skip()
      }
    }
    return cursor
  }
}

/// A `Cursor` as it is on the wire.
package struct WireCursor: Hashable, Sendable {
  /// Values of the first fields of the order.
  package var values: [DocumentValue] = []
  /// Whether it stands just before documents of these values, rather than just behind.
  package var isBefore = false

  package init(_ values: [DocumentValue] = [], isBefore: Bool = false) {
    self.values = values
    self.isBefore = isBefore
  }
}

/// The fields of a `StructuredQuery`.
private struct QueryParts {
  var selection: [DocumentFieldPath]?
  var collectionID: String?
  var isGroup = false
  var filter: DocumentFilter?
  var orders: [DocumentOrder] = []
  var limit: Int64?
  var offset: Int32 = 0
  var start: WireCursor?
  var end: WireCursor?

  func query(
    below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> DocumentQuery {
    guard let id = collectionID, !id.isEmpty else {
      throw .unsupported("a query without a collection is not served")
    }
    let database = try names.required()
    do throws(DocumentQueryError) {
      var query = try source(id, below: parent, database)
      if let filter { query = try query.filtered(filter) }
      // Those that make no difference count as well: nobody has to look through many of them.
      if orders.count > DocumentQueryLimits.clauses {
        throw .tooManyClauses(count: orders.count, limit: DocumentQueryLimits.clauses)
      }
      for order in orders {
        query = try query.ordered(by: order.path, isDescending: order.isDescending)
      }
      if let start { query = try query.starting(at: start.values, isInclusive: start.isBefore) }
      if let end { query = try query.ending(at: end.values, isInclusive: !end.isBefore) }
      if let limit { query = try query.first(Int(limit)) }
      query = try query.skipping(Int(offset))
      return selection.map { query.selecting($0) } ?? query
    } catch {
      throw .query(error)
    }
  }

  private func source(
    _ id: String, below parent: DocumentKey?, _ database: DocumentDatabase
  ) throws(DocumentQueryError) -> DocumentQuery {
    if isGroup {
      let query = try DocumentQuery.group(id)
      guard let parent else { return query }
      // A group below one document is the group within a range of keys.
      let (first, next) = (DocumentName(parent, in: database), parent.behindDescendants)
      return try query.where(.key, .greaterThan, .reference(first))
        .where(.key, .lessThan, .reference(DocumentName(next, in: database)))
    }
    do throws(DocumentError) {
      if let parent { return .collection(try parent.collection(id)) }
      let path = try CollectionPath(id)
      if path.parent != nil { throw .invalidID(id) }
      return .collection(path)
    } catch {
      throw .document(error)
    }
  }
}

extension DocumentKey {
  /// The first key there may be behind everything below this document.
  fileprivate var behindDescendants: DocumentKey {
    let prefix = collection.text + "/"
    guard id.hasPrefix("__id") else { return DocumentKey(unchecked: prefix + id + "\0") }
    // Ids that are numbers sort by number, and before all others.
    let number = Int64(id.dropFirst(4).dropLast(2)) ?? .max
    return DocumentKey(unchecked: prefix + (number == .max ? "\0" : "__id\(number + 1)__"))
  }
}
