extension TreeNode {
  /// Sets or removes the child named `key`.
  ///
  /// An empty `node` removes the child, and leaves a leaf alone; a child below a leaf turns the
  /// leaf into a node of children that keeps its priority. `.priority` sets the priority.
  public mutating func setChild(_ key: TreeKey, _ node: TreeNode) {
    if key.isPriority {
      setPriority(node.scalar)
    } else {
      updateChild(key) { $0 = node }
    }
  }

  /// Sets what is at `path`, with the rules of ``setChild(_:_:)`` at every level.
  public mutating func setNode(_ node: TreeNode, at path: TreePath) {
    setNode(node, at: path.keys[...])
  }

  /// Follows the path with in-place edits: nodes that no other copy shares are not copied.
  private mutating func setNode(_ node: TreeNode, at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else {
      self = node
      return
    }
    if keys.count == 1, key.isPriority {
      setPriority(node.scalar)
    } else {
      updateChild(key) { $0.setNode(node, at: keys.dropFirst()) }
    }
  }

  /// This node with `node` at `path`.
  public func setting(_ node: TreeNode, at path: TreePath) -> TreeNode {
    var copy = self
    copy.setNode(node, at: path)
    return copy
  }

  /// Sets or clears the priority; an empty node has none.
  public mutating func setPriority(_ priority: TreeScalar?) {
    self = withPriority(priority)
  }

  /// This node with another priority, or none; an empty node stays empty.
  public func withPriority(_ priority: TreeScalar?) -> TreeNode {
    let content = withoutPriority
    guard let priority, !content.isEmpty else { return content }
    return TreeNode(.prioritized(PrioritizedNode(priority: priority, content: content)))
  }

  /// Edits the child named `key` in place; absent is empty before, and empty is absent after.
  ///
  /// A leaf becomes a parent when the child exists, and stays a leaf otherwise. A parent that loses
  /// its last child becomes empty, and its priority goes with it.
  package mutating func updateChild(_ key: TreeKey, _ body: (inout TreeNode) -> Void) {
    switch storage {
    case .children(var children):
      // The enum must let go of the map, or every edit would copy its pages.
      storage = .empty
      children.update(key, body)
      storage = children.isEmpty ? .empty : .children(children)
    case .prioritized(let node):
      let priority = node.priority
      self = node.content
      updateChild(key, body)
      setPriority(priority)
    case .empty, .leaf:
      var child = TreeNode.empty
      body(&child)
      if !child.isEmpty { storage = .children(ChildMap(sorted: [(key, child)])) }
    }
  }
}
