import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernTreeReplica

@Suite("pending writes over what the server says") struct OverlayTests {
  /// Pending writes in a list, applied one after the other.
  private struct NaiveOverlay {
    var writes: [PendingWrite] = []

    func tree(over base: TreeNode, where isSeen: (PendingWrite) -> Bool) -> TreeNode {
      var tree = base
      for pending in writes where isSeen(pending) { tree.apply(pending.write) }
      return tree
    }
  }

  private func pending(_ number: UInt64, _ write: TreeWrite, isVisible: Bool = true) -> PendingWrite
  {
    PendingWrite(id: WriteID(number), original: write, write: write, isVisible: isVisible)
  }

  /// A write, now and then an update that sets priorities beside children.
  private func write(using random: inout SeededGenerator) throws -> TreeWrite {
    guard random.roll(4) == 0 else { return try random.someWrite() }
    var entries = [TreeMerge.Entry(path: TreePath([.priority]), node: TreeNode(.integer(7)))]
    for key in ["1", "a", "b"] where random.roll(2) == 0 {
      entries.append(.init(path: TreePath([TreeKey(unchecked: key)]), node: TreeNode(.integer(1))))
    }
    return .merge(random.somePath(depth: 2), try TreeMerge(entries))
  }

  @Test("every place is what the writes in their order make of it", arguments: UInt64(1)...80)
  func agrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var overlay = Overlay()
    var naive = NaiveOverlay()
    var base = TreeNode.empty
    for _ in 0..<4 { base.apply(try random.someWrite()) }
    for step in 0..<40 {
      if !naive.writes.isEmpty, random.roll(3) == 0 {
        let index = random.roll(naive.writes.count)
        let gone = naive.writes.remove(at: index)
        #expect(overlay.remove(gone.id)?.id == gone.id)
        #expect(overlay.remove(gone.id) == nil && overlay[gone.id] == nil)
      } else {
        let new = pending(
          UInt64(step), try write(using: &random), isVisible: random.roll(4) != 0)
        overlay.insert(new)
        naive.writes.append(new)
      }
      let excluded = naive.writes.filter { _ in random.roll(4) == 0 }.map(\.id)
      let path = random.somePath(depth: 3)
      let here = base.node(at: path)
      let visible = naive.tree(over: base) { $0.isVisible }
      try #require(
        overlay.resolve(at: path, base: here) == visible.node(at: path),
        "seed \(seed), step \(step): \(path)")
      let others = naive.tree(over: base) { !excluded.contains($0.id) }
      try #require(
        overlay.resolve(at: path, base: here, sight: .all(excluding: Set(excluded)))
          == others.node(at: path), "seed \(seed), step \(step): \(path) without \(excluded)")
      #expect(overlay.visibleWrites == naive.writes.filter(\.isVisible).map(\.write))
    }
  }

  @Test(
    "without the server's data a place is known when a write replaces it", arguments: UInt64(1)...40
  )
  func unknown(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var overlay = Overlay()
    var naive = NaiveOverlay()
    for number in 0..<10 {
      let new = pending(UInt64(number), try random.someWrite())
      overlay.insert(new)
      naive.writes.append(new)
      let path = random.somePath(depth: 3)
      let isCovered = naive.writes.contains { write in
        write.write.assignments.contains { $0.path.contains(path) }
      }
      #expect(overlay.covers(path) == isCovered)
      let found = overlay.resolve(at: path, base: nil)
      #expect((found != nil) == isCovered)
      // What lies below no longer depends on the server.
      if isCovered, let found {
        for base in [TreeNode.empty, 1, ["x": 1], ["a": ["b": 2]]] {
          var tree = TreeNode.empty
          tree.setNode(base, at: path)
          #expect(naive.tree(over: tree) { _ in true }.node(at: path) == found)
        }
      }
      let isTouched = naive.writes.contains { write in
        write.write.assignments.contains { $0.path.contains(path) || path.contains($0.path) }
      }
      #expect(!overlay.pending.at(path).isEmpty == isTouched)
    }
  }

  @Test("an update sets the priority of a node that its other paths make")
  func priorities() throws {
    for name in ["0", "-x", "a", "\u{1F600}"] {
      var overlay = Overlay()
      let merge = try TreeMerge([
        .init(path: TreePath([.priority]), node: TreeNode(.integer(5))),
        .init(path: TreePath([TreeKey(unchecked: name)]), node: TreeNode(.integer(1))),
      ])
      overlay.insert(pending(1, .merge("n", merge)))
      let found = overlay.resolve(at: "n", base: .empty)
      #expect(found?.priority == .integer(5), "\(name)")
    }
  }
}

