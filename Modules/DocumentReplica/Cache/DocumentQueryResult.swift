package import TernCore
package import TernQuery

/// A query's local result and its plan.
package struct DocumentQueryResult: Sendable {
  /// The documents with pending writes laid over them, in the query's order, no more than its
  /// limit.
  package var documents: [Document]
  /// The plan of the query.
  package var plan: DocumentQueryPlan
}
