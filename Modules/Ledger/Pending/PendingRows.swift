package import TernStorage

/// Changes to rows that are decided and not yet committed.
///
/// What is put wins over what is removed: a removal forgets earlier puts in its range.
package struct PendingRows: Sendable {
  /// The rows that are put.
  package private(set) var puts = SortedRows()
  /// In key order; neither empty, overlapping nor touching.
  package private(set) var removed: [KeyRange] = []

  /// No changes.
  package init() {}

  /// True when there are no changes.
  package var isEmpty: Bool { puts.isEmpty && removed.isEmpty }

  /// The number of changes.
  var changeCount: Int { puts.count + removed.count }

  /// Adds changes behind those already held.
  package mutating func apply(_ mutations: [Mutation]) {
    for mutation in mutations {
      switch mutation {
      case .put(let key, let value): puts.put(Row(key: key, value: value))
      case .remove(let range): remove(range)
      }
    }
  }

  /// Checks that a store can take every row; see ``StorageLimits``.
  func checkLimits() throws(StorageError) {
    for row in puts { try StorageLimits.check(key: row.key.count, value: row.value.count) }
  }

  private mutating func remove(_ range: KeyRange) {
    guard !range.isEmpty else { return }
    puts.remove(range)
    addRemoved(range)
  }

  /// Notes that the store below has no rows in a range that begins or ends a removed one, so that
  /// reading need not look there again.
  mutating func noteEmpty(_ range: KeyRange) { addRemoved(range) }

  private mutating func addRemoved(_ range: KeyRange) {
    // Ranges that overlap or touch the new one become one with it.
    let first = removed.partition { !($0.upper.map { bytesPrecede($0, range.lower) } ?? false) }
    let last = removed.partition { old in range.upper.map { bytesPrecede($0, old.lower) } ?? false }
    let merged = removed[first..<last].reduce(range) { $0.union($1) }
    removed.replaceSubrange(first..<last, with: CollectionOfOne(merged))
  }

  /// Returns the change of `key`: `nil` when the store below decides, else its value or absence.
  func change(of key: Span<UInt8>) -> Change? {
    if let value = puts.value(of: key) { return .value(value) }
    if removed.isEmpty { return nil }
    let next = firstRemoved(endingAfter: [UInt8](copying: key))
    return next < removed.count && removed[next].contains(key) ? .absent : nil
  }

  enum Change {
    case value([UInt8])
    case absent
  }

  /// The index of the first removed range that ends after `key`.
  func firstRemoved(endingAfter key: [UInt8]) -> Int {
    removed.partition { range in range.upper.map { bytesPrecede(key, $0) } ?? true }
  }

  /// The index of the first removed range that begins at `key` or after it; `nil` is after all.
  func firstRemoved(from key: [UInt8]?) -> Int {
    guard let key else { return removed.count }
    return removed.partition { !bytesPrecede($0.lower, key) }
  }
}

extension Array {
  /// The index of the first element for which `isReached` holds; it then holds for all behind it.
  fileprivate func partition(_ isReached: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension KeyRange {
  /// The least range that holds both.
  fileprivate func union(_ other: KeyRange) -> KeyRange {
    let lower = bytesPrecede(lower, other.lower) ? lower : other.lower
    guard let upper, let end = other.upper else { return KeyRange(from: lower) }
    return KeyRange(from: lower, to: bytesPrecede(upper, end) ? end : upper)
  }
}
