import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Windows of queries")
struct WindowTests {
  private func keys(_ query: TreeQuery, _ json: String) throws -> [String] {
    query.ordered(query.window(of: try TreeNode(json: json))).map(\.key.text)
  }

  static let mixed =
    #"{"a":{"v":1},"b":{"v":"x"},"c":{"v":true},"d":{"w":1},"e":{"v":false},"f":{"v":{"y":1}},"g":{"v":-2.5},"h":9}"#

  @Test("value order by child: nothing, false, true, numbers, strings, objects")
  func childOrder() throws {
    let query = try TreeQuery.all.ordered(byChild: "v")
    #expect(try keys(query, WindowTests.mixed) == ["d", "h", "e", "c", "g", "a", "b", "f"])
    #expect(
      try keys(query.starting(at: false).ending(at: 1), WindowTests.mixed) == ["e", "c", "g", "a"])
    #expect(try keys(query.equal(to: nil), WindowTests.mixed) == ["d", "h"])
    #expect(try keys(query.starting(after: "x"), WindowTests.mixed) == ["f"])
    #expect(try keys(query.ending(before: false), WindowTests.mixed) == ["d", "h"])
    #expect(try keys(query.last(3), WindowTests.mixed) == ["a", "b", "f"])
    #expect(try keys(query.first(3), WindowTests.mixed) == ["d", "h", "e"])
    #expect(try keys(query.starting(at: true).first(2), WindowTests.mixed) == ["c", "g"])
  }

  @Test("keys settle ties, in bounds as well")
  func ties() throws {
    let json = #"{"a":1,"b":1,"c":1,"d":2}"#
    let query = try TreeQuery.all.ordered(by: .value)
    let b = TreeKey(unchecked: "b")
    #expect(try keys(query.starting(at: 1, key: b), json) == ["b", "c", "d"])
    #expect(try keys(query.starting(after: 1, key: b), json) == ["c", "d"])
    #expect(try keys(query.ending(at: 1, key: b), json) == ["a", "b"])
    #expect(try keys(query.ending(before: 1, key: b), json) == ["a"])
    #expect(try keys(query.starting(after: 1), json) == ["d"])
    #expect(try keys(query.ending(before: 2), json) == ["a", "b", "c"])
    #expect(try keys(query.equal(to: 1, key: b), json) == ["b"])
    #expect(try keys(query.starting(at: 1).first(2), json) == ["a", "b"])
  }

  @Test("ranges of keys are in key order: numbers first")
  func keyOrder() throws {
    let json = #"{"10":1,"9":1,"a":1,"b":1,"-5":1}"#
    let query = try TreeQuery.all.ordered(by: .key)
    #expect(try keys(query, json) == ["-5", "9", "10", "a", "b"])
    #expect(try keys(query.starting(at: "9").ending(at: "a"), json) == ["9", "10", "a"])
    #expect(try keys(query.starting(after: "9").ending(before: "b"), json) == ["10", "a"])
    #expect(try keys(query.equal(to: "10"), json) == ["10"])
    #expect(try keys(query.last(2), json) == ["a", "b"])
    #expect(try keys(query.ending(at: "9").last(1), json) == ["9"])
    #expect(try keys(query.starting(at: "c"), json) == [])
    #expect(try keys(query.starting(at: "b").ending(at: "a"), json) == [])
  }

  @Test("priorities: none, numbers, strings")
  func priorities() throws {
    let json =
      #"{"a":{".value":1,".priority":10},"b":{".value":2,".priority":5},"c":3,"d":{".value":4,".priority":"k"}}"#
    #expect(try keys(.all, json) == ["c", "b", "a", "d"])
    #expect(try keys(TreeQuery.all.starting(at: 5), json) == ["b", "a", "d"])
    #expect(try keys(TreeQuery.all.ending(at: nil), json) == ["c"])
    #expect(try keys(TreeQuery.all.last(1), json) == ["d"])
    #expect(try keys(TreeQuery.all.starting(at: nil), #"{"x":1,"y":2}"#) == ["x", "y"])
    #expect(try keys(TreeQuery.all.starting(at: 1), #"{"x":1,"y":2}"#) == [])
    #expect(try keys(TreeQuery.all.first(1), #"{"x":1,"y":2}"#) == ["x"])
  }

  @Test("a window drops the node's priority, and a leaf is no window")
  func root() throws {
    let query = try TreeQuery.all.ordered(by: .key).first(5)
    let node = try TreeNode(json: #"{"a":1,".priority":3}"#)
    #expect(query.window(of: node).priority == nil)
    #expect(TreeQuery.all.window(of: node).priority == 3)
    #expect(query.window(of: 5).isEmpty)
    #expect(TreeQuery.all.window(of: 5) == 5)
  }

  @Test("agrees with sorting everything", arguments: 1...60)
  func model(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var node = TreeNode.empty
    for _ in 0..<(random.next() % 200) {
      let key = TreeKey(unchecked: String(random.next() % 400))
      let priority: TreeScalar? = seed % 3 == 0 ? .integer(Int64(random.next() % 4)) : nil
      let child: TreeNode = ["v": TreeNode(value(&random))]
      node.setChild(key, child.withPriority(priority))
    }
    let orders: [TreeOrder] = [
      .key, .priority, .value, .child(TreePath([TreeKey(unchecked: "v")])),
    ]
    let order = orders[Int(random.next() % 4)]
    func bound() -> TreeBound? {
      guard random.next() % 2 == 0 else { return nil }
      let key = TreeKey(unchecked: String(random.next() % 400))
      let isInclusive = random.next() % 2 == 0
      if order == .key { return TreeBound(.string(key.text), isInclusive: isInclusive) }
      return TreeBound(
        value(&random), key: random.next() % 2 == 0 ? key : nil, isInclusive: isInclusive)
    }
    let limit: TreeLimit? =
      random.next() % 3 == 0
      ? nil : TreeLimit(random.next() % 2 == 0 ? .first : .last, 1 + Int(random.next() % 40))
    let query = TreeQuery(order: order, start: bound(), end: bound(), limit: limit)
    var expected = query.ordered(node).filter { query.contains(key: $0.key, node: $0.node) }
    if let limit {
      expected = Array(
        limit.side == .first ? expected.prefix(limit.count) : expected.suffix(limit.count))
    }
    let window = query.window(of: node)
    #expect(query.ordered(window).map(\.key) == expected.map(\.key), "seed \(seed): \(query.id)")
    let sorted = query.ordered(node)
    for (first, second) in zip(sorted, sorted.dropFirst()) {
      #expect(order.compare(first, second) < 0)
    }
  }

  @Test("a step from the old window agrees with the window of the new source", arguments: 1...40)
  func steps(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let orders: [TreeOrder] = [.key, .priority, .value]
    let order = orders[seed % 3]
    let limit = TreeLimit(random.next() % 2 == 0 ? .first : .last, 1 + Int(random.next() % 6))
    let query = TreeQuery(
      order: order, start: order == .value ? TreeBound(2) : nil, limit: seed % 7 == 0 ? nil : limit)
    var source = TreeNode.empty
    var window = query.window(of: source)
    var known = 0
    for _ in 0..<400 {
      let key = TreeKey(unchecked: String(random.next() % 15))
      let priority: TreeScalar? = random.next() % 2 == 0 ? .integer(Int64(random.next() % 4)) : nil
      let node =
        random.next() % 4 == 0 ? TreeNode.empty : TreeNode(value(&random), priority: priority)
      source.setChild(key, node)
      let complete = query.window(of: source)
      if let step = query.window(window, settingChild: key, to: node) {
        known += 1
        #expect(step == complete, "seed \(seed): \(query.id)")
      }
      window = complete
    }
    #expect(known > 150)
  }

  private func value(_ random: inout SeededGenerator) -> TreeScalar {
    let values: [TreeScalar] = [1, 2, 2.5, "a", "b", 3]
    return values[Int(random.next() % 6)]
  }
}
