import TernCore
import TernQuery
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

/// Listens cost the same however many there are.
@Suite("The cost of listens") struct ListenCostTests {
  private func queries(_ count: Int) throws -> [TreeQuery] {
    try (0..<count).map { try TreeQuery.all.ordered(by: .key).first($0 + 1) }
  }

  // One by one they would be compared a billion times: more than the limit allows.
  @Test(
    "different queries at one path are found, and leave, without looking at the others",
    .timeLimit(.minutes(10)))
  func manyQueries() throws {
    let index = ListenIndex()
    let path = "a/b" as TreePath
    let queries = try queries(50_000)
    for query in queries { index.group(of: query, at: path).add(1, tag: 7) }
    for query in queries {
      guard let group = index.existingGroup(of: query, at: path) else { continue }
      group.remove(1)
      index.removeIfEmpty(group)
    }
    #expect(index.root.sortedChildren.isEmpty)
  }

  @Test("links of one query come and go in any order, and each is informed once")
  func manyLinks() throws {
    let group = ListenIndex().group(of: .all, at: "a")
    var random = SeededGenerator(seed: 3)
    var model: [Int: Int64?] = [:]
    for _ in 0..<5_000 {
      let slot = Int.random(in: 0..<300, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        group.add(slot, tag: nil)
        model[slot] = .some(nil)
      case 1:
        group.add(slot, tag: Int64(slot))
        model[slot] = Int64(slot)
      default:
        group.remove(slot)
        model[slot] = nil
      }
      #expect(group.plainSlots.count + group.tagged.count == model.count)
    }
    #expect(Set(group.plainSlots) == Set(model.filter { $0.value == nil }.keys))
    #expect(Set(group.tagged.map(\.slot)) == Set(model.filter { $0.value != nil }.keys))
    #expect(group.tagged.allSatisfy { Int64($0.slot) == $0.tag })
  }

  @Test("a write to many places at once tells each listener between them once")
  func manyPlaces() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    for place in 0..<20 { _ = try bench.ask(2, bench.listen("m/p\(place)")) }
    let entries = (0..<200).map { ("p\($0 % 20)/v\($0)", TreeNode(.integer(Int64($0)))) }
    _ = try bench.ask(1, bench.merge("m", entries))
    #expect(bench.take(2).count == 20)
  }
}
