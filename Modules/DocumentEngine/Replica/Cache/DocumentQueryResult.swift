package import TernCore
package import TernQuery

/// What a query gives on this device, and how it was found.
package struct DocumentQueryResult: Sendable {
  /// The documents with pending writes laid over them, in the query's order, no more than its
  /// limit.
  package var documents: [Document]
  /// How it was found.
  package var plan: DocumentQueryPlan
}
