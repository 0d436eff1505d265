public import TernCore

extension TreeQuery {
  /// Returns true when a child lies in the range of this query; the limit plays no part.
  ///
  /// Prepares the range each time; use a `TreeRange` to test many children.
  public func contains(key: TreeKey, node: TreeNode) -> Bool {
    TreeRange(self).contains(key, order.sortValue(of: node))
  }

  /// The children of `node` in the order of this query, all of them.
  public func ordered(_ node: TreeNode) -> [ChildMap.Element] {
    let children = node.children
    if order == .key || order == .priority && !children.hasPriorities { return Array(children) }
    return TreeRow.sorted(children.map { TreeRow($0, order) }).map(\.element)
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
    TreeSelection.forEachFavorably(children, limit.side) { child in
      let row = TreeRow(child, order)
      if range.contains(row.key, row.value) { selection.offer(row) }
    }
    return TreeNode(children: ChildMap(unsorted: selection.rows.map(\.element)))
  }

  /// The window when key order is the query's order.
  ///
  /// Finds the window by positions. Without priorities, an order by priority is an order by key in
  /// which every value is null.
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
  /// True when any child has a priority. O(*n*).
  package var hasPriorities: Bool {
    contains { $0.node.priority != nil }
  }
}
