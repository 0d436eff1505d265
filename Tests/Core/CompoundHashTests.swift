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
