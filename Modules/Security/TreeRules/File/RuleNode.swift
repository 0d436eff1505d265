public import TernCore

/// One node of a rules file: the rules there and the nodes below.
///
/// Nodes are stored in one array, ``CompiledRules/nodes``, and refer to each other by index; node 0
/// is the root. A key is looked up in ``childIndex`` first, and in ``capture`` only if no literal
/// child has that name.
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
  ///
  /// At most one `$name` exists at each node.
  var capture: Int?
  /// The orders that have an index here.
  var indexes: [RulesIndex] = []
  /// The literal children below which something is validated.
  var validatedChildren: [(key: TreeKey, node: Int)] = []
  /// True when all other children are validated.
  var validatesCapture = false
  /// True when this node or one below has a `.validate`.
  ///
  /// A write descends only into nodes where this is true.
  var hasValidation = false
}

/// A declaration of `.indexOn`.
public enum RulesIndex: Hashable, Sendable {
  /// The values of the children themselves.
  case value
  /// The value at a path below each child.
  case child(TreePath)
}
