import TernTestKit
import Testing

@testable import TernCore

@Suite("Compound hash and range merges")
struct CompoundHashTests {
  @Test(
    "vectors",
    arguments: [
      (#"{"foo":"bar"}"#, #"("foo":(string:"bar"))"#, "LmKmJmXugtGlEGoulMbz86myDNw="),
      (
        #"{"menu":{"1":1,"2":"say \"hi\""},"zz":true}"#,
        #"("menu":("1":(number:3ff0000000000000),"2":(string:"say \"hi\"")),"zz":(boolean:true))"#,
        "MAE8eI5pm7V07c7WhQ+/27aGDow="
      ),
      (
        #"{"a":{".value":"x",".priority":2}}"#,
        #"("a":(priority:number:4000000000000000:string:"x"))"#, "rs9RT3g/+6LucHpkA+DKOmFDHUc="
      ),
    ])
  func vector(json: String, text: String, hash: String) throws {
    let node = try TreeNode(json: json)
    var range = LeafRangeText()
    node.forEachLeaf { range.append($1, at: $0) }
    #expect(String(decoding: range.text, as: UTF8.self) == text)
    #expect(node.compoundHash.hashes == [hash, ""])
    #expect(node.compoundHash.posts.count == 1)
  }

  @Test("an empty node has no range but the open one")
  func empty() {
    #expect(TreeNode.empty.compoundHash == TreeCompoundHash(hashes: [""], posts: []))
  }

  @Test("larger nodes are cut into more ranges", arguments: [(10_000, 15), (100_000, 50)])
  func count(size: Int, expected: Int) {
    var node = TreeNode.empty
    var index = 0
    while node.estimatedSize < size {
      for _ in 0..<50 {
        let name = TreeKey(unchecked: "key\(index)")
        node.setChild(name, TreeNode(.string("some text of length thirty-two \(index % 10)")))
        index += 1
      }
    }
    let count = node.compoundHash.hashes.count
    #expect(Double(expected) * 0.6 < Double(count) && Double(count) < Double(expected) * 1.5)
  }

  @Test("merging the ranges that differ gives the other side's node", arguments: 1...40)
  func merge(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let client = randomNode(&random, depth: 3)
    var server = client
    for _ in 0..<(seed % 7) {
      let keys = (0..<(1 + random.next() % 3)).map { _ in randomKey(&random) }
      let isRemoval = random.next() % 3 == 0
      server.setNode(
        isRemoval ? .empty : randomNode(&random, depth: 1), at: TreePath(unchecked: keys))
    }
    guard let merges = server.rangeMerges(for: client.compoundHash) else { return }
    #expect(client.applying(merges) == server, "seed \(seed)")
    if client == server { #expect(merges.isEmpty) }
  }

  @Test("only the range that differs is sent")
  func sparse() {
    var client = TreeNode.empty
    for index in 0..<1000 {
      client.setChild(
        TreeKey(unchecked: "k\(1000 + index)"), TreeNode(.string("text number \(index)")))
    }
    let server = client.setting(true, at: "k1500")
    let merges = server.rangeMerges(for: client.compoundHash)
    #expect(merges?.count == 1)
    #expect((merges?.first?.node.childCount ?? 0) < 200)
    #expect(client.applying(merges ?? []) == server)
  }

  @Test("edges of a range: behind the start, through the end")
  func edges() {
    let node: TreeNode = ["a": ["x": 1], "b": 2, "c": ["y": 3], "d": 4]
    let merge = TreeRangeMerge(start: "a", end: "c", node: ["a": ["z": 9]])
    // Below the start is inside the range; children of the end are not.
    #expect(node.applying([merge]) == ["a": ["z": 9], "c": ["y": 3], "d": 4])
    let leaf = TreeRangeMerge(start: "b", end: "c", node: ["c": 7])
    #expect(node.applying([leaf]) == ["a": ["x": 1], "b": 2, "c": 7, "d": 4])
    let all = TreeRangeMerge(start: nil, end: nil, node: 5)
    #expect(node.applying([all]) == 5)
  }

  @Test("a range of a wide node visits the children between its ends only")
  func wideNode() {
    var node = TreeNode.empty
    for index in 1_000..<3_000 { node.setChild(TreeKey(unchecked: "k\(index)"), 1) }
    let update: TreeNode = ["k1401": 2, "k1401a": 3, "k1500": 4]
    let inner = TreeRangeMerge(start: "k1400/x", end: "k1403", node: update)
    let visited = inner.mergedKeys(node, update, at: .root).map(\.text)
    #expect(visited == ["k1400", "k1401", "k1401a", "k1402", "k1403"])
    let merged = node.applying([inner])
    #expect(
      merged
        == node.setting(2, at: "k1401").setting(3, at: "k1401a")
        .setting(.empty, at: "k1402").setting(.empty, at: "k1403"))
    let front = TreeRangeMerge(start: nil, end: "k1001/x", node: .empty)
    #expect(front.mergedKeys(node, .empty, at: .root).map(\.text) == ["k1000", "k1001"])
    let back = TreeRangeMerge(start: "k2998", end: nil, node: .empty)
    #expect(back.mergedKeys(node, .empty, at: .root).map(\.text) == ["k2998", "k2999"])
    // A range that ends before it starts says nothing.
    let none = TreeRangeMerge(start: "k1700", end: "k1600", node: ["k1650": 5])
    #expect(none.mergedKeys(node, none.node, at: .root).isEmpty)
    #expect(node.applying([none]) == node)
  }

  private func randomKey(_ random: inout SeededGenerator) -> TreeKey {
    let names = ["-a", "!", "1", "22", "alpha", "beta", "gamma", "delta", "omega", "psi", "zz"]
    return TreeKey(unchecked: names[Int(random.next() % UInt64(names.count))])
  }

  private func randomNode(_ random: inout SeededGenerator, depth: Int) -> TreeNode {
    let priority: TreeScalar? = random.next() % 8 == 0 ? .integer(Int64(random.next() % 5)) : nil
    if depth == 0 || random.next() % 6 == 0 {
      let length = Int(random.next() % 90)
      return TreeNode(.string(String(repeating: "x", count: length)), priority: priority)
    }
    var node = TreeNode.empty
    for _ in 0..<(random.next() % 9) {
      node.setChild(randomKey(&random), randomNode(&random, depth: depth - 1))
    }
    return node.withPriority(priority)
  }
}
