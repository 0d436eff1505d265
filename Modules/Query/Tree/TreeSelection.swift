import TernCore

/// Keeps the best rows of a stream, never more than a limit: a heap with the worst on top.
///
/// Memory is that of the limit, time O(*n* log limit). The caller sorts the rows that are left.
struct TreeSelection {
  private let limit: TreeLimit
  /// The rows kept, in no order; the heap moves their indices only.
  private(set) var rows: [TreeRow] = []
  /// Indices of ``rows``; the worst row is on top.
  private var heap: [Int] = []

  init(_ limit: TreeLimit) {
    self.limit = limit
  }

  /// Visits the children, beginning where the best ones are likely: keys often grow with values.
  ///
  /// The order changes the speed only: rows that come after better ones are rejected by one
  /// comparison.
  static func forEachFavorably(
    _ children: ChildMap, _ side: TreeLimit.Side, _ body: (ChildMap.Element) -> Void
  ) {
    switch side {
    case .first: children.forEach(body)
    case .last: children.reversed().forEach(body)
    }
  }

  /// Takes in a row if it is among the best so far.
  mutating func offer(_ row: TreeRow) {
    if rows.count < limit.count {
      heap.append(rows.count)
      rows.append(row)
      siftUp()
    } else if isWorse(rows[heap[0]], than: row) {
      rows[heap[0]] = row
      siftDown()
    }
  }

  private func isWorse(_ left: TreeRow, than right: TreeRow) -> Bool {
    let order = left.compare(right)
    return limit.side == .first ? order > 0 : order < 0
  }

  /// Compares the prefixes first, which decide nearly always.
  private func isWorse(at left: Int, thanAt right: Int) -> Bool {
    let (a, b) = (heap[left], heap[right])
    if rows[a].prefix != rows[b].prefix {
      return (rows[a].prefix > rows[b].prefix) == (limit.side == .first)
    }
    return isWorse(rows[a], than: rows[b])
  }

  private mutating func siftUp() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isWorse(at: child, thanAt: parent) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var worst = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < heap.count {
        if isWorse(at: child, thanAt: worst) { worst = child }
      }
      if worst == parent { return }
      heap.swapAt(parent, worst)
      parent = worst
    }
  }
}
