import TernCore
import TernTestKit
import Testing

@testable import TernClient

@Suite("onDisconnect operations of a connection, at the client") struct DisconnectPlanTests {
  private func paths(_ plan: DisconnectPlan) -> [String] {
    var plan = plan
    return plan.takeAll().map { "\($0.path.text)=\($0.node.json(.export))" }
  }

  @Test("taking back a place below a leaf leaves the leaf, as at the server")
  func leaf() {
    var plan = DisconnectPlan()
    plan.add(.set("a", 5))
    plan.cancel("a/b")
    #expect(paths(plan) == ["a=5"])
    plan.cancel("a")
    #expect(paths(plan) == [])
  }

  @Test("taking back a child of a set leaves its other children")
  func split() {
    var plan = DisconnectPlan()
    plan.add(.set("a", ["b": ["c": 1, "d": 2], "e": 3]))
    plan.cancel("a/b/c")
    #expect(paths(plan) == ["a/b/d=2", "a/e=3"])
    plan.cancel("a/b")
    #expect(paths(plan) == ["a/e=3"])
    plan.cancel("x")
    #expect(paths(plan) == ["a/e=3"])
  }

  @Test("what remains does the same as all of them, one after the other", arguments: UInt64(1)...60)
  func effect(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func path(_ depth: Int) -> TreePath {
      TreePath(
        (0..<random.roll(depth + 1)).map { _ in TreeKey(unchecked: ["a", "b", "1"][random.roll(3)])
        })
    }
    func node() -> TreeNode {
      switch random.roll(4) {
      case 0: .empty
      case 1: ["a": ["b": TreeNode(.integer(Int64(random.roll(9))))], "1": 2]
      case 2: ["b": TreeNode(.integer(Int64(random.roll(9))))]
      default: TreeNode(.integer(Int64(random.roll(9))))
      }
    }
    for _ in 0..<20 {
      // Its values lie too deep to be written below: what is put there and removed again takes a
      // value along, and leaves no operation.
      let number = TreeNode(.integer(Int64(random.roll(9))))
      let before: TreeNode = ["a": ["a": ["b": number, "1": 1]], "b": ["b": ["a": number]]]
      var (plan, expected) = (DisconnectPlan(), before)
      for _ in 0..<random.roll(6) {
        let write = TreeWrite.set(path(3), node())
        plan.add(write)
        expected.apply(write)
      }
      var after = before
      let entries = plan.takeAll()
      for entry in entries { after.setNode(entry.node, at: entry.path) }
      #expect(after == expected, "seed \(seed)")
      #expect((try? TreeMerge(entries))?.entries == entries, "they lie apart, in order")
      #expect(plan.takeAll().isEmpty)
    }
  }
}
