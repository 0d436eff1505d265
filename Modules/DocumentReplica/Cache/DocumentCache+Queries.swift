import TernCore
package import TernQuery
import TernStorage

extension DocumentCache {
  /// Returns a query's local result: the cached documents with pending writes applied.
  ///
  /// - Parameter usingPrevious: `true` to start from the server's last result; `false` when a
  ///   limited result must be refilled.
  /// - Complexity: By an index, O(documents named by it); by previous results, O(those and what
  ///   has changed since); otherwise O(cached documents of the collection). Memory O(result).
  ///   Source: documents reference, section 5.10.
  package mutating func run(
    _ query: DocumentQuery, usingPrevious: Bool = true
  ) -> DocumentQueryResult {
    var run = CacheQuery(query: query, shown: pending.shown)
      .run(in: &stored, usingPrevious: usingPrevious)
    let documents = run.documents
    run.plan.documentsReturned = documents.count
    if run.plan.strategy == .scan, createsIndexes {
      run.plan.createdIndexes = createIndexes(for: query, run.plan)
    }
    return DocumentQueryResult(documents: documents, plan: run.plan)
  }

  /// Returns the plan of a query, without creating indexes for it.
  package mutating func explain(_ query: DocumentQuery) -> DocumentQueryPlan {
    var run = CacheQuery(query: query, shown: pending.shown)
      .run(in: &stored, usingPrevious: true)
    run.plan.documentsReturned = run.documents.count
    return run.plan
  }
}

// MARK: Indexes

// Source: documents reference, sections 5.10 and 5.11.
extension DocumentCache {
  /// A query that looked at fewer documents gets no index of its own.
  static let indexedFromDocuments = 100
  /// The ratio of documents read to documents returned above which a query gets an index: the cost
  /// of one lookup relative to one step of a scan.
  static let indexCostFactor = 4

  /// The indexes, including those still being filled.
  package var allIndexes: [DocumentIndex] { stored.rows.indexes.all.map(\.index) }

  /// `true` if every index is filled, so that queries use it.
  package var areIndexesComplete: Bool { stored.rows.indexes.all.allSatisfy(\.isComplete) }

  /// Makes exactly these indexes: others are deleted.
  package mutating func setIndexes(_ wanted: [DocumentIndex]) {
    for state in stored.rows.indexes.all where !wanted.contains(state.index) {
      stored.attempt { base throws(StorageError) in try base.rows.deleteIndex(state) }
    }
    for index in wanted { _ = make(index) }
  }

  /// Makes the indexes a configuration names, and deletes all others.
  ///
  /// - Throws: ``DocumentIndexError``, and then nothing has changed.
  package mutating func setIndexes(_ json: String) throws(DocumentIndexError) {
    try configure(try DocumentIndex.configuration(json))
  }

  /// Makes exactly these indexes: others are deleted.
  ///
  /// - Throws: ``DocumentIndexError``, and then nothing has changed.
  package mutating func configure(_ wanted: [DocumentIndex]) throws(DocumentIndexError) {
    if wanted.count > IndexTable.limit { throw .tooMany(wanted.count, limit: IndexTable.limit) }
    for index in wanted where index.segments.count > IndexTable.fieldLimit {
      throw .malformed(
        "an index of \"\(index.group)\" has more than \(IndexTable.fieldLimit) fields")
    }
    setIndexes(wanted)
  }

  /// Deletes all indexes; queries give the same results without them.
  package mutating func deleteAllIndexes() { setIndexes([]) }

  /// Enters documents into indexes that are not filled yet, in one storage transaction.
  ///
  /// - Parameter limit: The most documents looked at.
  /// - Returns: How many were looked at; zero when every index is filled.
  package mutating func backfillIndexes(limit: Int = 500) -> Int {
    if !stored.edits.isEmpty { stored.storeEdits() }
    for _ in 0..<BaseCache.repairLimit {
      guard let state = stored.rows.indexes.all.first(where: { !$0.isComplete }) else { return 0 }
      do throws(StorageError) {
        let count = try stored.rows.fill(state, limit)
        if count > 0 { return count }
      } catch .corruptRecord(let key) {
        stored.drop(key)
      } catch {
        stored.note(error)
        return 0
      }
    }
    return 0
  }

  private mutating func make(_ index: DocumentIndex) -> Bool {
    // A query may ask for more fields than an index can have.
    if index.segments.count > IndexTable.fieldLimit { return false }
    return stored.attempt { base throws(StorageError) in try base.rows.makeIndex(index) } ?? false
  }

  /// Makes indexes for a query that looked at far more documents than it returned.
  private mutating func createIndexes(
    for query: DocumentQuery, _ plan: DocumentQueryPlan
  ) -> [DocumentIndex] {
    guard plan.documentsRead >= Self.indexedFromDocuments,
      plan.documentsRead > Self.indexCostFactor * plan.documentsReturned
    else { return [] }
    return query.idealIndexes.filter { make($0) }
  }
}

extension DocumentQuery {
  /// The indexes that would serve the query best, one for each alternative that is unlike the
  /// others; none when ranges over several fields are asked for.
  var idealIndexes: [DocumentIndex] {
    guard let group = collectionID, !matchesAll else { return [] }
    let ranges = Set((filter?.fieldFilters ?? []).filter(\.comparison.isInequality).map(\.path))
    if ranges.count > 1 { return [] }
    var found: [DocumentIndex] = []
    for filters in filter?.disjunctions() ?? [[]] {
      var segments: [DocumentIndex.Segment] = []
      for filter in filters where !filter.path.isKey {
        let isElement =
          filter.comparison == .arrayContains || filter.comparison == .arrayContainsAny
        let segment = DocumentIndex.Segment(filter.path, isElement ? .contains : .ascending)
        if filter.comparison != .equal && !isElement { continue }
        if !segments.contains(segment) { segments.append(segment) }
      }
      let fixed = segments.filter { $0.kind == .ascending }.map(\.path)
      let orders = normalizedOrders.filter { !$0.path.isKey && !fixed.contains($0.path) }
      // Read from its end an index serves the opposite order. One that ends ascending has keys
      // in the query's order, too.
      let isFlipped = orders.last?.isDescending ?? false
      for order in orders {
        segments.append(
          DocumentIndex.Segment(
            order.path, order.isDescending == isFlipped ? .ascending : .descending))
      }
      let index = DocumentIndex(group: group, segments: segments)
      if !segments.isEmpty, !found.contains(index) { found.append(index) }
    }
    return found
  }
}
