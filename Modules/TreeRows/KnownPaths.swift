package import TernCore
package import TernStorage

/// An in-memory record of the tree's shape, so that most writes find what they replace without
/// reading the disk.
///
/// It records only the writes of its server, which is the tree's one writer. Any removal clears it.
package final class KnownPaths {
  /// The most paths of each kind, about 100 bytes each. A set at the limit is cleared.
  static let limit = 131_072

  /// The keys of leaves that have no other row.
  private var leaves: Set<[UInt8]> = []
  /// The keys of nodes that have children.
  private var parents: Set<[UInt8]> = []

  /// Creates an empty record.
  package init() {}

  /// Returns `true` if the row under `key` is known to be a leaf and the only row of its node.
  package func isPlainLeaf(_ key: [UInt8]) -> Bool { leaves.contains(key) }

  /// Returns `true` if the node whose rows begin with `key` is known to have children.
  package func hasChildren(_ key: [UInt8]) -> Bool { parents.contains(key) }

  /// Clears the record, because the last recorded write failed or removed rows.
  package func forget() {
    leaves.removeAll()
    parents.removeAll()
  }

  /// Records the effect of replacing the node at `path`.
  package func note(_ node: TreeNode, at path: TreePath, in rows: TreeRows, _ mutations: [Mutation])
  {
    if mutations.contains(where: \.isRemoval) { forget() }
    let owner = path.parent.map { rows.key(of: $0) }
    if path.namesPriority {
      if let owner { leaves.remove(owner) }
      return
    }
    let key = rows.key(of: path)
    if node.isPlainLeaf {
      if leaves.count >= Self.limit { leaves.removeAll() }
      leaves.insert(key)
    } else {
      leaves.remove(key)
    }
    if parents.count >= Self.limit { parents.removeAll() }
    if !node.isEmpty, let owner { parents.insert(owner) }
    if node.hasChildren { parents.insert(key) }
  }
}

extension TreeNode {
  /// `true` for a leaf without a priority, which is stored in one row.
  fileprivate var isPlainLeaf: Bool { isLeaf && priority == nil }
}

extension Mutation {
  fileprivate var isRemoval: Bool {
    if case .remove = self { return true }
    return false
  }
}
