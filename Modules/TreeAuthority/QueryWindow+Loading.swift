package import TernCore
import TernQuery
package import TernStorage
package import TernTreeRows

extension QueryWindow {
  /// Fills the window from what is stored at `path`; returns the part of the node it shows.
  ///
  /// - Complexity: By key O(children shown); by anything else O(children of `path`).
  package mutating func load(
    _ path: TreePath, of rows: TreeRows,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode {
    var loading = WindowLoading(self)
    let isByKey = query.order == .key
    let first = isByKey ? Self.key(query.start) : nil
    let last = isByKey ? Self.key(query.end) : nil
    let isEnough: (inout WindowLoading, TreeKey, TreeNode) -> Bool = { loading, key, node in
      loading.take(key, node)
      return isByKey && loading.window.isFull
    }
    if isByKey, query.limit?.side == .last {
      try rows.forEachChildReversed(of: path, from: first, through: last, in: view) {
        key, node throws(StorageError) in !isEnough(&loading, key, node)
      }
    } else {
      try rows.forEachChild(of: path, from: first, through: last, in: view) {
        key, node throws(StorageError) in !isEnough(&loading, key, node)
      }
    }
    if isByKey, loading.window.isFull { loading.window.markIncomplete() }
    self = loading.window
    return loading.shown
  }

  /// Fills the window from a node that replaced everything; returns the part of it shown.
  package mutating func load(from node: TreeNode) -> TreeNode {
    var loading = WindowLoading(self)
    for (key, child) in node.children { loading.take(key, child) }
    self = loading.window
    return loading.shown
  }

  /// Reads the part of the node that the window shows: by key in one scan, else child by child.
  package func shown(
    at path: TreePath, of rows: TreeRows,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode {
    var children: [ChildMap.Element] = []
    if query.order == .key, let first = shown.first?.key, let last = shown.last?.key {
      let (from, through) = first < last ? (first, last) : (last, first)
      try rows.forEachChild(of: path, from: from, through: through, in: view) {
        key, node throws(StorageError) in
        children.append((key, node))
        return true
      }
      return TreeNode(children: ChildMap(unsorted: children))
    }
    for candidate in shown {
      children.append(
        (candidate.key, try rows.node(at: path.appending(candidate.key), in: view)))
    }
    return TreeNode(children: ChildMap(unsorted: children))
  }

  /// The key a range by key begins or ends at, if it is one.
  private static func key(_ bound: TreeBound?) -> TreeKey? {
    guard case .string(let text) = bound?.value, text != TreeQuery.minimumKeyName,
      text != TreeQuery.maximumKeyName, !text.isEmpty
    else { return nil }
    return TreeKey(unchecked: text)
  }
}

/// A window being filled, with the children of its candidates.
private struct WindowLoading {
  var window: QueryWindow
  private var nodes: [TreeKey: TreeNode] = [:]

  init(_ window: QueryWindow) {
    self.window = window
    self.window.reset()
  }

  mutating func take(_ key: TreeKey, _ node: TreeNode) {
    let value = window.query.order.sortValue(of: node)
    guard window.range.contains(key, value) else { return }
    nodes[key] = node
    if let dropped = window.offer(.init(key: key, value: value)) { nodes[dropped.key] = nil }
  }

  var shown: TreeNode {
    TreeNode(
      children: ChildMap(
        unsorted: window.shown.map { (key: $0.key, node: nodes[$0.key] ?? .empty) }))
  }
}
