import TernCore
package import TernQuery

/// The knowledge about the documents that one alternative of a query can select.
///
/// A query with `or` or `in` is a disjunction of alternatives; the rules must allow each of them by
/// itself. Facts come from the filters and from the order, which leaves out documents without the
/// sorted field.
struct QueryFacts {
  /// The document that the alternative names; `nil` when it may select others.
  let key: DocumentKey?
  /// The facts by path. A path that is present exists in every document, with all paths above it.
  private let fields: [[ExactText]: FieldFacts]

  /// The most alternatives that are examined; queries of clients have at most 30.
  static let alternativeLimit = 100

  /// The alternatives of a query, without those that select nothing; `nil` when there are too many.
  static func all(of query: DocumentQuery) -> [QueryFacts]? {
    guard let filter = query.filter else { return [QueryFacts([], query)].compactMap { $0 } }
    if filter.disjunctionCount > alternativeLimit { return nil }
    return filter.disjunctions(expandingArrays: true).compactMap { QueryFacts($0, query) }
  }

  /// - Returns: `nil` when no document meets all conditions.
  fileprivate init?(_ filters: [DocumentFieldFilter], _ query: DocumentQuery) {
    var (fields, key) = ([[ExactText]: FieldFacts](), DocumentKey?.none)
    for filter in filters {
      if filter.path.isKey {
        guard filter.comparison == .equal, case .reference(let name) = filter.operand else {
          continue
        }
        if let key, key != name.key { return nil }
        key = name.key
      } else if !fields[Self.path(filter.path), default: FieldFacts()].add(filter) {
        return nil
      }
    }
    // A document without a field is not sorted by it.
    for order in query.orders where !order.path.isKey && fields[Self.path(order.path)] == nil {
      fields[Self.path(order.path)] = FieldFacts()
    }
    self.fields = fields
    self.key = key
  }

  private static func path(_ path: DocumentFieldPath) -> [ExactText] {
    path.names.map { ExactText($0) }
  }

  /// The knowledge about the field at a path; `nil` when it may be missing.
  func facts(at path: [ExactText]) -> FieldFacts? { fields[path] }

  /// Returns true when every document has a value at a path.
  ///
  /// An empty path is the data as a whole, which always exist.
  func exists(_ path: [ExactText]) -> Bool {
    path.isEmpty || fields.keys.contains { $0.starts(with: path) }
  }

  /// Returns true when the value at a path is a map in every document.
  ///
  /// A path above a known field must hold a map, because the field is inside of it.
  func isMap(_ path: [ExactText]) -> Bool {
    path.isEmpty || fields.keys.contains { $0.count > path.count && $0.starts(with: path) }
      || fields[path]?.kind == .map
  }

  /// The values that may be at a path, or around it, with the rest of the path inside of them;
  /// `nil` when they are not few.
  ///
  /// The longest prefix of the path with known values wins.
  func exactValues(at path: [ExactText]) -> (
    values: [DocumentRuleValue], rest: ArraySlice<ExactText>
  )? {
    for count in stride(from: path.count, to: 0, by: -1) {
      if let values = fields[Array(path.prefix(count))]?.values { return (values, path[count...]) }
    }
    return nil
  }
}

extension DocumentQuery {
  /// The query without the alternatives whose conditions contradict each other.
  ///
  /// Rules are not asked about those: no document matches them. A server must not read anything
  /// for them either.
  package var feasible: DocumentQuery {
    guard let filter, filter.disjunctionCount <= QueryFacts.alternativeLimit else { return self }
    let all = filter.disjunctions(expandingArrays: true)
    let kept = all.filter { QueryFacts($0, self) != nil }
    return kept.count == all.count ? self : matching(any: kept)
  }
}
