public import TernCore

/// By what the children of a node are sorted; ties are settled by key.
///
/// Source: realtime reference, sections 2.2 and 2.3.
public enum TreeOrder: Hashable, Sendable {
  /// By each child's priority; the order when none is asked for.
  case priority
  /// By each child's name.
  case key
  /// By each child's own value.
  case value
  /// By what is at a path below each child; children without it come first.
  case child(TreePath)
}

/// The value that a child is sorted by: nothing, a scalar, or the fact that it has children.
package enum TreeSortValue: Hashable, Sendable {
  case empty
  case scalar(TreeScalar)
  case children

  package init(_ scalar: TreeScalar?) {
    self = scalar.map { .scalar($0) } ?? .empty
  }

  /// Reads off a node's own value; its priority plays no part.
  package init(_ node: TreeNode) {
    if let scalar = node.scalar {
      self = .scalar(scalar)
    } else {
      self = node.isEmpty ? .empty : .children
    }
  }

  /// Negative, zero or positive in value order; all nodes with children are alike.
  package func compare(_ other: TreeSortValue) -> Int {
    switch (self, other) {
    case (.scalar(let a), .scalar(let b)): a.compare(b)
    default: rank - other.rank
    }
  }

  private var rank: Int {
    switch self {
    case .empty: 0
    case .scalar: 1
    case .children: 2
    }
  }
}

extension TreeOrder {
  /// Returns the value of a child that this order compares; `empty` for all children when it is the
  /// key.
  ///
  /// - Complexity: O(depth of the path) for an order by child, else constant.
  package func sortValue(of node: TreeNode) -> TreeSortValue {
    switch self {
    case .priority: TreeSortValue(node.priority)
    case .key: .empty
    case .value: TreeSortValue(node)
    case .child(let path): TreeSortValue(node.node(at: path))
    }
  }

  /// Negative, zero or positive as `left` sorts before, with or after `right`.
  package func compare(_ left: ChildMap.Element, _ right: ChildMap.Element) -> Int {
    let order = sortValue(of: left.node).compare(sortValue(of: right.node))
    return order != 0 ? order : left.key.compare(right.key)
  }

  /// Returns true when a child that changed from `old` to `new` counts as moved, even at the same
  /// rank.
  ///
  /// In an order by value any change counts; in an order by child, only one
  /// of the value that is sorted by.
  package func isMoved(from old: TreeNode, to new: TreeNode) -> Bool {
    switch self {
    case .key: false
    case .priority: old.priority != new.priority
    case .value: old != new
    case .child: sortValue(of: old).compare(sortValue(of: new)) != 0
    }
  }
}
