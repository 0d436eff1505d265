import TernCore
import TernQuery

/// The fields of a `StructuredQuery`, and the rules of the service for them.
///
/// Source: firestore server reference, section 2.7.
///
/// The fields of a message come in any order, while most rules are about several of them. They are
/// gathered here and checked at the end by ``query(below:_:)``: first what bounds the work, then
/// structure, then cursors. The result is a query that keeps every rule of ``DocumentQuery``, so it
/// is assembled without further checks.
struct QueryParts {
  /// The fields to show; `nil` for all, an empty list for names alone.
  var selection: [DocumentFieldPath]?
  /// True after a selector; a query without one is about all collections below the parent.
  var hasSelector = false
  /// The id of the collection; empty for all.
  var collectionID = ""
  /// True for `all_descendants`: collections of any depth below the parent.
  var isGroup = false
  /// The filter as it was sent, not yet flattened.
  var filter: DocumentFilter?
  /// The orders that were sent; those that inequalities imply are not among them.
  var orders: [DocumentOrder] = []
  /// The limit; `nil` for none. 0 is valid and gives no documents.
  var limit: Int64?
  /// The number of documents to skip.
  var offset: Int32 = 0
  /// The cursor at the front.
  var start: WireCursor?
  /// The cursor at the back.
  var end: WireCursor?
  /// The search by similarity over the result.
  var vectorSearch: DocumentVectorSearch?

  /// Checks the parts and makes the query.
  ///
  /// - Parameter parent: The document that the collections are below; `nil` is the root.
  /// - Returns: A query with its order as far as it was sent, or as far as its cursors reach. A
  ///   query that cannot match has the filter that keeps nothing.
  /// - Throws: ``DocumentWireError/member(_:)`` in the words of the service, about the first rule
  ///   that is broken.
  /// - Complexity: Bounded by ``DocumentQueryLimits``, whatever the message holds.
  func query(
    below parent: DocumentKey?, _ names: DocumentNames
  ) throws(DocumentWireError) -> DocumentQuery {
    let database = try names.required()
    if let limit, limit < 0 { throw .member("limit is negative") }
    if let limit, limit > Int64(Int32.max) { throw .member("limit is too large") }
    if offset < 0 { throw .member("offset is negative") }
    try ServiceCollectionID.check(collectionID)
    try checkOrders()
    try checkFilters(database)
    let source = try source(below: parent)
    try checkSource(source, below: parent)
    var filter = filter?.flattened
    if case .group = source, let parent {
      filter = .and([filter, Self.range(below: parent, database)].compactMap { $0 })
    }
    if Self.isPast(start, isStart: true) || Self.isPast(end, isStart: false) { filter = .nothing }
    // Cursors are compared with the complete order, which the query works out.
    let bare = DocumentQuery.assembled(source, filter: filter, orders: orders)
    let start = try cursor(start, isStart: true, bare, database)
    let end = try cursor(end, isStart: false, bare, database)
    var query = DocumentQuery.assembled(
      source, filter: filter, orders: explicitOrders(bare, start, end), start: start, end: end,
      limit: limit.map { (.first, Int($0)) }, offset: Int(offset))
    query.vectorSearch = vectorSearch
    return selection.map { query.selecting($0) } ?? query
  }

  /// Returns the collections to search.
  ///
  /// - Throws: ``DocumentWireError/document(_:)`` for an id that makes no path.
  private func source(below parent: DocumentKey?) throws(DocumentWireError) -> DocumentQuery.Source
  {
    if collectionID.isEmpty { return .all(below: parent, isRecursive: isGroup) }
    if isGroup { return .group(collectionID) }
    do throws(DocumentError) {
      if let parent { return .collection(try parent.collection(collectionID)) }
      return .collection(try CollectionPath(collectionID))
    } catch {
      throw .document(error)
    }
  }

  /// Queries without an id of a collection have the order of names, and nothing else.
  ///
  /// A group below a document has the same restriction, because it is served as a range of names.
  private func checkSource(
    _ source: DocumentQuery.Source, below parent: DocumentKey?
  ) throws(DocumentWireError) {
    switch source {
    case .collection, .document: return
    case .group:
      guard parent != nil else { return }
      let isPlain = filter == nil && orders.allSatisfy { $0.path.isKey }
      if !isPlain { throw .member("collection group queries are only allowed at the root parent") }
    case .all:
      if let filter = filter?.fieldFilters.first(where: { !$0.path.isKey }) {
        throw .member("kind is required for filter: \(filter.path.text)")
      }
      if orders.contains(where: { !$0.path.isKey || $0.isDescending }) {
        throw .member("kind is required for all orders except __key__ ascending")
      }
    }
  }

  /// Checks the sent orders: the key comes last, and each field once.
  private func checkOrders() throws(DocumentWireError) {
    // This bounds the work of reading them.
    if orders.count > DocumentQueryLimits.clauses { throw Self.tooManyClauses }
    try DocumentOrder.check(orders)
  }

  private static let tooManyClauses = DocumentWireError.member(
    "The query has more than \(DocumentQueryLimits.clauses) filters and sort orders.")

  /// Returns the filter for names below a document.
  private static func range(
    below parent: DocumentKey, _ database: DocumentDatabase
  ) -> DocumentFilter {
    // A group below one document is the group within a range of keys.
    let (first, next) = (
      DocumentName(parent, in: database), DocumentName(parent.behindDescendants, in: database)
    )
    return .and([
      .where(.key, .greaterThan, .reference(first)), .where(.key, .lessThan, .reference(next)),
    ])
  }

