import TernStorage

/// Changes to rows that are decided and not yet committed.
///
/// What is put wins over what is removed: a removal forgets earlier puts in its range.
package struct PendingRows: Sendable {
  /// In key order, each key once.
  private(set) var puts: [Row] = []
  /// In key order; neither empty, overlapping nor touching.
  private(set) var removed: [KeyRange] = []

  /// No changes.
  package init() {}

  /// Whether there are no changes.
  package var isEmpty: Bool { puts.isEmpty && removed.isEmpty }

  /// Adds changes behind those already held.
  package mutating func apply(_ mutations: [Mutation]) {
    for mutation in mutations {
      switch mutation {
      case .put(let key, let value): put(Row(key: key, value: value))
      case .remove(let range): remove(range)
      }
    }
  }

  private mutating func put(_ row: Row) {
    let index = lowerBound(row.key.span)
    if index < puts.count, puts[index].key == row.key {
      puts[index].value = row.value
    } else {
      puts.insert(row, at: index)
    }
  }

  private mutating func remove(_ range: KeyRange) {
    guard !range.isEmpty else { return }
    let end = range.upper.map { lowerBound($0.span) } ?? puts.count
    puts.removeSubrange(lowerBound(range.lower.span)..<end)
    var merged = range
    var before: [KeyRange] = []
    var after: [KeyRange] = []
    for old in removed {
      if let upper = old.upper, bytesPrecede(upper, merged.lower) {
        before.append(old)
      } else if let upper = merged.upper, bytesPrecede(upper, old.lower) {
        after.append(old)
      } else {
        merged = merged.union(old)
      }
    }
    removed = before + [merged] + after
  }

  /// What is known about `key`: `nil` when the store below decides, else its value or absence.
  func change(of key: Span<UInt8>) -> Change? {
    let index = lowerBound(key)
    if index < puts.count, comparePut(index, with: key) == 0 {
      return .value(puts[index].value)
    }
    return removed.contains { $0.contains(key) } ? .absent : nil
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
    for hole in removed where hole.overlaps(rest) {
      let part = KeyRange(from: rest.lower, to: hole.lower)
      if !part.isEmpty { parts.append(part) }
      guard let upper = hole.upper else { return parts }
      rest.lower = upper
    }
    if !rest.isEmpty { parts.append(rest) }
    return parts
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