@Suite("values at paths") struct PathTrieTests {
  @Test("a trie holds what a dictionary does", arguments: UInt64(1)...40)
  func agrees(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var trie = PathTrie<Int>()
    var naive: [TreePath: Int] = [:]
    for number in 0..<200 {
      let path = random.somePath(depth: 4)
      let value = random.roll(3) == 0 ? nil : number
      trie[path] = value
      naive[path] = value
      #expect(trie.isEmpty == naive.isEmpty)
      let probe = random.somePath(depth: 4)
      #expect(trie[probe] == naive[probe])
      let isAnyBelow = naive.keys.contains { probe.contains($0) }
      #expect((trie.subtrie(at: probe) != nil) == (isAnyBelow || probe.isRoot))
      var above: [String] = []
      let rest = trie.walk(to: probe) { above.append("\($0)=\($1)") }
      let expected = (0...probe.count).compactMap { count in
        naive[TreePath(probe.keys.prefix(count))].map { "\(count)=\($0)" }
      }
      #expect(above == expected)
      #expect((rest != nil) == (isAnyBelow || probe.isRoot))
    }
    var visited: [(TreePath, Int)] = []
    trie.visit { visited.append(($0, $1)) }
    #expect(visited.count == naive.count)
    for (index, (path, value)) in visited.enumerated() {
      #expect(naive[path] == value)
      #expect(!visited[..<index].contains { $0.0.contains(path) }, "deepest first")
    }
  }

  @Test("what becomes empty is pruned")
  func pruned() {
    var trie = PathTrie<Int>()
    trie["a/b/c"] = 1
    trie["a/x"] = 2
    #expect(trie.sortedKeys == ["a"])
    trie["a/b/c"] = nil
    #expect(trie.subtrie(at: "a/b") == nil && trie["a/x"] == 2)
    trie.update(at: "a") { place in place.value = nil }
    trie["a/x"] = nil
    #expect(trie.isEmpty && trie.children.isEmpty)
    #expect(trie.update(at: "q/r") { $0.isEmpty })
    #expect(trie.isEmpty, "a look leaves nothing")
  }
}

@Suite("children in the order of a view") struct ChildOrderTests {
  private func child(using random: inout SeededGenerator) -> TreeNode {
    switch random.roll(6) {
    case 0: return .empty
    case 1: return ["n": TreeNode(.integer(Int64(random.roll(50))))]
    case 2:
      return TreeNode(.string("s\(random.roll(20))"), priority: .integer(Int64(random.roll(9))))
    case 3: return TreeNode(.bool(random.roll(2) == 0))
    default: return TreeNode(.integer(Int64(random.roll(300))))
    }
  }

  @Test("the child before another is the one of the sorted list", arguments: 0..<4, UInt64(1)...4)
  func predecessors(order: Int, seed: UInt64) throws {
    let query =
      switch order {
      case 0: TreeQuery.all
      case 1: try TreeQuery.all.ordered(by: .value)
      case 2: try TreeQuery.all.ordered(byChild: "n")
      default: try TreeQuery.all.ordered(by: .key)
      }
    var random = SeededGenerator(seed: seed)
    var node = TreeNode.empty
    for _ in 0..<900 {
      node.setChild(TreeKey(unchecked: "k\(random.roll(2_000))"), child(using: &random))
    }
    var kept = ChildOrder(of: node, for: query)
    for step in 0..<1_200 {
      let key = TreeKey(unchecked: "k\(random.roll(2_000))")
      let (old, new) = (node.child(key), child(using: &random))
      node.setChild(key, new)
      kept.replace(key, old, with: new)
      guard step.isMultiple(of: 60) else { continue }
      let sorted = query.ordered(node)
      let fresh = ChildOrder(of: node, for: query)
      #expect(kept.count == fresh.count)
      for (index, element) in sorted.enumerated() where index.isMultiple(of: 7) || index < 3 {
        let expected = index == 0 ? nil : sorted[index - 1].key
        try #require(kept.predecessor(of: element, in: node.children) == expected, "step \(step)")
        try #require(fresh.predecessor(of: element, in: node.children) == expected)
      }
    }
  }
}
