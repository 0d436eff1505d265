import TernCore
import TernQuery
import TernStorage

// Making, filling and deleting indexes. Source: documents reference, sections 5.10 and 5.11.
extension CacheRows {
  /// Begins an index; it is used once ``fill(_:_:)`` has entered all documents.
  ///
  /// - Returns: `false` when there is one like it, or as many as may be.
  mutating func makeIndex(_ index: DocumentIndex) throws(StorageError) -> Bool {
    if indexes.of(group: index.group).contains(where: { $0.index == index }) { return false }
    guard indexes.all.count < IndexTable.limit, !index.segments.isEmpty else { return false }
    let state = IndexState(
      number: head.nextIndex, index: index, progress: .building(after: nil))
    var head = head
    head.nextIndex += 1
    let keys = keys
    try store.write { transaction throws(StorageError) in
      try transaction.put(state.record, for: keys.index(state.number))
      try transaction.put(head.record, for: keys.head)
    }
    self.head = head
    indexes.put(state)
    return true
  }

  /// Deletes an index and its entries.
  mutating func deleteIndex(_ state: IndexState) throws(StorageError) {
    let keys = keys
    try store.write { transaction throws(StorageError) in
      try transaction.remove(keys.index(state.number))
      try transaction.remove(in: KeyRange(prefix: keys.entries(state.number)))
    }
    indexes.remove(state.number)
  }

  /// Enters documents into an index that is not filled yet, in one storage transaction.
  ///
  /// An index is filled in pieces, so that no transaction gets long. The position of the last
  /// document is stored with the entries; after a restart filling continues there. Documents that
  /// change meanwhile are entered by their own transactions.
  ///
  /// - Parameter limit: The most documents looked at.
  /// - Returns: The number of documents looked at.
  mutating func fill(_ state: IndexState, _ limit: Int) throws(StorageError) -> Int {
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
  ///
  /// Entries are gathered first and put in key order, because cursors must not see changes and
  /// ordered puts are faster.
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

  /// Begins indexes anew, without entries.
  ///
  /// Queries stop using the indexes at once, since only complete ones serve them.
  mutating func rebuild(_ states: [IndexState]) throws(StorageError) {
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
