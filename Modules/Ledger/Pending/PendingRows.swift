package import TernStorage

/// Changes to rows that are decided and not yet committed.
///
/// What is put wins over what is removed: a removal forgets earlier puts in its range.
package struct PendingRows: Sendable {
  /// In key order, each key once.
  package private(set) var puts: [Row] = []
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
      case .put(let key, let value): put(Row(key: key, value: value))
      case .remove(let range): remove(range)
      }
    }
  }

  /// Checks that a store can take every row; see ``StorageLimits``.
  func checkLimits() throws(StorageError) {
    for row in puts { try StorageLimits.check(key: row.key.count, value: row.value.count) }
  }

  private mutating func put(_ row: Row) {
    if let last = puts.last, bytesPrecede(last.key, row.key) { return puts.append(row) }
    let index = lowerBound(row.key.span)
    if index < puts.count, comparePut(index, with: row.key.span) == 0 {
      puts[index].value = row.value
    } else {
      puts.insert(row, at: index)
    }
  }

  private mutating func remove(_ range: KeyRange) {
    guard !range.isEmpty else { return }
    let end = range.upper.map { lowerBound($0.span) } ?? puts.count
    puts.removeSubrange(lowerBound(range.lower.span)..<end)
    // Ranges that overlap or touch the new one become one with it.
    let first = removed.partition { !($0.upper.map { bytesPrecede($0, range.lower) } ?? false) }
    let last = removed.partition { old in range.upper.map { bytesPrecede($0, old.lower) } ?? false }
    let merged = removed[first..<last].reduce(range) { $0.union($1) }
    removed.replaceSubrange(first..<last, with: CollectionOfOne(merged))
  }

  /// The index of the first removed range that ends after `key`.
  private func firstRemoved(endingAfter key: [UInt8]) -> Int {
    removed.partition { range in range.upper.map { bytesPrecede(key, $0) } ?? true }
  }

  /// Returns the change of `key`: `nil` when the store below decides, else its value or absence.
  func change(of key: Span<UInt8>) -> Change? {
    let index = lowerBound(key)
    if index < puts.count, comparePut(index, with: key) == 0 {
      return .value(puts[index].value)
    }
    if removed.isEmpty { return nil }
    let next = firstRemoved(endingAfter: [UInt8](copying: key))
    return next < removed.count && removed[next].contains(key) ? .absent : nil
  }

  enum Change {
    case value([UInt8])
    case absent
  }

  /// Negative, zero or positive as the put at `index` lies before, at or after `key`.
  func comparePut(_ index: Int, with key: Span<UInt8>) -> Int {
    let own = puts[index].key
    return compareBytes(own.span, key)
  }

  /// The index of the first put at or after `key`.
  func lowerBound(_ key: Span<UInt8>) -> Int {
    var low = 0
    var high = puts.count
    while low < high {
      let middle = (low + high) / 2
      if comparePut(middle, with: key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The parts of `range` whose rows in the store below are not removed, in key order.
  func untouched(of range: KeyRange) -> [KeyRange] {
    var parts: [KeyRange] = []
    var rest = range
    for hole in removed[firstRemoved(endingAfter: range.lower)...] {
      guard hole.overlaps(rest) else { break }
      let part = KeyRange(from: rest.lower, to: hole.lower)
      if !part.isEmpty { parts.append(part) }
      guard let upper = hole.upper else { return parts }
      rest.lower = upper
    }
    if !rest.isEmpty { parts.append(rest) }
    return parts
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
