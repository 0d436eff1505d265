import TernCore
import TernTestKit
import Testing

@testable import TernTreeAuthority

@Suite("laws of onDisconnect operations") struct DisconnectLawTests {
  private func write(using random: inout RandomTree) throws -> TreeWrite {
    let base = random.path(maxDepth: 2)
    var entries: [TreeMerge.Entry] = []
    for _ in 0..<(1 + random.random.roll(3)) {
      entries.append(.init(path: random.path(maxDepth: 3), node: random.node(maxDepth: 2)))
    }
    guard entries.count > 1, let merge = try? TreeMerge(entries) else {
      return .set(base.appending(entries[0].path), entries[0].node)
    }
    return .merge(base, merge)
  }

  @Test("what remains does the same as all of them, one after the other", arguments: UInt64(1)...60)
  func effect(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<20 {
      // A priority of a node that vanishes in between would make a difference.
      let before = try TreeNode(json: random.node(maxDepth: 4).json(.value))
      var (tree, expected) = (DisconnectTree(), before)
      for _ in 0..<random.random.roll(6) {
        let write = try write(using: &random)
        tree.leave(write)
        expected.apply(write)
      }
      var after = before
      for entry in tree.assignments { after.setNode(entry.node, at: entry.path) }
      #expect(after == expected, "seed \(seed)")
    }
  }

  @Test(
    "remaining paths lie apart, in order, and are a write themselves", arguments: UInt64(1)...40)
  func apart(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = DisconnectTree()
    for _ in 0..<40 {
      if random.random.roll(4) == 0 {
        tree.cancel(at: random.path(maxDepth: 3))
      } else {
        tree.leave(try write(using: &random))
      }
      let entries = tree.assignments
      #expect(try TreeMerge(entries).entries == entries)
      #expect(tree.isEmpty == entries.isEmpty)
      // What remains says all there is to say.
      var again = DisconnectTree()
      if entries.count == 1 {
        again.leave(.set(entries[0].path, entries[0].node))
      } else {
        again.leave(.merge(.root, try TreeMerge(entries)))
      }
      #expect(again.assignments == entries)
    }
  }

  @Test("what is taken back does nothing at its path or below", arguments: UInt64(1)...40)
  func cancelled(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<20 {
      var tree = DisconnectTree()
      for _ in 0..<(1 + random.random.roll(5)) { tree.leave(try write(using: &random)) }
      let path = random.path(maxDepth: 3)
      let before = tree.assignments
      tree.cancel(at: path)
      for entry in tree.assignments where !entry.path.contains(path) || entry.path == path {
        #expect(!path.contains(entry.path), "\(entry.path) is left below \(path)")
      }
      // A leaf above cannot be split, and stays as it was.
      for entry in tree.assignments where entry.path.contains(path) {
        #expect(entry.node.isLeaf)
      }
      // What lies elsewhere stays.
      for entry in before where !entry.path.contains(path) && !path.contains(entry.path) {
        #expect(tree.assignments.contains(entry), "\(entry.path)")
      }
    }
  }

  @Test("taking back twice is taking back once", arguments: UInt64(1)...20)
  func idempotent(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var tree = DisconnectTree()
    for _ in 0..<10 {
      tree.leave(try write(using: &random))
      let path = random.path(maxDepth: 2)
      tree.cancel(at: path)
      let once = tree
      tree.cancel(at: path)
      #expect(tree == once)
    }
  }
}

@Suite("fingerprints of writes") struct PayloadHashTests {
  private func hash(_ write: TreeWrite, _ expected: String? = nil) -> UInt64 {
    PayloadHash(write, expectedHash: expected).value
  }

  private static func prioritized(_ node: TreeNode, _ priority: TreeScalar) -> TreeNode {
    node.withPriority(priority)
  }

