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
  /// The literal children below which something is validated.
  var validatedChildren: [(key: TreeKey, node: Int)] = []
  /// True when all other children are validated.
  var validatesCapture = false
  /// True when this node or one below has a `.validate`.
  var hasValidation = false
}

/// A declaration of `.indexOn`.
public enum RulesIndex: Hashable, Sendable {
  /// The values of the children themselves.
  case value
  /// The value at a path below each child.
  case child(TreePath)
}
