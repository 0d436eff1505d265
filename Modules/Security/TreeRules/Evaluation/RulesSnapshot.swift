public import TernCore

/// One state of the tree, as far as rules look at it.
///
/// Rules ask for the shape of single nodes; nothing below a node is read unless a rule names it.
/// An answer must stay the same while one request is judged. The server answers from its rows and
/// the mutations that wait; ``TreeNodeSnapshot`` answers from a node in memory.
public protocol RulesSnapshot {
  /// What is at `path`, whatever lies below.
  func shape(at path: TreePath) throws(RulesDataError) -> RulesShape

  /// The priority of the node at `path`.
  func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar?

  /// Up to `limit` names of children of the node at `path`, in key order, after `key` if given.
  func childKeys(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [TreeKey]
}

/// What one node is, without its contents.
public enum RulesShape: Hashable, Sendable {
  /// Nothing is there.
  case absent
  /// A value is there.
  case leaf(TreeScalar)
  /// At least one child is there.
  case children
}

/// The tree could not be read: retry the request, or stop when the cause says so.
public struct RulesDataError: Error, Sendable {
  /// What the store said.
  public let cause: any Error

  /// Wraps what the store said.
  public init(_ cause: any Error) {
    self.cause = cause
  }
}

/// A node in memory as rules see it.
public struct TreeNodeSnapshot: RulesSnapshot, Sendable {
  /// The root of the tree.
  public let root: TreeNode

  /// Shows a node as the root of a tree.
  public init(_ root: TreeNode) {
    self.root = root
  }

  public func shape(at path: TreePath) -> RulesShape {
    let node = root.node(at: path)
    if let scalar = node.scalar { return .leaf(scalar) }
    return node.hasChildren ? .children : .absent
  }

  public func priority(at path: TreePath) -> TreeScalar? {
    root.node(at: path).priority
  }

  public func childKeys(at path: TreePath, after key: TreeKey?, limit: Int) -> [TreeKey] {
    let children = root.node(at: path).children
    var keys: [TreeKey] = []
    var next = key.map { children.first(after: $0) } ?? children.first
    while let child = next, keys.count < limit {
      keys.append(child.key)
      next = children.first(after: child.key)
    }
    return keys
  }
}
