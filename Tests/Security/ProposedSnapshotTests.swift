import TernCore
import TernSecurity
import Testing

/// A write laid over a tree answers as the tree with the write applied.
@Suite("Proposed trees")
struct ProposedSnapshotTests {
  @Test("agrees with the written tree on every node", arguments: [UInt64(1), 2])
  func agreement(seed: UInt64) throws {
    var generator = NaiveGenerator(seed: seed)
    for step in 0..<1_500 {
      let before = generator.node(depth: 3)
      var writes: [TreeMerge.Entry] = []
      for _ in 0..<Int.random(in: 1...4, using: &generator.random) {
        let isPriority = generator.chance(20)
        let node = generator.path(4)
        let path = isPriority ? node.appending(TreeKey.priority) : node
        let overlaps = writes.contains { $0.path.contains(node) || node.contains($0.path) }
        if overlaps { continue }
        if isPriority {
          let value = generator.pick([TreeNode(3), TreeNode("p"), .empty])
          writes.append(.init(path: path, node: value))
        } else {
          let value = generator.chance(40) ? .empty : generator.node(depth: 2)
          writes.append(.init(path: path, node: value))
        }
      }
      let merge = TreeWrite.merge(.root, try TreeMerge(writes))
      let after = TreeNodeSnapshot(before.applying(merge))
      let proposed = ProposedSnapshot(writes, over: TreeNodeSnapshot(before))
      for path in everyPath(3) {
        let place = "seed \(seed), step \(step), /\(path.text)"
        try #require(try proposed.shape(at: path) == after.shape(at: path), "\(place)")
        try #require(try proposed.priority(at: path) == after.priority(at: path), "\(place)")
        let limit = Int.random(in: 1...3, using: &generator.random)
        var last: TreeKey?
        while true {
          let found = try proposed.children(at: path, after: last, limit: limit)
          try #require(found == after.children(at: path, after: last, limit: limit), "\(place)")
          guard let next = found.last?.key else { break }
          last = next
        }
      }
    }
  }

  private func everyPath(_ depth: Int) -> [TreePath] {
    guard depth > 0 else { return [.root] }
    return everyPath(depth - 1).flatMap { path in
      [path]
        + (path.count == depth - 1
          ? ["1", "a", "b", "c"].map { (key: TreeKey) in path.appending(key) } : [])
    }
  }
}
