import TernTestKit
import Testing

@testable import TernCore

/// A tree as the reference describes it, in dictionaries: every rule in the plainest way.
private struct PlainTree: Equatable {
  var value: TreeScalar?
  var priority: TreeScalar?
  var children: [TreeKey: PlainTree] = [:]

  var isEmpty: Bool { value == nil && children.isEmpty }

  init() {}

  init(_ node: TreeNode) {
    value = node.scalar
    priority = node.priority
    for (key, child) in node.children { children[key] = PlainTree(child) }
  }

  mutating func set(_ new: PlainTree, at path: ArraySlice<TreeKey>) {
    guard let key = path.first else {
      self = new
      return
    }
    if key.isPriority {
      if !isEmpty { priority = new.value }
      return
    }
    var child = children[key] ?? PlainTree()
    child.set(new, at: path.dropFirst())
    children[key] = child.isEmpty ? nil : child
    if !child.isEmpty { value = nil }
    if isEmpty { priority = nil }
  }
}

@Suite("The tree against a plain model")
struct TreeModelTests {
  private func randomWrite(using random: inout SeededGenerator) throws -> TreeWrite {
    let path = randomPath(3, using: &random)
    switch random.roll(6) {
    case 0: return .set(path, .empty)
    case 1:
      let priority = randomPriority(using: &random).map { TreeNode($0) } ?? .empty
      return .set(path.appending(.priority), priority)
    case 2:
      var entries: [TreeMerge.Entry] = []
      for _ in 0..<random.roll(5) {
        let place = randomPath(2, using: &random)
        let isApart = entries.allSatisfy { !$0.path.contains(place) && !place.contains($0.path) }
        if isApart {
          entries.append(.init(path: place, node: randomTree(depth: 1, using: &random)))
        }
      }
      return .merge(path, try TreeMerge(entries))
    default: return .set(path, randomTree(depth: 2, using: &random))
    }
  }

  @Test("writes give what the model has", arguments: UInt64(1)...9)
  func writes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var tree = TreeNode.empty
    var model = PlainTree()
    for _ in 0..<80 {
      let write = try randomWrite(using: &random)
      let before = tree
      tree.apply(write)
      for entry in write.assignments { model.set(PlainTree(entry.node), at: entry.path.keys[...]) }
      #expect(PlainTree(tree) == model, "seed \(seed): \(write)")
      #expect(before.applying(write) == tree, "seed \(seed): \(write)")
      #expect(tree.applying(write) == tree, "seed \(seed): twice \(write)")
    }
  }

  @Test("what was set is found there, and nothing else changed", arguments: UInt64(1)...20)
  func locality(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let tree = randomTree(depth: 3, using: &random)
    for _ in 0..<20 {
      let path = randomPath(3, using: &random)
      let node = randomTree(depth: 1, using: &random)
      let after = tree.setting(node, at: path)
      #expect(after.node(at: path) == node)
      #expect(tree.setting(tree.node(at: path), at: path) == tree, "writing what is there: \(path)")
      for key in meetingKeys where key != path.first && !path.isRoot {
        #expect(after.child(key) == tree.child(key))
      }
    }
  }

  @Test("an update is its assignments, in any order", arguments: UInt64(1)...9)
  func updates(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let tree = randomTree(depth: 3, using: &random)
      let write = try randomWrite(using: &random)
      var shuffled = tree
      for entry in write.assignments.shuffled(using: &random) {
        shuffled.setNode(entry.node, at: entry.path)
      }
      // Priorities depend on the order: they go with the last child.
      #expect(bare(shuffled) == bare(tree.applying(write)), "\(write)")
    }
  }

  @Test("equal trees have equal hashes, and unequal ones others", arguments: UInt64(1)...9)
  func hashes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let trees = (0..<12).map { _ in randomTree(depth: 2, using: &random) }
    for left in trees {
      var rebuilt = TreeNode.empty
      for (key, node) in left.children.shuffled(using: &random) { rebuilt.setChild(key, node) }
      if left.hasChildren { #expect(rebuilt.withPriority(left.priority).hash == left.hash) }
      for right in trees {
        #expect((left == right) == (left.hash == right.hash), "\(left), \(right)")
      }
    }
  }

  @Test(
    "both forms of JSON read back: all of it, and all but priorities", arguments: UInt64(1)...20)
  func json(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let tree = randomTree(depth: 3, using: &random)
      #expect(try TreeNode(json: tree.json(.export)) == tree)
      #expect(try TreeNode(json: tree.json(.value)) == bare(tree))
    }
  }

  private func bare(_ node: TreeNode) -> TreeNode {
    guard node.hasChildren else { return node.withPriority(nil) }
    return TreeNode(children: ChildMap(unsorted: node.children.map { ($0.key, bare($0.node)) }))
  }

  @Test("differences lead from one tree to the other", arguments: UInt64(1)...20)
  func differences(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (old, new) = (randomTree(depth: 2, using: &random), randomTree(depth: 2, using: &random))
    var walked = old.children
    var keys: [TreeKey] = []
    new.children.forEachDifference(from: old.children) { key, before, after in
      #expect(before == old.children[key] ?? .empty)
      #expect(before != after)
      walked.set(key, after)
      keys.append(key)
    }
    #expect(walked == new.children)
    #expect(keys == keys.sorted() && Set(keys).count == keys.count)
  }

  @Test(
    "the shape of a list decides, not its contents",
    arguments: [
      ("0,1,2", 3), ("0", 1), ("1", 2), ("0,2", 3), ("1,2", 3), ("2,3", 4), ("0,1,4", 5),
      ("2", nil), ("0,3", 4), ("0,4", nil), ("0,1,6", nil), ("3,4", nil), ("00", nil),
      ("0,01", nil),
      ("-1,0", nil), ("0,a", nil), ("", nil), ("2147483647", nil),
    ] as [(String, Int?)])
  func arrays(names: String, length: Int?) {
    let keys = names.split(separator: ",").map { TreeKey(unchecked: String($0)) }
    let children = ChildMap(unsorted: keys.map { (key: $0, node: TreeNode(1)) })
    // The largest index is less than twice the number of children.
    #expect(children.arrayLength == length, "\(names)")
  }
}
