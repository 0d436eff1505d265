import TernCore
import TernQuery

extension BundleJSON {
  /// A query as bundles hold it: `{parent, structuredQuery, limitType}`.
  ///
  /// The query is rebuilt by the same checks as one of the application, so an invalid one is
  /// rejected.
  ///
  /// - Returns: `nil` for a query that this version cannot represent.
  func query(_ bundled: JSONValue) -> DocumentQuery? {
    guard let parent = bundled["parent"]?.text, let structured = bundled["structuredQuery"],
      let query = source(structured, parent: parent)
    else { return nil }
    return try? refine(query, structured, isLast: bundled["limitType"]?.text == "LAST")
  }

  private func source(_ structured: JSONValue, parent: String) -> DocumentQuery? {
    guard case .array(let selectors) = structured["from"] ?? .null, selectors.count == 1,
      let id = selectors[0]["collectionId"]?.text
    else { return nil }
    if selectors[0]["allDescendants"] == .bool(true) { return try? .group(id) }
    if parent == database.documentsName {
      return (try? CollectionPath(id)).map { .collection($0) }
    }
    guard let path = try? key(parent)?.collection(id) else { return nil }
    return .collection(path)
  }

  private struct Unreadable: Error {}

  /// Adds filters, orders, cursors and the limit to a source.
  ///
  /// In cursors, `before` means that the position lies before the values: inclusive for a start,
  /// exclusive for an end.
  private func refine(
    _ query: DocumentQuery, _ structured: JSONValue, isLast: Bool
  ) throws -> DocumentQuery {
    var query = query
    if let filter = structured["where"] {
      guard let filter = self.filter(filter) else { throw Unreadable() }
      query = try query.filtered(filter)
    }
    if case .array(let orders) = structured["orderBy"] ?? .null {
      for order in orders {
        guard let path = fieldPath(order["field"]) else { throw Unreadable() }
        query = try query.ordered(
          by: path, isDescending: order["direction"]?.text == "DESCENDING")
      }
    }
    if let cursor = structured["startAt"] {
      let isInclusive = cursor["before"] == .bool(true)
      query = try query.starting(at: values(cursor), isInclusive: isInclusive)
    }
    if let cursor = structured["endAt"] {
      let isInclusive = cursor["before"] != .bool(true)
      query = try query.ending(at: values(cursor), isInclusive: isInclusive)
    }
    if let limit = (structured["limit"]?["value"] ?? structured["limit"]).flatMap(integer) {
      query = isLast ? try query.last(Int(limit)) : try query.first(Int(limit))
    }
    return query
  }

  private func values(_ cursor: JSONValue) throws -> [DocumentValue] {
    guard case .array(let elements) = cursor["values"] ?? .null else { throw Unreadable() }
    let values = elements.compactMap(value)
    if values.count != elements.count { throw Unreadable() }
    return values
  }

  private func fieldPath(_ reference: JSONValue?) -> DocumentFieldPath? {
    reference?["fieldPath"]?.text.flatMap { try? DocumentFieldPath(wire: $0) }
  }

  /// Reads a filter; `nil` when it, or a member of it, is none.
  ///
  /// Comparisons with null and NaN are unary in the wire's form, and plain comparisons here.
  private func filter(_ json: JSONValue) -> DocumentFilter? {
    if let composite = json["compositeFilter"] {
      guard case .array(let members) = composite["filters"] ?? .null else { return nil }
      let filters = members.compactMap(filter)
      if filters.count != members.count { return nil }
      return composite["op"]?.text == "OR" ? .or(filters) : .and(filters)
    }
    if let unary = json["unaryFilter"] {
      guard let path = fieldPath(unary["field"]) else { return nil }
      switch unary["op"]?.text {
      case "IS_NAN": return .where(path, .equal, .double(.nan))
      case "IS_NULL": return .where(path, .equal, .null)
      case "IS_NOT_NAN": return .where(path, .notEqual, .double(.nan))
      case "IS_NOT_NULL": return .where(path, .notEqual, .null)
      default: return nil
      }
    }
    guard let field = json["fieldFilter"], let path = fieldPath(field["field"]),
      let comparison = field["op"]?.text.flatMap(BundleJSON.comparison),
      let operand = field["value"].flatMap(value)
    else { return nil }
    return .where(path, comparison, operand)
  }

  private static func comparison(_ name: String) -> DocumentOperator? {
    switch name {
    case "LESS_THAN": .lessThan
    case "LESS_THAN_OR_EQUAL": .lessThanOrEqual
    case "GREATER_THAN": .greaterThan
    case "GREATER_THAN_OR_EQUAL": .greaterThanOrEqual
    case "EQUAL": .equal
    case "NOT_EQUAL": .notEqual
    case "ARRAY_CONTAINS": .arrayContains
    case "ARRAY_CONTAINS_ANY": .arrayContainsAny
    case "IN": .in
    case "NOT_IN": .notIn
    default: nil
    }
  }
}
