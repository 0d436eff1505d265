import TernCore
import TernQuery
import TernTestKit

// A tree small enough that random writes and queries meet.
extension SeededGenerator {
  private static let keys = ["a", "b", "c", "1", "2"].map { TreeKey(unchecked: $0) }

  private mutating func someKey() -> TreeKey { Self.keys[roll(Self.keys.count)] }

  mutating func somePath(depth: Int) -> TreePath {
    let count = roll(depth + 1)
    return TreePath((0..<count).map { _ in someKey() })
  }

  mutating func someWrite() throws -> TreeWrite {
    if roll(4) == 0 {
      let path = somePath(depth: 1)
      var entries: [TreeMerge.Entry] = []
      for key in Self.keys where roll(3) == 0 {
        entries.append(
          TreeMerge.Entry(
            path: TreePath([key]).appending(somePath(depth: 1)), node: someNode(depth: 1)))
      }
      return .merge(path, try TreeMerge(entries))
    }
    if roll(8) == 0 {
      let priority = TreeNode(TreeScalar.integer(Int64(roll(3))))
      let path = somePath(depth: 2).appending(
        TreePath(unchecked: [TreeKey(unchecked: ".priority")]))
      return .set(path, roll(2) == 0 ? .empty : priority)
    }
    return .set(somePath(depth: 3), someNode(depth: 2))
  }

  private mutating func someNode(depth: Int) -> TreeNode {
    if roll(5) == 0 { return .empty }
    let priority: TreeScalar? = roll(4) == 0 ? .integer(Int64(roll(3))) : nil
    if depth == 0 || roll(2) == 0 {
      return TreeNode(TreeScalar.integer(Int64(roll(4))), priority: priority)
    }
    var node = TreeNode.empty
    for key in Self.keys where roll(2) == 0 { node.setChild(key, someNode(depth: depth - 1)) }
    node.setPriority(priority)
    return node
  }

  mutating func someQuery() throws -> TreeQuery {
    var query = TreeQuery.all
    switch roll(5) {
    case 0: query = try query.ordered(by: .key)
    case 1: query = try query.ordered(by: .value)
    case 2: query = try query.ordered(byChild: "a")
    default: break
    }
    if query.order != .key, roll(3) == 0 {
      query = try query.starting(at: .integer(Int64(roll(3))))
    }
    switch roll(4) {
    case 0: query = try query.first(1 + roll(3))
    case 1: query = try query.last(1 + roll(3))
    default: break
    }
    return query
  }
}
