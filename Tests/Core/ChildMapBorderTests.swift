import TernTestKit
import Testing

@testable import TernCore

@Suite("Children at the borders of pages")
struct ChildMapBorderTests {
  /// Counts around one full leaf, one full branch of leaves, and what lies beyond.
  static let counts = [0, 1, 2, 31, 32, 33, 63, 64, 65, 2_048, 2_049]

  private func elements(_ count: Int) -> [ChildMap.Element] {
    (0..<count).map { (key: TreeKey(unchecked: String($0)), node: TreeNode(.integer(Int64($0)))) }
  }

  /// Checks that a map holds exactly the elements, by every way of asking.
  private func check(_ map: ChildMap, _ elements: [ChildMap.Element], _ how: String) {
    let keys = elements.map(\.key)
    guard map.map(\.key) == keys, map.map(\.node) == elements.map(\.node) else {
      Issue.record("\(how) of \(elements.count) holds \(map.count) others")
      return
    }
    #expect(map.count == keys.count && map.isEmpty == keys.isEmpty, "\(how)")
    #expect(map.reversed().map(\.key) == keys.reversed(), "\(how)")
    #expect(map.first?.key == keys.first && map.last?.key == keys.last, "\(how)")
    for index in [0, keys.count / 2, keys.count - 1] where keys.indices.contains(index) {
      #expect(map.rank(of: keys[index]) == index && map.element(at: index).key == keys[index])
      #expect(map[keys[index]] == elements[index].node)
    }
    let absent = TreeKey(unchecked: "a")
    #expect(
      map[absent] == nil && map.rank(of: absent) == keys.count && map.first(after: absent) == nil)
    #expect(map.last(before: absent)?.key == keys.last)
  }

  @Test("however they are made, they are the same", arguments: counts)
  func making(count: Int) {
    let elements = elements(count)
    let sorted = ChildMap(sorted: elements)
    check(sorted, elements, "sorted")
    var random = SeededGenerator(seed: UInt64(count))
    check(ChildMap(unsorted: elements.shuffled(using: &random)), elements, "unsorted")
    var builder = ChildMap.Builder(expecting: count / 2)
    for (index, element) in elements.enumerated() {
      #expect(builder.isEmpty == (index == 0))
      builder.append(element.key, element.node)
    }
    #expect(builder.count == count)
    let built = builder.finish()
    check(built, elements, "built")
    var (upwards, downwards, anyhow) = (ChildMap(), ChildMap(), ChildMap())
    for element in elements { upwards.set(element.key, element.node) }
    for element in elements.reversed() { downwards.set(element.key, element.node) }
    for element in elements.shuffled(using: &random) { anyhow.set(element.key, element.node) }
    for (map, how) in [(upwards, "upwards"), (downwards, "downwards"), (anyhow, "in any order")] {
      check(map, elements, how)
      #expect(map == sorted && map == built, "\(how)")
      var found = 0
      map.forEachDifference(from: sorted) { _, _, _ in found += 1 }
      #expect(found == 0, "\(how)")
    }
  }

  @Test("they can be taken out one by one, from either end and from the middle", arguments: counts)
  func emptying(count: Int) {
    let all = elements(count)
    var random = SeededGenerator(seed: UInt64(count) + 1)
    let orders = [Array(all.indices), all.indices.reversed(), all.indices.shuffled(using: &random)]
    for order in orders {
      var map = ChildMap(sorted: all)
      let whole = map
      for (step, index) in order.enumerated() {
        map.set(all[index].key, .empty)
        #expect(map.count == count - step - 1)
        if step % 97 == 0 {
          let gone = Set(order[...step])
          check(map, all.indices.filter { !gone.contains($0) }.map { all[$0] }, "what is left")
        }
      }
      #expect(map.isEmpty && map == ChildMap())
      #expect(whole.count == count, "a copy keeps what it had")
      map.set(TreeKey(unchecked: "0"), 1)
      check(map, [(TreeKey(unchecked: "0"), 1)], "what came back")
    }
  }

  @Test("ranges of positions are cut out of the whole", arguments: counts)
  func ranges(count: Int) {
    let map = ChildMap(sorted: elements(count))
    let keys = map.map(\.key)
    var random = SeededGenerator(seed: UInt64(count) + 2)
    for _ in 0..<30 {
      let low = random.roll(count + 1)
      let range = low..<low + random.roll(count - low + 1)
      #expect(map[range].map(\.key) == Array(keys[range]), "\(range)")
    }
    #expect(map[0..<count].map(\.key) == keys)
  }

  @Test("setting what is there, or taking out what is not, changes nothing", arguments: counts)
  func nothing(count: Int) {
    let elements = elements(count)
    let map = ChildMap(sorted: elements)
    var copy = map
    for name in ["a", "00", "-1", "999999"] { copy.set(TreeKey(unchecked: name), .empty) }
    check(copy, elements, "without what was not there")
    for element in elements.prefix(40) { copy.set(element.key, element.node) }
    check(copy, elements, "with what was there")
    #expect(copy == map)
    if let last = elements.last {
      copy.set(last.key, "other")
      #expect(copy != map && map[last.key] == last.node)
    }
  }
}
