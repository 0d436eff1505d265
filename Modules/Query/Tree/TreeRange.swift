package import TernCore

/// The range of a query, made ready to test many children.
///
/// Bounds of a query without a key are turned into positions before or behind all children of their
/// value, so that testing a child needs no case of its own for them.
package struct TreeRange: Sendable {
  private let order: TreeOrder
  private let low: Edge?
  private let high: Edge?

  /// One end. Sentinels stand below and above every key.
  private struct Edge: Sendable {
    let value: TreeSortValue
    let key: Position
    let isInclusive: Bool
  }

  /// A position among children of one value.
  private enum Position: Sendable {
    case lowest
    case at(TreeKey)
    case highest

    /// Negative, zero or positive as `key` lies before, at or after this position.
    func compare(_ key: TreeKey) -> Int {
      switch self {
      case .lowest: 1
      case .at(let own): key.compare(own)
      case .highest: -1
      }
    }
  }

  package init(_ query: TreeQuery) {
    order = query.order
    low = query.start.map { TreeRange.edge($0, query.order, isStart: true) }
    high = query.end.map { TreeRange.edge($0, query.order, isStart: false) }
  }

  /// Returns true when a child belongs to the range.
  package func contains(_ key: TreeKey, _ value: TreeSortValue) -> Bool {
    !isBelow(key, value) && !isAbove(key, value)
  }

  /// Returns true when a child sorts before the range.
  package func isBelow(_ key: TreeKey, _ value: TreeSortValue) -> Bool {
    guard let low else { return false }
    let side = TreeRange.compare(key, value, low)
    return low.isInclusive ? side < 0 : side <= 0
  }

  /// Returns true when a child sorts after the range.
  package func isAbove(_ key: TreeKey, _ value: TreeSortValue) -> Bool {
    guard let high else { return false }
    let side = TreeRange.compare(key, value, high)
    return high.isInclusive ? side > 0 : side >= 0
  }

  /// The positions in key order that the range covers; only for a query ordered by key.
  ///
  /// Binary search; O(log² *n*).
  package func positions(in children: ChildMap) -> Range<Int> {
    let start = low.map { edge in
      children.firstPosition { edge.key.compare($0) >= (edge.isInclusive ? 0 : 1) }
    }
    let end = high.map { edge in
      children.firstPosition { edge.key.compare($0) >= (edge.isInclusive ? 1 : 0) }
    }
    let from = start ?? 0
    return from..<max(from, end ?? children.count)
  }

  /// Compares a child with an edge: by value, and by key among equal values.
  private static func compare(_ key: TreeKey, _ value: TreeSortValue, _ edge: Edge) -> Int {
    let order = value.compare(edge.value)
    return order != 0 ? order : edge.key.compare(key)
  }

  /// Makes an edge of a bound. In key order the bound's value is the key; every child has the same
  /// sort value then.
  private static func edge(_ bound: TreeBound, _ order: TreeOrder, isStart: Bool) -> Edge {
    if order == .key {
      return Edge(value: .empty, key: keyPosition(bound), isInclusive: bound.isInclusive)
    }
    // Without a key an inclusive bound takes all children of its value, an exclusive one none.
    let outermost: Position = isStart == bound.isInclusive ? .lowest : .highest
    return Edge(
      value: TreeSortValue(bound.value), key: bound.key.map { .at($0) } ?? outermost,
      isInclusive: bound.isInclusive)
  }

  /// Returns the position of a bound in key order. The text need not be a valid key; it sorts as
  /// one.
  private static func keyPosition(_ bound: TreeBound) -> Position {
    guard case .string(let text) = bound.value else { return .lowest }
    switch text {
    case TreeQuery.minimumKeyName: return .lowest
    case TreeQuery.maximumKeyName: return .highest
    default: return .at(TreeKey(unchecked: text))
    }
  }
}

extension ChildMap {
  /// The first position whose key satisfies a condition that, once true, stays true.
  fileprivate func firstPosition(where isReached: (TreeKey) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isReached(element(at: middle).key) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension TreeRange {
  /// The positions the range covers when no child has what the query sorts by.
  ///
  /// All sort values are empty then, and only keys tell children apart.
  func positionsWithoutPriorities(in children: ChildMap) -> Range<Int> {
    let start = children.firstPosition { !isBelow($0, .empty) }
    let end = children.firstPosition { isAbove($0, .empty) }
    return start..<max(start, end)
  }
}
