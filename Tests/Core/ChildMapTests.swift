import TernTestKit
import Testing

@testable import TernCore

@Suite("Persistent children")
struct ChildMapTests {
  @Test("behaves like a dictionary under random edits", arguments: [UInt64(1), 2, 3])
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var map = ChildMap()
    var model: [TreeKey: TreeNode] = [:]
    var versions: [(ChildMap, [TreeKey: TreeNode])] = []
    for step in 0..<6_000 {
      let key = TreeKey(unchecked: String(random.next() % 900))
      let removes = random.next() % 5 < (step < 3_000 ? 1 : 4)
      let node = removes ? TreeNode.empty : TreeNode(.integer(Int64(step)))
      map.set(key, node)
      model[key] = removes ? nil : node
      if step % 500 == 0 { versions.append((map, model)) }
    }
    versions.append((map, model))
    for (map, model) in versions { check(map, model, seed) }
    for (old, oldModel) in versions {
      for (new, newModel) in versions { checkDifference(old, oldModel, new, newModel, seed) }
    }
  }

  private func check(_ map: ChildMap, _ model: [TreeKey: TreeNode], _ seed: UInt64) {
    let expected = model.keys.sorted()
    #expect(map.map(\.key) == expected, "seed \(seed)")
    #expect(map.reversed().map(\.key) == expected.reversed())
    #expect(map.count == model.count)
    #expect(map.first?.key == expected.first)
    #expect(map.last?.key == expected.last)
    for (index, key) in expected.enumerated() {
      #expect(map[key] == model[key])
      #expect(map.element(at: index).key == key)
      #expect(map.rank(of: key) == index)
      #expect(
        map.first(after: key)?.key == (index + 1 < expected.count ? expected[index + 1] : nil))
      #expect(map.last(before: key)?.key == (index > 0 ? expected[index - 1] : nil))
    }
    #expect(map == ChildMap(sorted: Array(map)))
  }

  private func checkDifference(
    _ old: ChildMap, _ oldModel: [TreeKey: TreeNode], _ new: ChildMap,
    _ newModel: [TreeKey: TreeNode], _ seed: UInt64
  ) {
    var found: [TreeKey] = []
    new.forEachDifference(from: old) { key, before, after in
      found.append(key)
      #expect(before == oldModel[key] ?? .empty)
      #expect(after == newModel[key] ?? .empty)
    }
    let keys = Set(oldModel.keys).union(newModel.keys)
    #expect(found == keys.filter { oldModel[$0] != newModel[$0] }.sorted(), "seed \(seed)")
    #expect((old == new) == found.isEmpty)
  }

  @Test("a difference skips what is shared")
  func sharing() {
    let old = ChildMap(
      sorted: (0..<100_000).map { (TreeKey(unchecked: String($0)), TreeNode(.integer($0))) })
    var new = old
    new.set("50000", TreeNode(.bool(true)))
    new.set("100001", TreeNode(.bool(true)))
    new.set("7", .empty)
    var keys: [TreeKey] = []
    new.forEachDifference(from: old) { key, _, _ in keys.append(key) }
    #expect(keys == ["7", "50000", "100001"])
  }

  @Test("unsorted input: the last of equal keys wins, empty nodes are dropped")
  func unsorted() {
    let map = ChildMap(unsorted: [
      (key: "b", node: 1), (key: "a", node: 2), (key: "b", node: 3), (key: "c", node: .empty),
    ])
    #expect(map == ChildMap(sorted: [("a", 2), ("b", 3)]))
  }
}
