package import TernCore
import TernQuery

/// The known server data of one query.
package struct ServerCache: Sendable {
  package var node: TreeNode
  /// `true` if everything in the query's result is known.
  package var isComplete: Bool
  /// `true` if the data was cut to a window, so that an absent child may still exist.
  package var isFiltered: Bool

  package init(node: TreeNode, isComplete: Bool, isFiltered: Bool) {
    self.node = node
    self.isComplete = isComplete
    self.isFiltered = isFiltered
  }

  /// Nothing is known.
  package static let unknown = ServerCache(node: .empty, isComplete: false, isFiltered: false)

  /// `true` if a child that is absent from the data does not exist.
  var isWhole: Bool { isComplete && !isFiltered }

  /// Returns the known node at `path`; `nil` when it is not known.
  func known(at path: TreePath) -> TreeNode? {
    if isWhole { return node.node(at: path) }
    guard let first = path.first, node.children[first] != nil else { return nil }
    return node.node(at: path)
  }

  /// Takes in new data.
  ///
  /// - Parameter isTagged: Whether the data was cut for this very query.
  mutating func apply(_ change: ViewChange, for query: TreeQuery, isTagged: Bool) {
    switch change {
    case .whole(let new):
      node = isTagged ? query.window(of: new) : new
      isComplete = true
      isFiltered = isTagged
    case .parts(let parts):
      var touched: [TreeKey] = []
      parts.visit { path, new in
        guard let first = path.first else { return }
        if first.isPriority {
          if isWhole { node.setPriority(new.scalar) }
        } else if isWhole || path.count == 1 || node.children[first] != nil {
          // A part of a child that is not known would pass for the whole child.
          node.setNode(new, at: path)
          touched.append(first)
        }
      }
      if isComplete && isFiltered { cut(touched, to: query) }
    }
  }

  /// Drops what no longer belongs into the query's window.
  private mutating func cut(_ touched: [TreeKey], to query: TreeQuery) {
    for key in touched {
      let child = node.child(key)
      if !child.isEmpty, !query.contains(key: key, node: child) { node.setChild(key, .empty) }
    }
    if let limit = query.limit, node.childCount > limit.count { node = query.window(of: node) }
  }
}

/// A change as one view sees it: paths count from the view's location.
enum ViewChange {
  /// Everything at the location was replaced.
  case whole(TreeNode)
  /// Some places below the location were replaced.
  case parts(PathTrie<TreeNode>)
}
