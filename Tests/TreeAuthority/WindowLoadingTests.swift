import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernTreeAuthority
@testable import TernTreeRows

@Suite("Windows that are loaded from rows") struct WindowLoadingTests {
  private let rows = TreeRows(prefix: [0x20, 0x00])

  private func store(_ node: TreeNode) throws -> MemoryStore {
    let store = MemoryStore()
    try store.write { transaction throws(StorageError) in
      try transaction.apply(try rows.overwrite("top", with: node, in: transaction))
    }
    return store
  }

  /// Loads a window, and returns what it shows.
  private func load(
    _ query: TreeQuery, from store: MemoryStore, limitBytes: Int = .max,
    whenKept: (Int, Int) -> Void = { _, _ in }
  ) throws -> TreeNode? {
    try store.read { snapshot throws(StorageError) in
      var window = QueryWindow(query)
      return try window.load(
        "top", of: rows, limitBytes: limitBytes, in: snapshot, whenKept: whenKept)
    }
  }

  @Test(
    "a bound by key that is the key of no child is no damage, and selects by order",
    arguments: [
      ".priority", "\u{1}", "\u{10}", "\u{11}", "\u{1F}x", "a\u{0}b", "7\u{0}", "a.", "!", "é",
      "7", "07", "-3", "\u{FFFF}",
    ])
  func foreignBounds(text: String) throws {
    var node: TreeNode = [
      "-3": 1, "7": ["x": 1, "y": ["z": true]], "!": 2, "a": ["b": 1, "c": 2], "zz": 4,
      "\u{FFFE}": 5,
    ]
    node.setPriority(3)
    let store = try store(node)
    for isInclusive in [true, false] {
      let bound = TreeBound(.string(text), isInclusive: isInclusive)
      for limit in [nil, TreeLimit(.first, 2), TreeLimit(.last, 2)] {
        for query in [
          TreeQuery(order: .key, start: bound, limit: limit),
          TreeQuery(order: .key, end: bound, limit: limit),
        ] {
          var expected = QueryWindow(query)
          #expect(try load(query, from: store) == expected.load(from: node))
        }
      }
    }
  }

  @Test("a window keeps no more than the limit, whatever it has to look at")
  func bounds() throws {
    var node = TreeNode.empty
    for number in 0..<40 {
      let text = String(repeating: "x", count: 1_000)
      node.setNode(
        ["n": TreeNode(.integer(Int64(39 - number))), "text": TreeNode(.string(text))],
        at: TreePath([try TreeKey("k\(number)")]))
    }
    let store = try store(node)
    let byKey = try TreeQuery.all.ordered(by: .key)
    let byChild = try TreeQuery.all.ordered(by: .child("n"))
    for query in try [byKey.starting(at: .string("k")), byChild.starting(at: .integer(0))] {
      var most = 0
      #expect(try load(query, from: store, limitBytes: 10_000) { most = max(most, $1) } == nil)
      #expect((5_000..<12_000).contains(most))
      #expect(try load(query, from: store, limitBytes: 100_000) == node)
    }
    // Each child takes the place of one before it.
    var kept: [Int] = []
    let few = try load(byChild.first(3), from: store, limitBytes: 5_000) { rows, _ in
      kept.append(rows)
    }
    #expect(few?.children.map(\.key.text) == ["k37", "k38", "k39"])
    #expect(kept.max() == 6, "two rows a child, and only of the children that are shown")
  }

  @Test("a child that is too large is looked at, and fails a window that would show it alone")
  func largeChild() throws {
    let large = TreeNode(.string(String(repeating: "x", count: 5_000)))
    let store = try store(["a": ["n": 3, "t": large], "b": ["n": 1], "c": ["n": 2]])
    let byChild = try TreeQuery.all.ordered(by: .child("n"))
    #expect(
      try load(byChild.first(2), from: store, limitBytes: 500) == ["b": ["n": 1], "c": ["n": 2]])
    #expect(try load(byChild.last(2), from: store, limitBytes: 500) == nil)
    #expect(try load(byChild.ending(at: .integer(2)), from: store, limitBytes: 500) != nil)
    let byKey = try TreeQuery.all.ordered(by: .key)
    #expect(try load(byKey.last(2), from: store, limitBytes: 500) != nil)
    #expect(try load(byKey.last(3), from: store, limitBytes: 500) == nil)
  }

  @Test("a filled window is shown up to the limit")
  func shown() throws {
    let node: TreeNode = ["a": ["n": 3, "t": "some text"], "b": ["n": 1], "c": ["n": 2]]
    let store = try store(node)
    for order in [TreeOrder.key, .child("n")] {
      var window = QueryWindow(try TreeQuery.all.ordered(by: order).first(10))
      let window2 = try store.read { snapshot throws(StorageError) in
        _ = try window.load("top", of: rows, in: snapshot)
        return window
      }
      try store.read { snapshot throws(StorageError) in
        let all = try window2.shown(at: "top", of: rows, limitBytes: 1_000, in: snapshot)
        #expect(all == node)
        let some = try window2.shown(at: "top", of: rows, limitBytes: 20, in: snapshot)
        #expect(some == nil)
      }
    }
  }
}
