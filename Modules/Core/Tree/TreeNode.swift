/// One node of the tree: empty, a leaf, or named children; a leaf or children may have a priority.
///
/// A node is a value; copies share what they have in common. Empty nodes vanish: a node whose
/// children are all empty is empty itself, and an empty node has no priority.
/// Source: realtime reference, section 1.1.
public struct TreeNode: Sendable {
  /// The forms of a node. No case holds an empty map or an empty node, and a prioritized node never
  /// holds another one. All mutations keep this, so equality can compare case by case.
  enum Storage: Sendable {
    case empty
    case leaf(TreeScalar)
    case children(ChildMap)
    case prioritized(PrioritizedNode)
  }

  var storage: Storage

  init(_ storage: Storage) {
    self.storage = storage
  }

  /// The absence of a value.
  public static let empty = TreeNode(.empty)

  /// Makes a leaf.
  ///
  /// - Parameter priority: A string, a finite number or a server value; others are a mistake
  ///   that ``TreeWrite/validate()`` reports.
  public init(_ scalar: TreeScalar, priority: TreeScalar? = nil) {
    self = TreeNode(.leaf(scalar)).withPriority(priority)
  }

  /// Makes a node of children; without children it is empty, whatever its priority.
  public init(children: ChildMap, priority: TreeScalar? = nil) {
    self = children.isEmpty ? .empty : TreeNode(.children(children)).withPriority(priority)
  }

  /// True when the node has neither value nor children.
  public var isEmpty: Bool {
    if case .empty = storage { return true }
    return false
  }

  /// True for a leaf.
  public var isLeaf: Bool { scalar != nil }

  /// The value of a leaf; `nil` for empty nodes and nodes with children.
  public var scalar: TreeScalar? {
    switch storage {
    case .leaf(let scalar): scalar
    case .prioritized(let node): node.content.scalar
    case .empty, .children: nil
    }
  }

  /// The priority, if one is set.
  public var priority: TreeScalar? {
    if case .prioritized(let node) = storage { return node.priority }
    return nil
  }

  /// The children; none for leaves and empty nodes.
  public var children: ChildMap {
    switch storage {
    case .children(let children): children
    case .prioritized(let node): node.content.children
    case .empty, .leaf: ChildMap()
    }
  }

  /// The number of children; zero for leaves and empty nodes.
  public var childCount: Int { children.count }

  /// True when there are children.
  public var hasChildren: Bool {
    switch storage {
    case .children: true
    case .prioritized(let node): node.content.hasChildren
    case .empty, .leaf: false
    }
  }

  /// The node without its priority.
  package var withoutPriority: TreeNode {
    if case .prioritized(let node) = storage { return node.content }
    return self
  }

  /// The child named `key`, empty when there is none; `.priority` gives the priority as a leaf.
  public func child(_ key: TreeKey) -> TreeNode {
    switch storage {
    case .children(let children):
      if let child = children[key] { return child }
    case .prioritized(let node):
      if key.isPriority { return TreeNode(node.priority) }
      return node.content.child(key)
    case .empty, .leaf: break
    }
    return .empty
  }

  /// The node at the end of `path`, which may end in `.priority`.
  public func node(at path: TreePath) -> TreeNode { node(along: path.keys[...]) }

  /// The node at the end of a part of a path.
  package func node(along keys: ArraySlice<TreeKey>) -> TreeNode {
    var node = self
    for key in keys {
      if node.isEmpty { return node }
      node = node.child(key)
    }
    return node
  }
}

/// A node that has a priority; few have, so it is kept out of line.
final class PrioritizedNode: Sendable {
  let priority: TreeScalar
  /// A leaf, or children; never empty and without a priority of its own.
  let content: TreeNode

  init(priority: TreeScalar, content: TreeNode) {
    self.priority = priority
    self.content = content
  }
}

extension TreeNode: Equatable {
  /// Equal types, values, priorities and children; shared parts are not looked at.
  public static func == (left: TreeNode, right: TreeNode) -> Bool {
    switch (left.storage, right.storage) {
    case (.empty, .empty): true
    case (.leaf(let a), .leaf(let b)): a == b
    case (.children(let a), .children(let b)): a == b
    case (.prioritized(let a), .prioritized(let b)):
      a === b || (a.priority == b.priority && a.content == b.content)
    default: false
    }
  }
}

extension TreeNode: CustomStringConvertible {
  /// The export form as JSON text.
  public var description: String { json(.export) }
}

extension TreeNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self.init(.string(value)) }
  public init(integerLiteral value: Int64) { self.init(.integer(value)) }
  public init(floatLiteral value: Double) { self.init(.double(value)) }
  public init(booleanLiteral value: Bool) { self.init(.bool(value)) }

  /// Makes a node of children, in any order; the keys must be valid.
  public init(dictionaryLiteral elements: (String, TreeNode)...) {
    self.init(
      children: ChildMap(
        unsorted: elements.map { name, node in
          guard let key = try? TreeKey(name) else {
            preconditionFailure("a literal holds a key that is not valid: \(name)")
          }
          return (key: key, node: node)
        }))
  }
}
