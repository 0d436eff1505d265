public import TernCore

/// One state of the tree, as far as rules look at it.
///
/// Rules ask for the shape of single nodes; nothing below a node is read unless a rule names it.
/// An answer must stay the same while one request is judged. The server answers from its rows and
/// the mutations that wait; ``TreeNodeSnapshot`` answers from a node in memory.
///
/// A conformance belongs to one judgment on one thread. Answers may be kept by the conformance, as
/// ``ProposedSnapshot`` does.
public protocol RulesSnapshot {
  /// Returns the shape of the node at `path`, without its descendants.
  func shape(at path: TreePath) throws(RulesDataError) -> RulesShape

  /// The priority of the node at `path`.
  func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar?

  /// Up to `limit` children of the node at `path`, in key order, after `key` if given.
  ///
  /// - Parameters:
  ///   - path: The parent; without children the answer is empty.
  ///   - key: The last key of the page before, which need not exist any longer; `nil` begins with
  ///     the first child.
  ///   - limit: The most children to return. Fewer mean that there are no more.
  func children(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild]

  /// The children that were listed so far to answer about single nodes; they cost steps.
  ///
  /// The evaluator charges only the growth since it last asked, ``RuleEvaluator/rowSteps`` for each
  /// row.
  var listedRows: Int { get }
}

extension RulesSnapshot {
  /// No answer about a node lists its children.
  public var listedRows: Int { 0 }
}

/// One child of a node, without what lies below it.
public struct RulesChild: Hashable, Sendable {
  /// Its name.
  public let key: TreeKey
  /// The shape of the node; never absent.
  public let shape: RulesShape

  /// Describes one child.
  public init(key: TreeKey, shape: RulesShape) {
    self.key = key
    self.shape = shape
  }
}

/// The shape of one node, without its contents.
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
  /// The error of the store.
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
    RulesShape(root.node(at: path))
  }

  public func priority(at path: TreePath) -> TreeScalar? {
    root.node(at: path).priority
  }

  public func children(at path: TreePath, after key: TreeKey?, limit: Int) -> [RulesChild] {
    let children = root.node(at: path).children
    var start = 0
    if let key { start = children.rank(of: key) + (children[key] == nil ? 0 : 1) }
    return children[start..<min(start + limit, children.count)].map { child in
      RulesChild(key: child.key, shape: RulesShape(child.node))
    }
  }
}

extension RulesShape {
  /// The shape of a node in memory.
  init(_ node: TreeNode) {
    if let scalar = node.scalar {
      self = .leaf(scalar)
    } else {
      self = node.hasChildren ? .children : .absent
    }
  }
}
