package import TernCore

/// The places at and below a location that pending local writes change.
///
/// A persistent tree: copies share what they have in common, so a snapshot that keeps one costs
/// neither a copy now nor one at the next write. Without pending writes it holds nothing.
package struct PendingPaths: Equatable, Sendable {
  /// A leaf for a place that is pending with everything below it, children for a place of which
  /// only some children are. A changed priority is a child under its pseudo-key.
  private var marks = TreeNode.empty

  private static let mark: TreeNode = true

  package init() {}

  private init(_ marks: TreeNode) { self.marks = marks }

  /// `true` if no write is pending here.
  package var isEmpty: Bool { marks.isEmpty }

  /// The pending places at and below a path.
  package func at(_ path: TreePath) -> PendingPaths {
    var marks = marks
    for key in path.keys {
      if marks.isEmpty || marks.isLeaf { break }
      marks = marks.child(key)
    }
    return PendingPaths(marks)
  }

  /// The pending places at and below a child.
  package func child(_ key: TreeKey) -> PendingPaths {
    marks.isLeaf ? self : PendingPaths(marks.child(key))
  }

  /// Adds a place and everything below it.
  mutating func insert(_ path: TreePath) {
    PendingPaths.replace(PendingPaths.mark, at: path.keys[...], in: &marks)
  }

  /// Replaces the places at and below a path that no pending place covers from above.
  mutating func replace(_ below: PendingPaths, at path: TreePath) {
    PendingPaths.replace(below.marks, at: path.keys[...], in: &marks)
  }

  private static func replace(
    _ below: TreeNode, at keys: ArraySlice<TreeKey>, in marks: inout TreeNode
  ) {
    guard let key = keys.first else {
      marks = below
      return
    }
    // What is pending above includes this place already.
    if marks.isLeaf { return }
    marks.updateChild(key) { replace(below, at: keys.dropFirst(), in: &$0) }
  }
}

extension PendingPaths {
  /// The places at and below the root of `trie` that its visible writes change.
  init(_ trie: PathTrie<[Overlay.Entry]>?) {
    self.init(trie.map(PendingPaths.marks) ?? .empty)
  }

  private static func marks(of trie: PathTrie<[Overlay.Entry]>) -> TreeNode {
    if trie.value?.contains(where: \.isVisible) == true { return mark }
    if trie.children.isEmpty { return .empty }
    return TreeNode(
      children: ChildMap(unsorted: trie.children.map { (key: $0.key, node: marks(of: $0.value)) }))
  }
}
