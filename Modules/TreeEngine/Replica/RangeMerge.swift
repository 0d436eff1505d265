package import TernCore

/// Replaces every leaf and priority whose path lies in a range, by path order.
///
/// Source: realtime reference, section 5.7.
package struct RangeMerge: Equatable, Sendable {
  /// The range begins behind this path; what lies below it is inside. `nil` at the very first.
  package let start: TreePath?
  /// The range ends with a leaf at this path; what lies below it is outside. `nil` at the last.
  package let end: TreePath?
  /// What is in the range from now on.
  package let node: TreeNode

  package init(start: TreePath?, end: TreePath?, node: TreeNode) {
    self.start = start
    self.end = end
    self.node = node
  }

  /// Replaces the range in `tree`, whose paths count from the same place.
  package func apply(to tree: inout TreeNode) {
    tree = merged(node, into: tree, at: .root)
  }

  private func merged(_ new: TreeNode, into old: TreeNode, at path: TreePath) -> TreeNode {
    let isBehindStart = start.map { $0 < path } ?? true
    let isBeforeEnd = end.map { path < $0 } ?? true
    let holdsStart = start.map { path.contains($0) } ?? false
    let holdsEnd = end.map { path.contains($0) } ?? false
    if isBehindStart, isBeforeEnd, !holdsEnd { return new }
    if isBehindStart, holdsEnd, new.isLeaf { return new }
    if isBehindStart, path == end { return old.isLeaf ? .empty : old }
    guard holdsStart || holdsEnd else { return old }
    var result = old
    for key in keys(of: old, new) {
      let child = old.child(key)
      let replaced = merged(new.child(key), into: child, at: path.appending(key))
      if replaced != child { result.setChild(key, replaced) }
    }
    return result
  }

  /// All names of children, and that of a priority last: one is only kept where children are.
  private func keys(of old: TreeNode, _ new: TreeNode) -> [TreeKey] {
    var keys = old.children.map(\.key)
    for child in new.children where old.children[child.key] == nil { keys.append(child.key) }
    if old.priority != nil || new.priority != nil { keys.append(.priority) }
    return keys
  }
}
