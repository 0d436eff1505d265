package import TernCore
package import TernStorage

/// An in-memory record of the tree's shape, so that most writes find what they replace without
/// reading the disk.
///
/// It records only the writes of its server, which is the tree's one writer. Any removal clears it.
package final class KnownPaths {
  /// The most bytes of paths of each kind: 131,072 paths of a usual length. A set at the limit is
  /// cleared.
  static let limitBytes = 13 << 20

  /// Keys, and about the memory that they take.
  private struct Keys {
    private var keys: Set<[UInt8]> = []
    private(set) var byteCount = 0

    /// The bytes of an array and its place in a set, without the key.
    private static let overhead = 64

    func contains(_ key: [UInt8]) -> Bool { keys.contains(key) }

    mutating func insert(_ key: [UInt8]) {
      if byteCount + key.count + Self.overhead > KnownPaths.limitBytes { removeAll() }
      if keys.insert(key).inserted { byteCount += key.count + Self.overhead }
    }

    mutating func remove(_ key: [UInt8]) {
      if keys.remove(key) != nil { byteCount -= key.count + Self.overhead }
    }

    mutating func removeAll() {
      keys.removeAll()
      byteCount = 0
    }
  }

  /// The keys of leaves that have no other row.
  private var leaves = Keys()
  /// The keys of nodes that have children.
  private var parents = Keys()

  /// About the memory of all keys, in bytes.
  var byteCount: Int { leaves.byteCount + parents.byteCount }

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
      leaves.insert(key)
    } else {
      leaves.remove(key)
    }
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
