import TernCore
import TernTreeReplica

/// The deferred writes the server holds for this connection, as one sparse tree.
///
/// A later write replaces what it covers and changes what covers it; taking back a place inside a
/// write splits that write. Source: realtime reference, section 8.2.
struct DisconnectPlan: Sendable {
  private var nodes = PathTrie<TreeNode>()

  mutating func add(_ write: TreeWrite) {
    for assignment in write.assignments { set(assignment.node, at: assignment.path) }
  }

  /// Adds the write of one value.
  mutating func set(_ node: TreeNode, at path: TreePath) {
    if let (cover, whole) = cover(of: path), let rest = path.relative(to: cover) {
      nodes[cover] = whole.setting(node, at: rest)
    } else {
      nodes.update(at: path) { place in
        place = PathTrie()
        place.value = node
      }
    }
  }

  mutating func cancel(_ path: TreePath) {
    guard let (cover, whole) = cover(of: path), cover != path else {
      nodes.update(at: path) { $0 = PathTrie() }
      return
    }
    // A leaf cannot be split; it stays.
    if whole.isLeaf { return }
    nodes[cover] = nil
    for (key, node) in whole.children { set(node, at: cover.appending(key)) }
    cancel(path)
  }

  /// Takes out everything, in the order of an update.
  mutating func takeAll() -> [TreeMerge.Entry] {
    var entries: [TreeMerge.Entry] = []
    nodes.visit { path, node in entries.append(TreeMerge.Entry(path: path, node: node)) }
    nodes = PathTrie()
    return entries.sorted { $0.path.isApplied(before: $1.path) }
  }

  /// Returns the value that is written at `path`, alone or as a part of a write above it.
  func node(at path: TreePath) -> TreeNode? {
    guard let (cover, whole) = cover(of: path), let rest = path.relative(to: cover) else {
      return nil
    }
    return whole.node(at: rest)
  }

  /// Returns the writes strictly below `path`, in the order of an update.
  func entries(below path: TreePath) -> [TreeMerge.Entry] {
    var entries: [TreeMerge.Entry] = []
    nodes.subtrie(at: path)?.visit(below: path) { place, node in
      if place != path { entries.append(TreeMerge.Entry(path: place, node: node)) }
    }
    return entries.sorted { $0.path.isApplied(before: $1.path) }
  }

  /// The write at `path` or above it.
  private func cover(of path: TreePath) -> (path: TreePath, node: TreeNode)? {
    var found: (path: TreePath, node: TreeNode)?
    nodes.walk(to: path) { depth, node in
      found = found ?? (TreePath(unchecked: Array(path.keys.prefix(depth))), node)
    }
    return found
  }
}
