import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Laws of tree queries")
struct TreeQueryPropertyTests {
  static let scalars: [TreeScalar?] = [
    nil, false, true, .integer(.min), -0x1p63, -1, -0.5, -0.0, 0, 0.0, 5e-324, 1, 1.0, 2,
    .integer(1 << 53), 0x1p53, .integer(1 << 53 + 1), .integer(.max), 0x1p63, "", "a",
    "abcdefgh", "abcdefgi", "abcdefg", "\u{FFFF}", "\u{10000}",
  ]
  static let keys = ["0", "5", "10", "-3", "a", "b", "\u{E9}", "\u{FFFF}"].map {
    TreeKey(unchecked: $0)
  }

  private func query(using random: inout SeededGenerator, limited: Bool = true) -> TreeQuery {
    let child = TreePath([TreeKey(unchecked: "v")])
    let order = [TreeOrder.key, .priority, .value, .child(child)][random.roll(4)]
    func bound() -> TreeBound? {
      if random.roll(2) == 0 { return nil }
      let key = Self.keys[random.roll(Self.keys.count)]
      let isInclusive = random.roll(2) == 0
      if order == .key { return TreeBound(.string(key.text), isInclusive: isInclusive) }
      let value = Self.scalars[random.roll(Self.scalars.count)]
      return TreeBound(value, key: random.roll(2) == 0 ? key : nil, isInclusive: isInclusive)
    }
    let limit = TreeLimit(random.roll(2) == 0 ? .first : .last, 1 + random.roll(5))
    return TreeQuery(
      order: order, start: bound(), end: bound(),
      limit: limited && random.roll(2) == 0 ? limit : nil)
  }

  private func source(using random: inout SeededGenerator) -> TreeNode {
    var node = TreeNode.empty
    for _ in 0..<random.roll(40) {
      let key =
        random.roll(2) == 0
        ? Self.keys[random.roll(Self.keys.count)] : TreeKey(unchecked: String(random.roll(30)))
      let scalar = Self.scalars[random.roll(Self.scalars.count)] ?? "x"
      let priority = Self.scalars[random.roll(Self.scalars.count)].flatMap {
        scalar -> TreeScalar? in
        scalar.isValidPriority ? scalar : nil
      }
      let child: TreeNode = random.roll(2) == 0 ? ["v": TreeNode(scalar)] : TreeNode(scalar)
      node.setChild(key, child.withPriority(random.roll(2) == 0 ? priority : nil))
    }
    return node
  }

  @Test("a query is read back from its wire object, which names it", arguments: UInt64(1)...20)
  func wire(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let queries = (0..<25).map { _ in query(using: &random) }
    for left in queries where !left.loadsAllData {
      #expect(try TreeQuery(wire: JSONValue(parsing: left.id)) == left, "\(left.id)")
      for right in queries where !right.loadsAllData {
        // One text for two queries would give one listener the other's window.
        #expect((ExactText(left.id) == ExactText(right.id)) == isAlike(left, right), "\(left.id)")
      }
    }
  }

  /// True of two queries that are one under several texts: numbers have several spellings.
  private func isAlike(_ left: TreeQuery, _ right: TreeQuery) -> Bool {
    left == right && spelling(left) == spelling(right)
  }

  private func spelling(_ query: TreeQuery) -> [String] {
    [query.start, query.end].map { $0?.value.map { $0.json() } ?? "" }
  }

  @Test("a window of a window is the window", arguments: UInt64(1)...30)
  func idempotence(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let (query, node) = (query(using: &random), source(using: &random))
      let window = query.window(of: node)
      #expect(query.window(of: window) == window, "\(query.id)")
      for (key, child) in window.children {
        #expect(node.child(key) == child)
        #expect(query.contains(key: key, node: child))
      }
    }
  }

  @Test("the first and the last of a range are its ends", arguments: UInt64(1)...20)
  func limits(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let (range, node) = (query(using: &random, limited: false), source(using: &random))
      let keys = node.children.filter { range.contains(key: $0.key, node: $0.node) }.sorted {
        range.order.compare($0, $1) < 0
      }.map(\.key)
      for count in 1...max(1, keys.count + 1) {
        for side in [TreeLimit.Side.first, .last] {
          let query = TreeQuery(
            order: range.order, start: range.start, end: range.end, limit: TreeLimit(side, count))
          let expected = side == .first ? keys.prefix(count) : keys.suffix(count)
          let found = query.ordered(query.window(of: node)).map(\.key)
          #expect(found == Array(expected), "\(query.id)")
        }
      }
    }
  }

  @Test("a bound parts the children in two", arguments: UInt64(1)...30)
  func bounds(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let (query, node) = (query(using: &random), source(using: &random))
      guard let bound = query.start else { continue }
      let before = TreeQuery(
        order: query.order,
        end: TreeBound(bound.value, key: bound.key, isInclusive: !bound.isInclusive))
      let behind = TreeQuery(order: query.order, start: bound)
      for (key, child) in node.children {
        let isBefore = before.contains(key: key, node: child)
        #expect(isBefore != behind.contains(key: key, node: child), "\(query.id): \(key)")
      }
    }
  }

  @Test("rows sort as the order says, by their prefixes and without", arguments: 0..<4)
  func rows(kind: Int) {
    let order = [TreeOrder.key, .priority, .value, .child(TreePath([TreeKey(unchecked: "v")]))][
      kind]
    var elements: [ChildMap.Element] = []
    for (index, scalar) in Self.scalars.enumerated() {
      let key = TreeKey(unchecked: String(index % 3))
      let leaf = scalar.map { TreeNode($0) } ?? ["w": 1]
      let priority = scalar.flatMap { $0.isValidPriority ? $0 : nil }
      elements.append((key, order == .priority ? TreeNode(1, priority: priority) : leaf))
      elements.append((key, ["v": leaf]))
    }
    for left in elements {
      for right in elements {
        let expected = order.compare(left, right).signum()
        #expect(TreeRow(left, order).compare(TreeRow(right, order)).signum() == expected)
        #expect(order.compare(right, left).signum() == -expected)
      }
    }
  }

  @Test(
    "limits of counts",
    arguments: [
      (0, false), (1, true), (Int(Int32.max), true), (Int(Int32.max) + 1, false), (.min, false),
      (.max, false),
    ] as [(Int, Bool)])
  func counts(count: Int, isAllowed: Bool) throws {
    for build in [TreeQuery.all.first, TreeQuery.all.last] {
      if isAllowed {
        #expect(try build(count).limit?.count == count)
      } else {
        #expect(throws: TreeQueryError.limitOutOfRange(count)) { try build(count) }
      }
    }
    let wire = JSONValue.object([.init("l", .integer(Int64(count))), .init("vf", .string("r"))])
    if isAllowed {
      #expect(try TreeQuery(wire: wire).limit == TreeLimit(.last, count))
    } else {
      #expect(throws: TreeQueryError.limitOutOfRange(count)) { try TreeQuery(wire: wire) }
    }
  }
}