  /// The order as far as it was asked for, or as cursors go beyond that.
  ///
  /// The rest of the order is implied, so it is left out: the query equals the one that was sent.
  private func explicitOrders(
    _ bare: DocumentQuery, _ start: DocumentCursor?, _ end: DocumentCursor?
  ) -> [DocumentOrder] {
    let count = max(start?.values.count ?? 0, end?.values.count ?? 0)
    return count <= orders.count ? orders : Array(bare.normalizedOrders.prefix(count))
  }
}

// MARK: - Filters and cursors

extension QueryParts {
  /// Checks the filters together. Each one alone was checked when it was read.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for references into another database, combinations
  ///   that the service rejects, more alternatives than ``DocumentQueryLimits/disjunctions``, two
  ///   array filters in one alternative, more clauses than ``DocumentQueryLimits/clauses``, and
  ///   ranges over more fields than ``DocumentQueryLimits/inequalityFields``.
  private func checkFilters(_ database: DocumentDatabase) throws(DocumentWireError) {
    guard let filter else { return }
    let fields = filter.fieldFilters
    // Before anything whose cost grows faster than the request.
    if fields.count + orders.count > DocumentQueryLimits.clauses { throw Self.tooManyClauses }
    for field in fields {
      for case .reference(let name) in field.alternatives where name.database != database {
        throw .member(
          "mismatched databases within request: \(name.database.resourceName) vs. "
            + database.resourceName)
      }
    }
    try checkCombinations(fields)
    let count = filter.disjunctionCount
    if count > DocumentQueryLimits.disjunctions {
      throw .member(
        "The query has \(count) disjunctions after normalization, at most "
          + "\(DocumentQueryLimits.disjunctions) are allowed.")
    }
    // The number of alternatives was checked without making them: nested ORs multiply.
    let terms = filter.disjunctions(expandingArrays: true)
    for term in terms where term.count(where: { $0.comparison == .arrayContains }) > 1 {
      throw .member("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")
    }
    if terms.reduce(orders.count, { $0 + $1.count }) > DocumentQueryLimits.clauses {
      throw Self.tooManyClauses
    }
    let ranges = Set(fields.filter(\.comparison.isInequality).map(\.path))
    if ranges.count > DocumentQueryLimits.inequalityFields {
      throw .member(
        "Cannot have inequality filters on more than \(DocumentQueryLimits.inequalityFields) "
          + "properties.")
    }
  }

  /// Checks the rules for negations. The SDKs check them as well; raw requests do not.
  private func checkCombinations(_ fields: [DocumentFieldFilter]) throws(DocumentWireError) {
    let negations = fields.filter { $0.comparison == .notEqual || $0.comparison == .notIn }
    if negations.count > 1 {
      throw .member(
        "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per "
          + "query.")
    }
    guard negations.first?.comparison == .notIn else { return }
    let hasLists = fields.contains { $0.comparison == .in || $0.comparison == .arrayContainsAny }
    if hasLists || filter?.hasOr ?? false {
      throw .member(
        "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")
    }
  }

  /// Returns true for a cursor without values that lies behind all documents, for a start, or
  /// before them, for an end.
  ///
  /// A cursor without values stands before all documents or behind them. Only one of the two bounds
  /// something, and it leaves nothing.
  private static func isPast(_ wire: WireCursor?, isStart: Bool) -> Bool {
    guard let wire, wire.values.isEmpty else { return false }
    return wire.isBefore != isStart
  }

  /// Makes a cursor of the query.
  ///
  /// - Parameters:
  ///   - isStart: True for the front. `before` means inclusive there, and exclusive at the back.
  ///   - query: The query without cursors, for its complete order.
  /// - Returns: `nil` for a cursor without values.
  /// - Throws: ``DocumentWireError/member(_:)`` for more values than the order has, and for a key
  ///   that is no reference or lies in another database.
  private func cursor(
    _ wire: WireCursor?, isStart: Bool, _ query: DocumentQuery, _ database: DocumentDatabase
  ) throws(DocumentWireError) -> DocumentCursor? {
    guard let wire, !wire.values.isEmpty else { return nil }
    let orders = query.normalizedOrders
    if wire.values.count > orders.count { throw .member("Cursor has too many values.") }
    for (value, order) in zip(wire.values, orders) where order.path.isKey {
      guard case .reference(let name) = value else {
        throw .member("Cursor __key__ value is not a document reference.")
      }
      if name.database != database {
        throw .member("the cursor key is in a different partition than the query")
      }
    }
    return DocumentCursor(wire.values, isInclusive: wire.isBefore == isStart)
  }
}

extension DocumentKey {
  /// The first key there may be behind everything below this document.
  ///
  /// It bounds a range of keys from above, exclusively, and need not be a valid key.
  fileprivate var behindDescendants: DocumentKey {
    let prefix = collection.text + "/"
    guard PathOrder.isNumber(id) else { return DocumentKey(unchecked: prefix + id + "\0") }
    // Ids that are numbers sort by number, and before all others.
    let number = Int64(id.dropFirst(4).dropLast(2)) ?? .max
    return DocumentKey(unchecked: prefix + (number == .max ? "\0" : "__id\(number + 1)__"))
  }
}

extension DocumentOrder {
  /// Checks that the key comes last, and no field twice.
  static func check(_ orders: [DocumentOrder]) throws(DocumentWireError) {
    for (index, order) in orders.enumerated() {
      if orders[..<index].contains(where: { $0.path.isKey }) {
        throw .member("order by clause cannot contain more fields after the key")
      }
      if orders[..<index].contains(where: { $0.path == order.path }) {
        throw .member("order by clause cannot contain duplicate fields \(order.path.text)")
      }
    }
  }
}
