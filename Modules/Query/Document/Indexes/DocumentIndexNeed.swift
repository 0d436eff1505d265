import TernCore

/// The index that a query needs in the service and that no catalog declares.
///
/// Source: documents reference, section 5.11; Docs/Decisions/0040.
///
/// It describes the one index that would serve the query by itself, which is what the service
/// suggests.
package struct DocumentIndexNeed: Hashable, Sendable {
  private let collectionID: String
  private let isGroup: Bool
  private let fields: [DocumentIndexCatalog.Field]

  /// The failure's text: it names the index as a catalog declares it.
  package var text: String {
    if case .vector? = fields.last?.kind {
      return "Missing vector index configuration. Declare it in firestore.indexes.json: \(entry)"
    }
    if fields.count == 1, let field = fields.first, !field.path.isKey {
      let scope = isGroup ? "COLLECTION_GROUP" : "COLLECTION"
      return "The query requires a \(scope)_\(field.kind.shortName) index for collection "
        + "\(collectionID) and field \(field.path.text). Declare it in firestore.indexes.json, "
        + "under fieldOverrides."
    }
    return "The query requires an index. Declare it in firestore.indexes.json: \(entry)"
  }

  /// The entry of the list `indexes`.
  private var entry: String {
    JSONValue.object([
      .init("collectionGroup", .string(collectionID)),
      .init("queryScope", .string(isGroup ? "COLLECTION_GROUP" : "COLLECTION")),
      .init("fields", .array(fields.map(\.json))),
    ]).json
  }

  fileprivate init(
    _ collectionID: String, isGroup: Bool, _ equalities: [DocumentIndexCatalog.Field],
    _ suffix: [DocumentIndexCatalog.Field]
  ) {
    self.collectionID = collectionID
    self.isGroup = isGroup
    var fields = equalities + suffix
    // The key is a part of every index; it is named only in another direction than its neighbor.
    if fields.count > 1, let key = fields.last, key.path.isKey {
      let neighbor = fields[fields.count - 2].kind
      if neighbor == key.kind || (neighbor == .contains && key.kind == .ascending) {
        fields.removeLast()
      }
    }
    self.fields = fields
  }
}

extension DocumentIndexCatalog {
  /// Returns the first index that the service would miss for a query; `nil` when it needs none that
  /// is not declared.
  ///
  /// Each alternative of the filter needs its own index; the first one without is reported.
  package func need(of query: DocumentQuery) -> DocumentIndexNeed? {
    let isGroup: Bool
    switch query.source {
    case .collection: isGroup = false
    case .group: isGroup = true
    case .document, .all: return nil
    }
    guard let id = query.collectionID else { return nil }
    let orders = query.normalizedOrders.map {
      Field(path: $0.path, kind: $0.isDescending ? .descending : .ascending)
    }
    for term in query.filter?.disjunctions() ?? [[]] {
      let equalities = Self.equalities(term, apartFrom: orders)
      var suffix = orders
      if let search = query.vectorSearch {
        suffix = [Field(path: search.field, kind: .vector(search.vector.count))]
      }
      if !isServed(equalities, suffix, in: id, isGroup: isGroup) {
        return DocumentIndexNeed(id, isGroup: isGroup, equalities, suffix)
      }
    }
    return nil
  }

  /// The fields that hold single values, each once; those that are sorted by count as sorted.
  private static func equalities(
    _ term: [DocumentFieldFilter], apartFrom orders: [Field]
  ) -> [Field] {
    var fields: [Field] = []
    for filter in term where !filter.comparison.isInequality && !filter.path.isKey {
      let isContained =
        filter.comparison == .arrayContains || filter.comparison == .arrayContainsAny
      let field = Field(path: filter.path, kind: isContained ? .contains : .ascending)
      let isOrdered = !isContained && orders.contains { $0.path == filter.path }
      if !isOrdered, !fields.contains(field) { fields.append(field) }
    }
    return fields
  }

  /// Returns true when indexes serve a conjunction: each begins with some of the fields with single
  /// values and goes on with the order, and together they have all of them.
  ///
  /// - Parameters:
  ///   - equalities: The fields that are compared with single values, each once.
  ///   - suffix: The order, the key last; for a vector search the vector alone.
  ///   - id: The collection id.
  ///   - isGroup: True for all collections of the id.
  private func isServed(
    _ equalities: [Field], _ suffix: [Field], in id: String, isGroup: Bool
  ) -> Bool {
    var isCovered = false
    var covered: Set<Field> = []
    for composite in composites
    where composite.isGroup == isGroup && composite.collectionID.hasSameBytes(as: id)
      && composite.fields.count >= suffix.count
    {
      guard Array(composite.fields.suffix(suffix.count)) == suffix else { continue }
      let prefix = composite.fields.dropLast(suffix.count).map { field in
        // The direction of a single value does not matter.
        Field(path: field.path, kind: field.kind == .contains ? .contains : .ascending)
      }
      // A composite with a field that the query does not fix cannot be used: its entries are sorted
      // by that field first.
      guard prefix.allSatisfy(equalities.contains) else { continue }
      isCovered = true
      covered.formUnion(prefix)
    }
    if suffix.count == 1, let key = suffix.first, key.path.isKey {
      if equalities.isEmpty { return isCovered || key.kind == .ascending }
      for field in equalities {
        let kind = field.kind == .contains ? .contains : key.kind
        if keeps(Single(kind: kind, isGroup: isGroup), of: field.path, in: id) {
          isCovered = true
          covered.insert(field)
        }
      }
    } else if equalities.isEmpty, suffix.count == 2, suffix[0].kind == suffix[1].kind {
      if keeps(Single(kind: suffix[0].kind, isGroup: isGroup), of: suffix[0].path, in: id) {
        return true
      }
    }
    return isCovered && covered.count == equalities.count
  }
}

extension DocumentIndexCatalog.Field {
  fileprivate var json: JSONValue {
    var members = [JSONValue.Member("fieldPath", .string(path.text))]
    switch kind {
    case .ascending: members.append(.init("order", .string("ASCENDING")))
    case .descending: members.append(.init("order", .string("DESCENDING")))
    case .contains: members.append(.init("arrayConfig", .string("CONTAINS")))
    case .vector(let dimension):
      members.append(
        .init(
          "vectorConfig",
          .object([
            .init("dimension", .integer(Int64(dimension))), .init("flat", .object([])),
          ])))
    }
    return .object(members)
  }
}

extension DocumentIndexCatalog.Kind {
  fileprivate var shortName: String {
    switch self {
    case .ascending: "ASC"
    case .descending: "DESC"
    case .contains: "CONTAINS"
    case .vector: "VECTOR"
    }
  }
}

/// The indexes that queries need, for all databases or for each of its own.
public struct DocumentIndexCatalogs: Hashable, Sendable {
  /// The catalog of databases without one of their own.
  public var common: DocumentIndexCatalog
  /// The catalogs of single databases, by their ids.
  public var byDatabase: [String: DocumentIndexCatalog]

  /// Gathers catalogs.
  public init(
    common: DocumentIndexCatalog = DocumentIndexCatalog(),
    byDatabase: [String: DocumentIndexCatalog] = [:]
  ) {
    self.common = common
    self.byDatabase = byDatabase
  }

  /// The catalog of a database.
  package func catalog(of databaseID: String) -> DocumentIndexCatalog {
    byDatabase[databaseID] ?? common
  }
}
