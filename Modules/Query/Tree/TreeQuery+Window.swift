public import TernCore

extension TreeQuery {
  /// Whether a child lies in the range of this query; the limit plays no part.
  public func contains(key: TreeKey, node: TreeNode) -> Bool {
    TreeRange(self).contains(key, order.sortValue(of: node))
  }

  /// The children of `node` in the order of this query, all of them.
  public func ordered(_ node: TreeNode) -> [ChildMap.Element] {
    let children = node.children
    if order == .key || order == .priority && !children.hasPriorities { return Array(children) }
    return TreeRow.sorted(children.map { TreeRow($0, order) })
  }

  /// The part of `node` this query asks for.
  ///
  /// A query for everything returns the node itself. Any other returns the children in range
  /// and within the limit, without the node's own priority; a leaf gives an empty node.
  /// - Complexity: By key O(log *n* + *k*) for *k* children kept; else O(*n* log *k*).
  public func window(of node: TreeNode) -> TreeNode {
    if loadsAllData { return node }
    let children = node.children
    let isInKeyOrder = order == .key || order == .priority && !children.hasPriorities
    if isInKeyOrder { return TreeNode(children: windowByKey(children)) }
    let range = TreeRange(self)
    guard let limit else {
      return TreeNode(
        children: ChildMap(
          sorted: children.filter { range.contains($0.key, order.sortValue(of: $0.node)) }))
    }
    var selection = TreeSelection(limit)
    for child in selection.favorableOrder(of: children) {
      let row = TreeRow(child, order)
      if range.contains(row.key, row.value) { selection.offer(row) }
    }
    return TreeNode(children: ChildMap(unsorted: selection.rows.map(\.element)))
  }

  /// The window when key order is the query's order.
  private func windowByKey(_ children: ChildMap) -> ChildMap {
    let range = TreeRange(self)
    let positions: Range<Int>
    if order == .key {
      positions = range.positions(in: children)
    } else {
      positions = range.positionsWithoutPriorities(in: children)
    }
    guard let limit, limit.count < positions.count else {
      if positions.count == children.count { return children }
      return ChildMap(sorted: children[positions])
    }
    return ChildMap(
      sorted: children[
        limit.side == .first
          ? positions.lowerBound..<positions.lowerBound + limit.count
          : positions.upperBound - limit.count..<positions.upperBound])
  }
}

extension ChildMap {
  /// Whether any child has a priority. O(*n*).
  package var hasPriorities: Bool {
    contains { $0.node.priority != nil }
  }
}

/// One child with what it is sorted by.
package struct TreeRow: Sendable {
  package let value: TreeSortValue
  package let element: ChildMap.Element

  package var key: TreeKey { element.key }

  package init(_ element: ChildMap.Element, _ order: TreeOrder) {
    self.element = element
    value = order.sortValue(of: element.node)
  }

  /// Whether this row sorts before `other`.
  package func precedes(_ other: TreeRow) -> Bool {
    let order = value.compare(other.value)
    return order != 0 ? order < 0 : key.compare(other.key) < 0
  }

  /// Sorts rows whose keys ascend already; the sort is stable, so values suffice.
  package static func sorted(_ rows: [TreeRow]) -> [ChildMap.Element] {
    rows.sorted { $0.value.compare($1.value) < 0 }.map(\.element)
  }
}

/// Keeps the best rows of a stream, never more than a limit: a heap with the worst on top.
struct TreeSelection {
  private let limit: TreeLimit
  private(set) var rows: [TreeRow] = []

  init(_ limit: TreeLimit) {
    self.limit = limit
  }

  /// The children, beginning where the best ones are likely: keys often grow with values.
  func favorableOrder(of children: ChildMap) -> AnySequence<ChildMap.Element> {
    limit.side == .first ? AnySequence(children) : AnySequence(children.reversed())
  }

  /// Takes in a row if it is among the best so far.
  mutating func offer(_ row: TreeRow) {
    if rows.count < limit.count {
      rows.append(row)
      siftUp()
    } else if isWorse(rows[0], than: row) {
      rows[0] = row
      siftDown()
    }
  }

  private func isWorse(_ left: TreeRow, than right: TreeRow) -> Bool {
    limit.side == .first ? right.precedes(left) : left.precedes(right)
  }

  private mutating func siftUp() {
    var child = rows.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isWorse(rows[child], than: rows[parent]) else { return }
      rows.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var worst = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < rows.count {
        if isWorse(rows[child], than: rows[worst]) { worst = child }
      }
      if worst == parent { return }
      rows.swapAt(parent, worst)
      parent = worst
    }
  }
}
