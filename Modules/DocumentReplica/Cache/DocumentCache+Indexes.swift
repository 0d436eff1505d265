import TernCore
package import TernQuery
import TernStorage

// Making, filling and deleting indexes. Source: documents reference, sections 5.10 and 5.11.
extension DocumentCache {
  /// A query that looked at fewer documents gets no index of its own.
  static let indexedFromDocuments = 100
  /// The ratio of documents read to documents returned above which a query gets an index: the cost
  /// of one lookup relative to one step of a scan.
  static let indexCostFactor = 4

  /// The indexes, including those still being filled.
  package var allIndexes: [DocumentIndex] { indexes.all.map(\.index) }

  /// `true` if every index is filled, so that queries use it.
  package var areIndexesComplete: Bool { indexes.all.allSatisfy(\.isComplete) }

  /// Makes exactly these indexes: others are deleted.
  package mutating func setIndexes(_ wanted: [DocumentIndex]) {
    for state in indexes.all where !wanted.contains(state.index) { delete(state) }
    for index in wanted { make(index) }
  }

  /// Makes the indexes a configuration names, and deletes all others.
  ///
  /// - Throws: ``DocumentIndexError``, and then nothing has changed.
  package mutating func setIndexes(_ json: String) throws(DocumentIndexError) {
    try configure(try DocumentIndex.configuration(json))
  }

  /// Makes exactly these indexes: others are deleted.
  ///
  /// - Throws: ``DocumentIndexError/tooMany(_:limit:)``, and then nothing has changed.
  package mutating func configure(_ wanted: [DocumentIndex]) throws(DocumentIndexError) {
    if wanted.count > IndexTable.limit { throw .tooMany(wanted.count, limit: IndexTable.limit) }
    setIndexes(wanted)
  }

  /// Deletes all indexes; queries give the same results without them.
  package mutating func deleteAllIndexes() { setIndexes([]) }

  /// Enters documents into indexes that are not filled yet, in one storage transaction.
  ///
  /// - Parameter limit: The most documents looked at.
  /// - Returns: How many were looked at; zero when every index is filled.
  package mutating func backfillIndexes(limit: Int = 500) -> Int {
    if !edits.isEmpty { storeEdits() }
    for _ in 0..<Self.repairLimit {
      guard let state = indexes.all.first(where: { !$0.isComplete }) else { return 0 }
      do throws(StorageError) {
        let count = try fill(state, limit)
        if count > 0 { return count }
      } catch .corruptRecord(let key) {
        drop(key)
      } catch {
        failure = failure ?? error
        return 0
      }
    }
    return 0
  }

  // MARK: Making and deleting

  /// Begins an index; it is used once ``backfillIndexes(limit:)`` has filled it.
  @discardableResult
  mutating func make(_ index: DocumentIndex) -> Bool {
    if indexes.of(group: index.group).contains(where: { $0.index == index }) { return false }
    guard indexes.all.count < IndexTable.limit, !index.segments.isEmpty else { return false }
    let state = IndexState(
      number: head.nextIndex, index: index, progress: .building(after: nil))
    var head = head
    head.nextIndex += 1
    let keys = keys
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.put(state.record, for: keys.index(state.number))
        try transaction.put(head.record, for: keys.head)
      }
    } catch {
      failure = failure ?? error
      return false
    }
    self.head = head
    indexes.put(state)
    return true
  }

  private mutating func delete(_ state: IndexState) {
    let keys = keys
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.remove(keys.index(state.number))
        try transaction.remove(in: KeyRange(prefix: keys.entries(state.number)))
      }
      indexes.remove(state.number)
    } catch {
      failure = failure ?? error
    }
  }

  // MARK: Filling

  private mutating func fill(_ state: IndexState, _ limit: Int) throws(StorageError) -> Int {
    let keys = keys
    var after: DocumentPlace?
    if case .building(let place) = state.progress { after = place }
    var count = 0
    var next = state
    try store.write { transaction throws(StorageError) in
      for number in try keys.numbers(inGroup: state.index.group, in: transaction) {
        if let after, number < after.collection { continue }
        var range = KeyRange(prefix: keys.documents(number))
        if let after, number == after.collection { range.lower = keys.document(after) + [0] }
        var last: [UInt8]?
        (count, last) = try enter(range, number, state, count, limit, &transaction)
        if let last {
          next.progress = .building(after: DocumentPlace(collection: number, id: last))
        }
        if count >= limit { break }
      }
      if count < limit { next.progress = .complete }
      try transaction.put(next.record, for: keys.index(state.number))
    }
    indexes.put(next)
    return count
  }

  /// Enters documents of one collection; returns how many were met in all, and the last one's id.
  private func enter(
    _ range: KeyRange, _ collection: UInt64, _ state: IndexState, _ before: Int, _ limit: Int,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) -> (Int, [UInt8]?) {
    let prefix = keys.documents(collection).count
    var entries: [[UInt8]: [UInt8]] = [:]
    var count = before
    var last: [UInt8]?
    do {
      var cursor = transaction.cursor(over: range, limit: limit - before)
      while try cursor.next() {
        count += 1
        let id = [UInt8](copying: cursor.key.extracting(prefix..<cursor.key.count))
        last = id
        guard let row = DocumentRow(cursor.value) else {
          throw StorageError.corruptRecord(key: [UInt8](copying: cursor.key))
        }
        guard row.state == .found else { continue }
        let fields = cursor.value.extracting(row.fieldsOffset..<cursor.value.count)
        let place = DocumentPlace(collection: collection, id: id)
        entries.merge(state.entries(of: fields, at: place, keys)) { $1 }
      }
    } catch let error as StorageError {
      throw error
    } catch {
      preconditionFailure("a cursor throws storage errors only")
    }
    for (key, value) in entries.sorted(by: { bytesPrecede($0.key, $1.key) }) {
      try transaction.put(value, for: key)
    }
    return (count, last)
  }

  // MARK: Damage

  /// An entry that cannot be read: its index is made anew.
  mutating func dropEntry(_ key: [UInt8], _ rest: ArraySlice<UInt8>) throws(StorageError) {
    guard rest.count >= 4 else { return try reset() }
    let number = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let state = indexes.all.first(where: { $0.number == number }) else {
      let range = KeyRange(prefix: keys.entries(number))
      return try store.write { transaction throws(StorageError) in
        try transaction.remove(in: range)
      }
    }
    try rebuild([state])
  }

  /// Rebuilds the indexes over a collection, because the entries of an unreadable document are
  /// unknown.
  mutating func dropEntries(of collection: UInt64) {
    guard let path = collections[collection]?.path else { return }
    do throws(StorageError) {
      try rebuild(indexes.of(group: path.id))
    } catch {
      failure = failure ?? error
    }
  }

  private mutating func rebuild(_ states: [IndexState]) throws(StorageError) {
    if states.isEmpty { return }
    let keys = keys
    let begun = states.map {
      IndexState(number: $0.number, index: $0.index, progress: .building(after: nil))
    }
    try store.write { transaction throws(StorageError) in
      for state in begun {
        try transaction.remove(in: KeyRange(prefix: keys.entries(state.number)))
        try transaction.put(state.record, for: keys.index(state.number))
      }
    }
    for state in begun { indexes.put(state) }
  }
}

// MARK: Automatic indexes

extension DocumentCache {
  /// Makes indexes for a query that looked at far more documents than it returned.
  mutating func createIndexes(
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
