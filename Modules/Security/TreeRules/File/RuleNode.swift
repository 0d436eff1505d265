public import TernCore

/// One node of a rules file: the rules there and the nodes below.
struct RuleNode: Sendable {
  /// Its path among the rules, such as `/users/$uid`; `/` at the top.
  let location: String
  /// Indices of rules of the program.
  var read: Int?
  var write: Int?
  var validate: Int?
  /// The index of the node of each literal child, in key order.
  var children: [(key: TreeKey, node: Int)] = []
  /// The same for finding one.
  var childIndex: [TreeKey: Int] = [:]
  /// The node of all other children.
  var capture: Int?
  /// The orders that have an index here.
  var indexes: [RulesIndex] = []
  /// Whether this node or one below has a `.validate`.
  var hasValidation = false

  /// The node for a child, and whether a capture matched it.
  func child(_ key: TreeKey) -> (node: Int, isCaptured: Bool)? {
    if let node = childIndex[key] { return (node, false) }
    return capture.map { ($0, true) }
  }
}

/// What an `.indexOn` declares.
public enum RulesIndex: Hashable, Sendable {
  /// The values of the children themselves.
  case value
  /// What lies at a path below each child.
  case child(TreePath)
}
