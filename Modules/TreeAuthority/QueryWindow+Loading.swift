package import TernCore
import TernQuery
package import TernStorage
package import TernTreeRows

extension QueryWindow {
  /// Fills the window from what is stored at `path`; returns the part of the node it shows.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes of rows of the children shown, and of one that is looked at.
  ///   - whenKept: Called behind each child with the size of the nodes that are kept so far.
  /// - Returns: `nil`, and the window stays as it is, when more would have to be kept.
  /// - Complexity: By key O(children shown); by anything else O(children of `path`).
  package mutating func load(
    _ path: TreePath, of rows: TreeRows, limitBytes: Int = .max,
    in view: borrowing some StoreView & ~Copyable & ~Escapable,
    whenKept: (_ rows: Int, _ bytes: Int) -> Void = { _, _ in }
  ) throws(StorageError) -> TreeNode? {
    var loading = WindowLoading(self)
    try loading.read(path, of: rows, childBytes: limitBytes, in: view) { loading in
      whenKept(loading.keptRows, loading.keptBytes)
      return loading.keptBytes <= limitBytes
    }
    guard loading.keptBytes <= limitBytes, !loading.lacksNodes else { return nil }
    self = loading.window
    return loading.shown
  }

  /// Fills the window again from what is stored at `path`, and keeps no node.
  ///
  /// - Complexity: By key O(candidates); by anything else O(children of `path`).
  mutating func reload(
    _ path: TreePath, of rows: TreeRows,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) {
    var loading = WindowLoading(self, keepsNodes: false)
    try loading.read(path, of: rows, childBytes: Self.smallBytes, in: view) { _ in true }
    self = loading.window
  }

  /// A child with more bytes is not built to learn its sort value.
  private static let smallBytes = 64 << 10

  /// Fills the window from a node that replaced everything; returns the part of it shown.
  ///
  /// - Parameter limit: The most children that may be kept.
  /// - Returns: `nil`, and the window stays as it is, when there are more.
  package mutating func load(from node: TreeNode, atMost limit: Int = .max) -> TreeNode? {
    var loading = WindowLoading(self)
    for (key, child) in node.children {
      loading.take(key, query.order.sortValue(of: child), child, NodeSize())
      if loading.window.count > limit { return nil }
    }
    self = loading.window
    return loading.shown
  }

  /// Reads the part of the node that the window shows: by key in one scan, else child by child.
  ///
  /// - Parameter limitBytes: The most bytes of rows.
  /// - Returns: `nil` when there are more.
  package func shown(
    at path: TreePath, of rows: TreeRows, limitBytes: Int = .max,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode? {
    var children: [ChildMap.Element] = []
    var left = limitBytes
    if query.order == .key, let first = shown.first?.key, let last = shown.last?.key {
      let (from, through) = first < last ? (first, last) : (last, first)
      try rows.forEachChild(
        of: path, from: from, through: through, limitBytes: limitBytes, in: view
      ) { key, node, size throws(StorageError) in
        left -= size.bytes
        guard left >= 0, let node else { return false }
        children.append((key, node))
        return true
      }
    } else {
      for candidate in shown where left >= 0 {
        var size = NodeSize()
        let node = try rows.node(
          at: path.appending(candidate.key), limitBytes: left, size: &size, in: view)
        left -= size.bytes
        if let node { children.append((candidate.key, node)) }
      }
    }
    return left < 0 ? nil : TreeNode(children: ChildMap(unsorted: children))
  }

  /// The key a range by key begins or ends at, if it is one.
  fileprivate static func key(_ bound: TreeBound?) -> TreeKey? {
    guard case .string(let text) = bound?.value, text != TreeQuery.minimumKeyName,
      text != TreeQuery.maximumKeyName, !text.isEmpty
    else { return nil }
    return TreeKey(unchecked: text)
  }
}

/// A window being filled, with the children that it shows so far.
private struct WindowLoading {
  var window: QueryWindow
  /// True when nodes are kept, not only names and what they sort by.
  private let keepsNodes: Bool
  private var nodes: [TreeKey: (node: TreeNode?, size: NodeSize)] = [:]
  /// The rows of the nodes that are kept.
  private(set) var keptRows = 0
  /// The bytes of these.
  private(set) var keptBytes = 0
  /// The number of children without a node, which were too large for one.
  private var large = 0

