import TernCore
import TernQuery
import TernStorage

extension CacheQuery {
  /// Looks at the documents that indexes name.
  ///
  /// Each alternative of the filter needs an index of its own; one alternative without an index
  /// makes all others useless. Entries are hints: every document is checked again, so an index may
  /// name too many documents and must not miss one.
  ///
  /// - Returns: `nil` when some alternative of the query has no index, or none that saves work.
  func runByIndex(in base: inout BaseCache) -> CacheRun? {
    guard !query.matchesAll, let plans = indexPlans(base.rows.indexes) else { return nil }
    var run = CacheRun(query)
    run.plan.strategy = .index
    run.plan.indexes = plans.map(\.state.index)
    // Documents in memory count first, so that walks end as early as they can.
    offerOverlays(base.edits, to: &run)
    let begun = run
    return base.reading(orElse: nil) { base, snapshot throws(StorageError) in
      // Damage that was met on the way may have cost an index its entries.
      let states = plans.map(\.state)
      if !states.allSatisfy({ base.rows.indexes.all.contains($0) }) { return nil }
      var attempt = begun
      // Two alternatives may name one document.
      var seen: Set<DocumentPlace>? =
        plans.count > 1 || plans.contains { $0.starts.count > 1 } ? [] : nil
      for number in try base.rows.numbers(of: query, in: snapshot) {
        guard let collection = try base.rows.collection(number, in: snapshot) else { continue }
        for plan in plans {
          for start in plan.starts {
            let range = plan.range(start, number, base.rows.keys)
            try walk(plan, range, collection, &attempt, &seen, &base, snapshot)
          }
        }
      }
      return attempt
    }
  }

  /// One plan for each alternative; `nil` when there is none for some.
  private func indexPlans(_ indexes: IndexTable) -> [IndexPlan]? {
    guard let group = query.collectionID else { return nil }
    let states = indexes.of(group: group).filter(\.isComplete)
    if states.isEmpty { return nil }
    var plans: [IndexPlan] = []
    for filters in query.filter?.disjunctions() ?? [[]] {
      var best: IndexPlan?
      for state in states {
        guard let plan = IndexPlan(state, for: filters, of: query) else { continue }
        if best.map({ plan.isBetter(than: $0) }) ?? true { best = plan }
      }
      guard let best else { return nil }
      plans.append(best)
    }
    return plans
  }

  /// Walks over entries, in the query's order where the plan says so, and ends at the limit.
  ///
  /// - Parameters:
  ///   - seen: The documents met so far; `nil` when no document can be met twice.
  /// - Throws: ``StorageError/corruptRecord(key:)`` for an entry that is none.
  private func walk(
    _ plan: IndexPlan, _ range: KeyRange, _ collection: CachedCollection, _ run: inout CacheRun,
    _ seen: inout Set<DocumentPlace>?, _ base: inout BaseCache,
    _ snapshot: borrowing Snapshot
  ) throws(StorageError) {
    if range.isEmpty { return }
    var wanted = run.query.limit.map { $0.count + run.query.offset } ?? .max
    // Without the whole order any entry may be the first.
    if !plan.isOrdered { wanted = .max }
    // Of documents at the edge of the limit all are looked at, unless keys come in order, too.
    let isExact = plan.isExact && !collection.hasNumberIDs
    var edge: [UInt8]?
    var key = base.rows.keys.documents(collection.number)
    let idStart = key.count
    var cursor = snapshot.cursor(over: range, isReversed: plan.isReversed)
    while wanted > 0 || !isExact, try cursor.next() {
      var reader = RowReader(cursor.value)
      guard let flags = reader.byte(), flags < 2, let count = reader.varint(),
        count < UInt64(cursor.key.count)
      else { throw .corruptRecord(key: [UInt8](copying: cursor.key)) }
      if flags == 1 { wanted = .max }
      if wanted == 0 {
        let values = [UInt8](copying: cursor.key.extracting(0..<(cursor.key.count - Int(count))))
        if values != edge { return }
      }
      let id = cursor.key.extracting((cursor.key.count - Int(count))..<cursor.key.count)
      if seen != nil {
        let place = DocumentPlace(collection: collection.number, id: [UInt8](copying: id))
        if seen?.insert(place).inserted == false { continue }
      }
      key.removeSubrange(idStart...)
      key.append(copying: id)
      guard try look(key, idStart, collection, &run, &base, snapshot), wanted != .max else {
        continue
      }
      wanted = max(0, wanted - 1)
      if wanted == 0, edge == nil {
        edge = [UInt8](copying: cursor.key.extracting(0..<(cursor.key.count - Int(count))))
      }
    }
  }

  /// Shows a query one document; `true` when it matches, whether it is kept or not.
  ///
  /// Documents come from memory if they are there, else from the store, and are then kept in
  /// memory.
  private func look(
    _ storeKey: [UInt8], _ idStart: Int, _ collection: CachedCollection, _ run: inout CacheRun,
    _ base: inout BaseCache, _ snapshot: borrowing Snapshot
  ) throws(StorageError) -> Bool {
    let id = storeKey.span.extracting(idStart..<storeKey.count)
    if let found = base.rows.hot.collections[collection.number]?.find(id) {
      let edits = base.edits
      return base.rows.hot.collections[collection.number].map { look(found, $0, &run, edits) }
        ?? false
    }
    guard let value = try snapshot.get(storeKey) else { return false }
    guard let row = DocumentRow(value.span) else { throw .corruptRecord(key: storeKey) }
    base.rows.hot.remember(collection.number, collection.path, id, value.span)
    guard row.state == .found else { return false }
    let key = collection.key([UInt8](copying: id))
    if hasOverlays(base.edits), isOverlaid(key, base.edits) { return false }
    let fields = value.span.extracting(row.fieldsOffset..<value.count)
    run.plan.documentsRead += 1
    let matches = key.text.withSpan {
      run.matcher.matchesWithinSource(key: $0, fields: fields)
    }
    guard matches else { return false }
    run.keep(row.document(key, value.span))
    return true
  }

  private func look(
    _ row: HotCollection.Row, _ table: HotCollection, _ run: inout CacheRun,
    _ edits: DocumentEdits
  ) -> Bool {
    let key = table.bytes.span.extracting(Int(row.start)..<Int(row.value))
    let fields = table.bytes.span.extracting(Int(row.fields)..<Int(row.end))
    guard row.fields < row.end else { return false }
    run.plan.documentsRead += 1
    guard run.matcher.matchesWithinSource(key: key, fields: fields) else { return false }
    let document = table.base(row).document
    if hasOverlays(edits), isOverlaid(document.key, edits) { return false }
    run.keep(document)
    return true
  }
}
