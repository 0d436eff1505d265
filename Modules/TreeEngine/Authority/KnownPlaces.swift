import TernCore
import TernLedger

/// What a server remembers of the shape of its tree, so that most writes need not look at the disk
/// to know what they replace.
///
/// It holds only what its server has seen, as the one writer of the tree; whatever a removal might
/// have changed is forgotten.
package final class KnownPlaces {
  /// The most places of each kind, some 100 bytes each; with more, it starts anew.
  static let limit = 131_072

  /// The keys of leaves that have no other row.
  private var leaves: Set<[UInt8]> = []
  /// The keys of nodes that have children.
  private var parents: Set<[UInt8]> = []

  /// Nothing is known.
  package init() {}

  /// Whether the row under `key` is a leaf, and the only row of its node.
  func isPlainLeaf(_ key: [UInt8]) -> Bool { leaves.contains(key) }

  /// Whether the node whose rows begin with `key` has children.
  func hasChildren(_ key: [UInt8]) -> Bool { parents.contains(key) }

  /// What was noted last did not come to be.
  func forget() {
    leaves.removeAll()
    parents.removeAll()
  }

  /// Takes in what replacing the node at `path` has changed.
  func note(_ node: TreeNode, at path: TreePath, in rows: TreeRows, _ mutations: [Mutation]) {
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
  /// Whether this is a leaf without a priority: one row.
  fileprivate var isPlainLeaf: Bool { isLeaf && priority == nil }
}

extension Mutation {
  fileprivate var isRemoval: Bool {
    if case .remove = self { return true }
    return false
  }
}