  /// True when a child that is shown was too large.
  var lacksNodes: Bool { large > 0 }

  init(_ window: QueryWindow, keepsNodes: Bool = true) {
    self.window = window
    self.keepsNodes = keepsNodes
    self.window.reset()
  }

  /// Takes the children at `path` that may be shown.
  ///
  /// - Parameters:
  ///   - childBytes: The most bytes of rows of a child that is built.
  ///   - goesOn: Called behind each child; `false` ends the reading.
  /// - Throws: What reading throws; then nothing was taken.
  mutating func read(
    _ path: TreePath, of rows: TreeRows, childBytes: Int,
    in view: borrowing some StoreView & ~Copyable & ~Escapable,
    goesOn: (borrowing WindowLoading) -> Bool
  ) throws(StorageError) {
    let query = window.query
    let isByKey = query.order == .key
    let first = isByKey ? QueryWindow.key(query.start) : nil
    let last = isByKey ? QueryWindow.key(query.end) : nil
    let reader = view.reader
    // Only a copy of what is borrowed can be given to a closure.
    let take: (inout WindowLoading, TreeKey, TreeNode?, NodeSize) throws(StorageError) -> Bool = {
      loading, key, node, size throws(StorageError) in
      var value = node.map { query.order.sortValue(of: $0) }
      if node == nil {
        let child = path.appending(key)
        value = try rows.sortValue(of: child, by: query.order, in: Snapshot(reader))
      }
      if let value { loading.take(key, value, node, size) }
      return !(isByKey && loading.window.isFull)
    }
    var loading = self
    if isByKey, query.limit?.side == .last {
      try rows.forEachChildReversed(
        of: path, from: first, through: last, limitBytes: childBytes, in: view
      ) { key, node, size throws(StorageError) in
        try take(&loading, key, node, size) && goesOn(loading)
      }
    } else {
      try rows.forEachChild(
        of: path, from: first, through: last, limitBytes: childBytes, in: view
      ) { key, node, size throws(StorageError) in
        try take(&loading, key, node, size) && goesOn(loading)
      }
    }
    if isByKey, loading.window.isFull { loading.window.markIncomplete() }
    self = loading
  }

  /// Takes a child if it is among the best so far; `node` is `nil` for one that is too large.
  mutating func take(
    _ key: TreeKey, _ value: TreeSortValue, _ node: TreeNode?, _ size: NodeSize
  ) {
    guard window.range.contains(key, value) else { return }
    let dropped = window.offer(.init(key: key, value: value))
    guard keepsNodes, dropped?.key != key else { return }
    if let dropped { drop(dropped.key) }
    // Candidates beyond the limit have no node: they can only fall further back.
    guard window.shows(key) else { return }
    keep(key, node, size)
    if window.count > window.limit { drop(window.candidates[window.limit].key) }
  }

  private mutating func keep(_ key: TreeKey, _ node: TreeNode?, _ size: NodeSize) {
    if node == nil { large += 1 }
    let kept = node == nil ? NodeSize() : size
    nodes[key] = (node, kept)
    keptRows += kept.rows
    keptBytes += kept.bytes
  }

  private mutating func drop(_ key: TreeKey) {
    guard let (node, size) = nodes.removeValue(forKey: key) else { return }
    if node == nil { large -= 1 }
    keptRows -= size.rows
    keptBytes -= size.bytes
  }

  /// The part of the node that is shown.
  var shown: TreeNode {
    TreeNode(
      children: ChildMap(
        unsorted: window.shown.map { (key: $0.key, node: nodes[$0.key]?.node ?? .empty) }))
  }
}
