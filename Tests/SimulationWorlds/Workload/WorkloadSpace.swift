import TernCore
import TernQuery
import TernSync

/// The places and values that clients play with.
enum WorkloadSpace {
  static func path(_ keys: String...) -> TreePath {
    TreePath(unchecked: keys.map { TreeKey(unchecked: $0) })
  }

  /// One of few items, so that clients meet.
  static func item(_ chance: inout RandomSource) -> TreePath {
    let names = ["1", "2", "10", "a", "b", "c", "key", "é"]
    return path("items", names[chance.below(names.count)])
  }

  /// The place of one of the users.
  static func own(_ chance: inout RandomSource) -> TreePath {
    path("own", WorkloadUsers.known[chance.below(WorkloadUsers.known.count)].id)
  }

  /// True for places that transactions and onDisconnect operations write: those have no numbers.
  static func isWrittenWithoutNumber(_ path: TreePath) -> Bool {
    ["items", "gone", "tally", "votes"].contains(path.first?.text)
  }

  static func scalar(_ chance: inout RandomSource) -> TreeScalar {
    switch chance.below(5) {
    case 0: .bool(chance.happens(0.5))
    case 1: .double(Double(chance.below(40)) / 4)
    case 2: .string(["x", "yy", "10", ""][chance.below(4)])
    default: .integer(Int64(chance.below(12)))
    }
  }

  static func node(_ chance: inout RandomSource) -> TreeNode {
    var node: TreeNode
    if chance.happens(0.5) {
      node = TreeNode(scalar(&chance))
    } else {
      node = ["n": TreeNode(scalar(&chance)), "who": TreeNode(scalar(&chance))]
      if chance.happens(0.3) { node.setNode(TreeNode(scalar(&chance)), at: path("more", "deep")) }
    }
    if chance.happens(0.2) { node.setPriority(.integer(Int64(chance.below(4)))) }
    return node
  }

  static func query(_ chance: inout RandomSource) -> TreeQuery {
    let bound = TreeBound(.integer(Int64(chance.below(8))))
    let limit = TreeLimit(chance.happens(0.5) ? .first : .last, 1 + chance.below(4))
    switch chance.below(9) {
    case 0: return TreeQuery(order: .key, limit: limit)
    case 1: return TreeQuery(order: .value, limit: limit)
    case 2: return TreeQuery(order: .child(path("n")), limit: limit)
    case 3: return TreeQuery(order: .child(path("n")), start: bound)
    case 4: return TreeQuery(order: .value, end: bound, limit: limit)
    case 5: return TreeQuery(order: .priority, limit: limit)
    case 6: return TreeQuery(order: .key, start: TreeBound("2"), end: TreeBound("b"))
    case 7: return TreeQuery(order: .child(path("more", "deep")), limit: limit)
    default: return TreeQuery(order: .value)
    }
  }

  /// Something to listen to.
  static func view(_ chance: inout RandomSource) -> ViewName {
    switch chance.below(16) {
    case 0: return ViewName(path: .root, query: .all)
    case 1, 2: return ViewName(path: path("items"), query: .all)
    case 3, 4, 5: return ViewName(path: path("items"), query: query(&chance))
    case 6: return ViewName(path: item(&chance), query: .all)
    case 7: return ViewName(path: item(&chance).appending(TreeKey(unchecked: "n")), query: .all)
    case 8: return ViewName(path: path("pair"), query: .all)
    case 9: return ViewName(path: path("counters"), query: .all)
    case 10:
      return ViewName(
        path: path("notes"), query: TreeQuery(order: .key, limit: TreeLimit(.last, 3)))
    case 11: return ViewName(path: path("tally"), query: .all)
    case 12: return ViewName(path: path("secret"), query: .all)
    case 13, 14: return ViewName(path: own(&chance), query: .all)
    default: return ViewName(path: path("gone"), query: .all)
    }
  }
}

/// Returns the declared transaction's result: the counter plus one.
@Sendable func vote(_ arguments: TreeNode, _ current: TreeNode) -> TreeNode? { oneMore(current) }

@Sendable func oneMore(_ current: TreeNode) -> TreeNode? {
  guard case .integer(let count) = current.scalar else { return 1 }
  return TreeNode(.integer(count + 1))
}

extension TreeNode {
  /// The whole number here, or 0.
  var integer: Int64 {
    if case .integer(let value) = scalar { return value }
    return 0
  }
}
