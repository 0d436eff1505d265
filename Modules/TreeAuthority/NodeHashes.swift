package import TernCore

/// Hashes of large nodes as conditional writes were compared with them, until the nodes change.
///
/// A transaction that is tried again and again over a large node costs one hash for each version of
/// the node, and not one for each attempt. Small nodes are hashed anew.
package final class NodeHashes {
  /// The most nodes whose hashes are kept; with one more, all are forgotten.
  package static let mostNodes = 32
  /// A node with more leaves than this is large.
  package static let fewLeaves = 128

  /// All hashes that clients may have of a node: that of the reference, then the variants.
  private var known: [TreePath: [String]] = [:]

  package init() {}

  /// The number of known nodes.
  package var count: Int { known.count }

  /// Returns `true` if `hash` is a hash of the node at `path`; `nil` when its hashes are not known.
  func holds(_ hash: String, at path: TreePath) -> Bool? {
    known[path]?.contains(hash)
  }

  /// Keeps the hashes of a node if it is large.
  ///
  /// - Returns: Whether `hash` is one of them.
  func compare(_ hash: String, with node: TreeNode, at path: TreePath) -> Bool {
    var left = Self.fewLeaves
    guard node.hasMoreLeaves(than: &left) else { return node.hashes.contains { $0() == hash } }
    let hashes = node.hashes.compactMap { $0() }
    if known.count >= Self.mostNodes { known.removeAll() }
    known[path] = hashes
    return hashes.contains(hash)
  }

  /// Forgets the nodes at, above and below `path`, which was written to.
  package func forget(_ path: TreePath) {
    if known.isEmpty { return }
    let path = path.namesPriority ? path.parent ?? .root : path
    known = known.filter { !$0.key.contains(path) && !path.contains($0.key) }
  }
}

extension TreeNode {
  /// The functions that compute this node's hash for each kind of client, the most common one
  /// first.
  fileprivate var hashes: [() -> String?] {
    [{ hash }, { appleHash }, { scriptHash }]
  }

  /// Returns `true` if there are more leaves than `left`, which counts down. Visits at most that
  /// many.
  fileprivate func hasMoreLeaves(than left: inout Int) -> Bool {
    guard hasChildren else {
      left -= 1
      return left < 0
    }
    for (_, child) in children where child.hasMoreLeaves(than: &left) { return true }
    return false
  }
}
