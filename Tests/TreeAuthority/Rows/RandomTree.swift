import TernCore
import TernTestKit

/// Draws paths, nodes and writes from few names, so that they meet each other often.
struct RandomTree {
  var random: SeededGenerator
  static let names: [TreeKey] = ["0", "1", "01", "-7", "a", "b", "!x", "\u{E000}", "\u{1F600}"]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func path(maxDepth: Int) -> TreePath {
    TreePath((0..<Int.random(in: 0...maxDepth, using: &random)).map { _ in key() })
  }

  mutating func key() -> TreeKey {
    Self.names.randomElement(using: &random) ?? "a"
  }

  mutating func scalar() -> TreeScalar {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .bool(Bool.random(using: &random))
    case 1: .integer(Int64.random(in: .min ... .max, using: &random))
    case 2: .integer(Int64.random(in: -300...300, using: &random))
    case 3: .double(Double.random(in: -1e6...1e6, using: &random))
    default: .string(["", "x", "Zoë", "\u{0}", "😀"].randomElement(using: &random) ?? "")
    }
  }

  mutating func priority() -> TreeScalar? {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return nil }
    return .integer(Int64.random(in: 0...3, using: &random))
  }

  mutating func node(maxDepth: Int) -> TreeNode {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .empty
    case 1, 2: return TreeNode(scalar(), priority: priority())
    default:
      guard maxDepth > 0 else { return TreeNode(scalar(), priority: priority()) }
      var children = ChildMap()
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        children.set(key(), node(maxDepth: maxDepth - 1))
      }
      return TreeNode(children: children, priority: priority())
    }
  }

  /// A set somewhere, now and then of a priority.
  mutating func set() -> TreeMerge.Entry {
    if Int.random(in: 0..<6, using: &random) == 0 {
      let node = priority().map { TreeNode($0) } ?? .empty
      return TreeMerge.Entry(
        path: TreePath(path(maxDepth: 3).keys + [TreeKey.priority]), node: node)
    }
    return TreeMerge.Entry(path: path(maxDepth: 4), node: node(maxDepth: 2))
  }
}
