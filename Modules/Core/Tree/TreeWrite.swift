/// A write to the tree: one node, or several at once.
///
/// A write is not checked when it is made; ``validate()`` checks it against the limits. Paths count
/// from the root of the database.
public enum TreeWrite: Equatable, Sendable {
  /// Replaces what is at a path, which may end in `.priority`; an empty node deletes it.
  case set(TreePath, TreeNode)
  /// Replaces what is at several paths below a path, all or none.
  case merge(TreePath, TreeMerge)

  /// The path the write is addressed to.
  public var path: TreePath {
    switch self {
    case .set(let path, _), .merge(let path, _): path
    }
  }

  /// Each replaced path, counted from the root, with its new node; in the order of
  /// ``TreeMerge/entries``.
  public var assignments: [TreeMerge.Entry] {
    switch self {
    case .set(let path, let node): [TreeMerge.Entry(path: path, node: node)]
    case .merge(let path, let merge):
      merge.entries.map { TreeMerge.Entry(path: path.appending($0.path), node: $0.node) }
    }
  }

  /// The same write with its server values resolved against the tree it is applied to.
  ///
  /// - Parameter node: Answers what is at a path, counted from the root, before this write.
  ///
  /// Each assignment is resolved against the tree before the whole write, because the paths of an
  /// update do not overlap.
  public func resolvingServerValues(
    now: Int64, existing node: (TreePath) -> TreeNode
  ) -> TreeWrite {
    func resolve(_ value: TreeNode, at path: TreePath) -> TreeNode {
      guard value.containsServerValues else { return value }
      return value.resolvingServerValues(existing: node(path), now: now)
    }
    switch self {
    case .set(let path, let value):
      return .set(path, resolve(value, at: path))
    case .merge(let path, let merge):
      return .merge(
        path, merge.mapNodes { entry in resolve(entry.node, at: path.appending(entry.path)) })
    }
  }
}

/// The paths and nodes of an update, sorted by path; none contains another.
///
/// The order of the entries is that of their application.
public struct TreeMerge: Equatable, Sendable {
  /// One path, relative to the update's own, and its new node.
  public struct Entry: Equatable, Sendable {
    /// The path of the node, relative to the update's own path.
    public let path: TreePath
    /// The new node; an empty one deletes.
    public let node: TreeNode

    /// Pairs a path with its new node.
    public init(path: TreePath, node: TreeNode) {
      self.path = path
      self.node = node
    }
  }

  /// In path order, but for priorities: that of a node comes behind its children, because only a
  /// node that is there has one.
  public let entries: [Entry]

  /// Sorts the entries and checks that no path equals or contains another.
  ///
  /// - Throws: ``TreeError/overlappingPaths(_:_:)`` with the two.
  public init(_ entries: [Entry]) throws(TreeError) {
    let sorted = entries.sorted { $0.path.isApplied(before: $1.path) }
    for (first, second) in zip(sorted, sorted.dropFirst()) where first.path.contains(second.path) {
      throw .overlappingPaths(first.path, second.path)
    }
    self.entries = sorted
  }

  /// Takes over entries that are known to be sorted and not to contain one another.
  package init(unchecked entries: [Entry]) {
    self.entries = entries
  }

  /// The same paths with other nodes.
  package func mapNodes(_ transform: (Entry) -> TreeNode) -> TreeMerge {
    TreeMerge(unchecked: entries.map { Entry(path: $0.path, node: transform($0)) })
  }
}

extension TreeNode {
  /// This tree after `write`, whose paths count from here.
  public func applying(_ write: TreeWrite) -> TreeNode {
    var copy = self
    copy.apply(write)
    return copy
  }

  /// Applies `write`, whose paths count from here.
  public mutating func apply(_ write: TreeWrite) {
    for entry in write.assignments { setNode(entry.node, at: entry.path) }
  }
}
