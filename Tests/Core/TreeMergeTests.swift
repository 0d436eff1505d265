import TernTestKit
import Testing

@testable import TernCore

@Suite("updates of several paths") struct TreeMergeTests {
  private func merge(_ paths: [String]) throws(TreeError) -> TreeMerge {
    var entries: [TreeMerge.Entry] = []
    for path in paths { entries.append(.init(path: try TreePath(writable: path), node: 1)) }
    return try TreeMerge(entries)
  }

  @Test("a priority counts for a node that the same update makes, whatever its children are called")
  func priorities() throws {
    for name in ["0", "-1", "-Nx", "a", "!", "\u{1F600}", "\u{E000}"] {
      let update = TreeWrite.merge(
        "n",
        try TreeMerge([
          .init(path: TreePath([.priority]), node: TreeNode(.integer(5))),
          .init(path: TreePath([TreeKey(unchecked: name)]), node: 1),
        ]))
      let made = TreeNode.empty.applying(update).node(at: "n")
      #expect(made.priority == .integer(5), "\(name)")
      let old: TreeNode = ["n": ["old": 1]]
      let replaced = old.applying(update).node(at: "n")
      #expect(replaced.priority == .integer(5) && replaced.childCount == 2)
    }
  }

  @Test("a priority of a node that an update empties is none")
  func emptied() throws {
    let update = TreeWrite.merge(
      .root,
      try TreeMerge([
        .init(path: "a/x", node: .empty), .init(path: TreePath(["a", .priority]), node: 7),
      ]))
    let (one, two): (TreeNode, TreeNode) = (["a": ["x": 1]], ["a": ["x": 1, "y": 2]])
    #expect(one.applying(update).isEmpty)
    let kept = two.applying(update)
    #expect(kept.node(at: "a").priority == 7)
  }

  @Test("whatever the order of its paths, an update does the same", arguments: UInt64(1)...40)
  func order(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = ["1", "-2", "-b", "a", "b"]
    var texts: Set<String> = []
    for _ in 0..<(1 + random.roll(8)) {
      let path = (0..<(1 + random.roll(3))).map { _ in names[random.roll(names.count)] }
        .joined(separator: "/")
      texts.insert(random.roll(3) == 0 ? path + "/.priority" : path)
    }
    guard let expected = try? merge(texts.sorted()) else { return }
    for _ in 0..<5 {
      let shuffled = try merge(texts.shuffled(using: &random))
      #expect(shuffled == expected)
    }
    // Every node that is there in the end has the priority that was written for it.
    let after = TreeNode.empty.applying(.merge(.root, expected))
    for entry in expected.entries where entry.path.namesPriority {
      guard let owner = entry.path.parent, !after.node(at: owner).isEmpty else { continue }
      #expect(after.node(at: owner).priority == 1, "\(entry.path) of \(texts.sorted())")
    }
  }

  @Test(
    "paths that contain one another are told, wherever they stand",
    arguments: [
      ["a", "a"], ["a", "a/b"], ["a/b/c", "x", "a/b"], ["/", "a"], ["a/.priority", "a"],
      ["a/.priority", "a/.priority"], [".priority", "/"],
    ])
  func overlaps(paths: [String]) {
    for order in [paths, paths.reversed()] {
      let error = #expect(throws: TreeError.self) { try merge(order) }
      guard case .overlappingPaths(let outer, let inner) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(outer.contains(inner))
    }
  }

  @Test(
    "paths beside one another are an update",
    arguments: [
      [], ["a"], ["a", "b"], ["a/b", "a/c"], ["a/.priority", "a/b"], [".priority", "a"],
      ["a/b", "ab"], ["a/b/.priority", "a/.priority", "a/b/c"],
    ])
  func apart(paths: [String]) throws {
    let merge = try merge(paths)
    #expect(merge.entries.count == paths.count)
  }
}
