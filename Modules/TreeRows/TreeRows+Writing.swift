package import TernCore
package import TernStorage

extension TreeRows {
  /// Visits the rows of `node` at `path`, in key order.
  ///
  /// - Parameter node: Without server values.
  package func forEachRow(
    of node: TreeNode, at path: TreePath, _ body: (_ key: [UInt8], _ value: [UInt8]) -> Void
  ) {
    var key = key(of: path)
    Self.visit(node, &key, body)
  }

  /// Returns the number of rows that ``forEachRow(of:at:_:)`` visits.
  package static func rowCount(of node: TreeNode) -> Int {
    var count = (node.scalar == nil ? 0 : 1) + (node.priority == nil ? 0 : 1)
    for (_, child) in node.children { count += rowCount(of: child) }
    return count
  }

  private static func visit(
    _ node: TreeNode, _ key: inout [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) -> Void
  ) {
    if let scalar = node.scalar { body(key, RowValue.encode(scalar)) }
    if let priority = node.priority { body(key + [RowKey.priority], RowValue.encode(priority)) }
    let count = key.count
    for (name, child) in node.children {
      RowKey.append(name, to: &key)
      visit(child, &key, body)
      key.removeLast(key.count - count)
    }
  }

  /// The changes that make `node` what is at `path`.
  ///
  /// Ancestors keep the rules of the model: a leaf that gets a child is one no more and keeps its
  /// priority; a node that loses its last child vanishes with its priority; a priority is only set
  /// where something is.
  ///
  /// - Parameters:
  ///   - node: Without server values; a leaf or empty when the path ends in `.priority`.
  ///   - view: What is stored now.
  ///   - places: What is known of it already.
  /// - Complexity: O(depth + rows of `node`), whatever is stored elsewhere; removing what was
  ///   there is one range.
  package func overwrite(
    _ path: TreePath, with node: TreeNode,
    in view: borrowing some StoreView & ~Copyable & ~Escapable, knowing places: KnownPaths? = nil
  ) throws(StorageError) -> [Mutation] {
    if path.namesPriority { return try setPriority(path, node.scalar, in: view) }
    let base = key(of: path)
    var mutations = try clear(base, for: node, in: view)
    if node.isEmpty {
      if !mutations.isEmpty { try prune(above: path, KeyRange(prefix: base), &mutations, in: view) }
      return mutations
    }
    // Where a sibling is stored, no ancestor can be a leaf.
    let hasSibling = path.parent.flatMap { places?.hasChildren(key(of: $0)) } ?? false
    if !hasSibling, let leaf = try leaf(above: path, in: view) {
      mutations.append(.remove(KeyRange(only: leaf)))
    }
    forEachRow(of: node, at: path) { mutations.append(.put(key: $0, value: $1)) }
    return mutations
  }

  /// The change that gives a known leaf another value; `nil` when more has to be looked at.
  package func replaceLeaf(
    _ path: TreePath, with node: TreeNode, knowing places: KnownPaths
  ) -> Mutation? {
    guard let scalar = node.scalar, node.priority == nil, !path.namesPriority else { return nil }
    let key = key(of: path)
    return places.isPlainLeaf(key) ? .put(key: key, value: RowValue.encode(scalar)) : nil
  }

  /// Removes what is stored at `base` unless the rows of `node` replace it anyhow.
  private func clear(
    _ base: [UInt8], for node: TreeNode,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [Mutation] {
    let range = KeyRange(prefix: base)
    var cursor = view.cursor(over: range, limit: 2)
    guard try cursor.next() else { return [] }
    let isOwnRow = cursor.key.count == base.count
    if try !cursor.next() {
      if isOwnRow { return node.isLeaf ? [] : [.remove(KeyRange(only: base))] }
    }
    return [.remove(range)]
  }

  /// The key of the leaf that lies on the way to `path`, if one does.
  private func leaf(
    above path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    guard let parent = path.parent else { return nil }
    if try holdsRows(childRange(of: parent), in: view) { return nil }
    var key = prefix
    for segment in path.keys {
      if try view.contains(key) { return key }
      RowKey.append(segment, to: &key)
    }
    return nil
  }

  /// Removes the priorities of ancestors that have nothing left but `removed`.
  private func prune(
    above path: TreePath, _ removed: KeyRange, _ mutations: inout [Mutation],
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) {
    var removed = removed
    var next = path.parent
    while let ancestor = next {
      let children = childRange(of: ancestor)
      let before = KeyRange(from: children.lower, to: removed.lower)
      let after = removed.upper.map { KeyRange(from: $0, to: children.upper) }
      if try holdsRows(before, in: view) { return }
      if let after, try holdsRows(after, in: view) { return }
      let priority = key(of: ancestor) + [RowKey.priority]
      if try view.contains(priority) { mutations.append(.remove(KeyRange(only: priority))) }
      removed = range(of: ancestor)
      next = ancestor.parent
    }
  }

  private func setPriority(
    _ path: TreePath, _ priority: TreeScalar?,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [Mutation] {
    let row = key(of: path)
    guard let priority else {
      return try view.contains(row) ? [.remove(KeyRange(only: row))] : []
    }
    // A node that has a priority has more rows than that one.
    guard let owner = path.parent, try holdsRows(range(of: owner), in: view) else { return [] }
    return [.put(key: row, value: RowValue.encode(priority))]
  }
}