  @Test("writes that differ anywhere have different fingerprints")
  func different() throws {
    let one: TreePath = "a"
    let two = try TreeMerge([.init(path: "a", node: 1), .init(path: "b", node: 2)])
    var writes: [TreeWrite] = [
      .set(.root, 1), .set(one, 1), .set("b", 1), .set("a/b", 1), .set("ab", 1), .set(one, .empty),
      .set(one, TreeNode(.double(1))), .set(one, TreeNode(.bool(true))),
      .set(one, TreeNode(.bool(false))), .set(one, "1"), .set(one, ""), .set(one, 0),
      .set(one, TreeNode(.double(0))), .set(one, TreeNode(.double(-0.0))), .set(one, -1),
      .set(one, 256), .set(one, Self.prioritized(1, .integer(1))),
      .set(one, Self.prioritized(1, .double(1))), .set(one, Self.prioritized(1, .string("1"))),
      .set(one, ["b": 1]), .set(one, ["b": 1, "c": 2]), .set(one, ["b": ["c": 2]]),
      .set(one, ["bc": 2]), .set(one, ["b": "c"]), .set(one, TreeNode(.serverValue(.timestamp))),
      .set(one, TreeNode(.serverValue(.increment(.integer(1))))),
      .set(one, TreeNode(.serverValue(.increment(.double(1))))),
      .set(TreePath([TreeKey(unchecked: "a"), .priority]), 1),
    ]
    writes += [.merge(.root, two), .merge("a", two)]
    writes.append(.merge(.root, try TreeMerge([.init(path: "a", node: 1)])))
    var known: [UInt64: TreeWrite] = [:]
    for write in writes {
      let other = known.updateValue(write, forKey: hash(write))
      #expect(other == nil, "\(write) and \(String(describing: other))")
    }
    for expected in ["", "x", "xx"] {
      let other = known.updateValue(.set(one, 1), forKey: hash(.set(one, 1), expected))
      #expect(other == nil, "with the hash \"\(expected)\"")
    }
  }

  @Test("equal writes have equal fingerprints, however they were made", arguments: UInt64(1)...20)
  func equal(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<20 {
      let node = random.node(maxDepth: 3)
      let path = random.path(maxDepth: 3)
      let again = try TreeNode(json: node.jsonBytes(.export))
      guard again == node else { continue }
      #expect(hash(.set(path, node), "h") == hash(.set(path, again), "h"))
      #expect(hash(.set(path, node)) != hash(.set(path, node), "h"))
    }
  }
}

@Suite("hashes of large nodes") struct NodeHashesTests {
  private func node(_ leaves: Int) -> TreeNode {
    var node = TreeNode.empty
    for index in 0..<leaves { node.setChild(TreeKey(unchecked: "k\(index)"), 1) }
    return node
  }

  @Test("a node with more leaves than a few is remembered", arguments: [-1, 0, 1])
  func large(over: Int) {
    let hashes = NodeHashes()
    let node = node(NodeHashes.fewLeaves + over)
    #expect(hashes.compare(node.hash, with: node, at: "a"))
    #expect(!hashes.compare("other", with: node, at: "a"))
    #expect(hashes.count == (over > 0 ? 1 : 0))
    #expect(hashes.holds(node.hash, at: "a") == (over > 0 ? true : nil))
    #expect(hashes.holds("other", at: "a") == (over > 0 ? false : nil))
    #expect(hashes.holds(node.hash, at: "b") == nil)
  }

  @Test(
    "a write at, above or below forgets a node, and no other",
    arguments: [
      ("a/b", true), ("a/b/c", true), ("a", true), ("", true), ("a/c", false), ("b", false),
      ("ab", false),
    ])
  func forgotten(path: String, isForgotten: Bool) throws {
    let hashes = NodeHashes()
    let node = node(NodeHashes.fewLeaves + 1)
    _ = hashes.compare("", with: node, at: "a/b")
    hashes.forget(try TernTreeAuthorityTests.path(path))
    #expect((hashes.holds(node.hash, at: "a/b") == nil) == isForgotten)
  }

  @Test("a priority is a part of its node")
  func priorities() {
    let hashes = NodeHashes()
    let node = node(NodeHashes.fewLeaves + 1)
    _ = hashes.compare("", with: node, at: "a/b")
    hashes.forget(TreePath(["a", "c", .priority]))
    #expect(hashes.count == 1)
    hashes.forget(TreePath(["a", .priority]))
    #expect(hashes.count == 0)
  }

  @Test("no more nodes are remembered than the most")
  func bounded() {
    let hashes = NodeHashes()
    let node = node(NodeHashes.fewLeaves + 1)
    for number in 0..<NodeHashes.mostNodes {
      _ = hashes.compare("", with: node, at: TreePath([TreeKey(unchecked: "n\(number)")]))
      #expect(hashes.count == number + 1)
    }
    _ = hashes.compare("", with: node, at: "other")
    #expect(hashes.count == 1)
  }
}
