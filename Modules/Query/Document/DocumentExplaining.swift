import TernCore

/// A request to tell how a query is answered.
package enum DocumentExplaining: Hashable, Sendable {
  /// The plan instead of documents.
  case plan
  /// The documents, then the plan and what was read.
  case analysis
}

extension DocumentQuery {
  /// The fields that lead to the query's documents, in the form `(a ASC, __name__ ASC)`.
  package var indexText: String {
    let orders = normalizedOrders
    let equal = (filter?.fieldFilters ?? []).filter { filter in
      !filter.comparison.isInequality && !filter.path.isKey
        && !orders.contains { $0.path == filter.path }
    }
    var paths: [String] = []
    for filter in equal {
      let isArray =
        filter.comparison == .arrayContains || filter.comparison == .arrayContainsAny
      let text = "\(filter.path.text) \(isArray ? "CONTAINS" : "ASC")"
      if !paths.contains(text) { paths.append(text) }
    }
    paths += orders.map { "\($0.path.text) \($0.isDescending ? "DESC" : "ASC")" }
    return "(" + paths.joined(separator: ", ") + ")"
  }
}
