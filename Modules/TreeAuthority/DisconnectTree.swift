package import TernCore

/// The writes that a session left for the moment it ends, as they overlap.
///
/// A set replaces all earlier ones at and below its path, and takes up later ones below it. Taking
/// back a child of a set splits the set into one for each other child.
/// Source: realtime reference, section 8.2.
package struct DisconnectTree: Equatable, Sendable {
  private var value: TreeNode?
  private var children: [TreeKey: DisconnectTree] = [:]

  /// A tree without writes.
  package init() {}

  /// `true` if there are no writes.
  package var isEmpty: Bool { value == nil && children.isEmpty }

  /// Adds a write; server values in it stay as they are.
  package mutating func leave(_ write: TreeWrite) {
    for entry in write.assignments { set(entry.node, at: entry.path.keys[...]) }
  }

  /// Takes back what was left at `path` and below.
  package mutating func cancel(at path: TreePath) {
    cancel(at: path.keys[...])
  }

  /// The writes that remain, in the order of their application; no path contains another.
  package var assignments: [TreeMerge.Entry] {
    var entries: [TreeMerge.Entry] = []
    collect(into: &entries, at: .root)
    return entries
  }

  private mutating func set(_ node: TreeNode, at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else {
      value = node
      children = [:]
      return
    }
    if value != nil {
      value?.setNode(node, at: TreePath(unchecked: Array(keys)))
    } else {
      children[key, default: DisconnectTree()].set(node, at: keys.dropFirst())
    }
  }

  private mutating func cancel(at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else {
      self = DisconnectTree()
      return
    }
    if let whole = value {
      // A leaf cannot be split; it stays.
      if whole.isLeaf { return }
      value = nil
      for (name, child) in whole.children {
        children[name, default: DisconnectTree()].value = child
      }
    }
    children[key]?.cancel(at: keys.dropFirst())
    if children[key]?.isEmpty == true { children[key] = nil }
  }

  private func collect(into entries: inout [TreeMerge.Entry], at path: TreePath) {
    if let value { entries.append(TreeMerge.Entry(path: path, node: value)) }
    for (key, child) in children.sorted(by: { $0.key.isApplied(before: $1.key) }) {
      child.collect(into: &entries, at: path.appending(key))
    }
  }
}
