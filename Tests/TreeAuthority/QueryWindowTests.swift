import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernTreeAuthority
@testable import TernTreeRows

/// A node in a store, a window of it, and what a listener shows of the window.
private struct WindowWorld {
  static let place: TreePath = "top"

  let rows = TreeRows(prefix: [0x20])
  let store = MemoryStore()
  let query: TreeQuery
  var window: QueryWindow
  var shown = TreeNode.empty
  var whole = TreeNode.empty

  init(_ query: TreeQuery) {
    self.query = query
    window = QueryWindow(query)
  }

  mutating func load() throws {
    let (rows, place) = (rows, Self.place)
    var window = window
    shown = try #require(
      try store.read { snapshot throws(StorageError) in
        try window.load(place, of: rows, in: snapshot)
      })
    self.window = window
  }

  /// Makes a write below the node, as a server does.
  mutating func write(_ entries: [TreeMerge.Entry]) throws {
    let (rows, place) = (rows, Self.place)
    for entry in entries {
      whole.setNode(entry.node, at: entry.path)
      try store.write { transaction throws(StorageError) in
        try transaction.apply(
          try rows.overwrite(place.appending(entry.path), with: entry.node, in: transaction))
      }
    }
    var window = window
    let changes = try #require(
      try store.read { snapshot throws(StorageError) in
        try window.update(entries, at: place, of: rows, in: snapshot)
      })
    self.window = window
    for change in changes { shown.setNode(change.node, at: change.path) }
  }

  /// The part of the node that the window shows, read from the store.
  func read() throws -> TreeNode {
    try #require(
      try store.read { snapshot throws(StorageError) in
        try window.shown(at: Self.place, of: rows, in: snapshot)
      })
  }
}

@Suite("windows of queries") struct QueryWindowTests {
  private static func query(using random: inout SeededGenerator) throws -> TreeQuery {
    var query = TreeQuery.all
    let order = random.roll(5)
    switch order {
    case 0: query = try query.ordered(by: .key)
    case 1: query = try query.ordered(by: .value)
    case 2: query = try query.ordered(byChild: "n")
    case 3: query = try query.ordered(byChild: "m/n")
    default: break
    }
    func bound(_ random: inout SeededGenerator) -> TreeScalar? {
      if order == 0 { return .string(["0", "5", "a", "c", "k12", "k7"][random.roll(6)]) }
      if order == 4 { return [nil, .integer(2), .string("p")][random.roll(3)] }
      return [nil, .bool(true), .integer(3), .integer(6), .string("m")][random.roll(5)]
    }
    if random.roll(3) == 0 { query = try query.starting(at: bound(&random)) }
    if random.roll(3) == 0 { query = try query.ending(at: bound(&random)) }
    switch random.roll(3) {
    case 0: query = try query.first(1 + random.roll(5))
    case 1: query = try query.last(1 + random.roll(5))
    default: break
    }
    return query
  }

  private static func key(using random: inout SeededGenerator) -> TreeKey {
    TreeKey(unchecked: ["0", "7", "a", "b", "c", "k\(random.roll(40))"][random.roll(6)])
  }

  private static func scalar(using random: inout SeededGenerator) -> TreeScalar {
    switch random.roll(5) {
    case 0: .bool(random.roll(2) == 0)
    case 1: .string(["a", "m", "z"][random.roll(3)])
    case 2: .double(Double(random.roll(20)) / 2)
    default: .integer(Int64(random.roll(9)))
    }
  }

  private static func child(using random: inout SeededGenerator) -> TreeNode {
    var node = TreeNode.empty
    switch random.roll(6) {
    case 0: return .empty
    case 1, 2: node = TreeNode(scalar(using: &random))
    default:
      node.setNode(TreeNode(scalar(using: &random)), at: "n")
      if random.roll(2) == 0 { node.setNode(TreeNode(scalar(using: &random)), at: "m/n") }
    }
    if random.roll(3) == 0 { node.setPriority(.integer(Int64(random.roll(4)))) }
    return node
  }

  private static func entry(using random: inout SeededGenerator) -> TreeMerge.Entry {
    let key = key(using: &random)
    let below: [TreeKey] =
      switch random.roll(8) {
      case 0: ["n"]
      case 1: ["m", "n"]
      case 2: ["m"]
      case 3: ["other"]
      case 4: [.priority]
      default: []
      }
    let path = TreePath([key] + below)
    if below.isEmpty { return .init(path: path, node: child(using: &random)) }
    let isGone = random.roll(4) == 0
    let value: TreeScalar =
      below == [.priority] ? .integer(Int64(random.roll(5))) : scalar(using: &random)
    return .init(path: path, node: isGone ? .empty : TreeNode(value))
  }

  @Test("after every write a listener shows what the query selects", arguments: UInt64(1)...60)
  func followed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = WindowWorld(try Self.query(using: &random))
    for _ in 0..<random.roll(60) { try world.write([Self.entry(using: &random)]) }
    try world.load()
    #expect(world.shown == world.query.window(of: world.whole), "seed \(seed), loaded")
    for step in 0..<80 {
      var entries: [TreeMerge.Entry] = []
      for _ in 0..<(1 + random.roll(3)) { entries.append(Self.entry(using: &random)) }
      // An update's paths do not contain one another.
      guard let merge = try? TreeMerge(entries) else { continue }
      try world.write(merge.entries)
      let expected = world.query.window(of: world.whole)
      try #require(world.shown == expected, "seed \(seed), step \(step): \(merge.entries)")
      try #require(try world.read() == expected, "seed \(seed), step \(step), read")
    }
  }

  @Test("a window is the same whether loaded from rows or from a node", arguments: UInt64(1)...40)
  func loads(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = WindowWorld(try Self.query(using: &random))
    for _ in 0..<60 { try world.write([Self.entry(using: &random)]) }
    try world.load()
    var other = QueryWindow(world.query)
    #expect(other.load(from: world.whole) == world.shown)
    #expect(other.shown.elementsEqual(world.window.shown))
    var keys: [TreeKey] = []
    for child in world.window.shown { keys.append(child.key) }
    for (key, _) in world.whole.children {
      #expect(world.window.shows(key) == keys.contains(key), "\(key)")
    }
  }

  @Test("children beyond the limit follow when others go, until none is left")
  func successors() throws {
    var world = WindowWorld(try TreeQuery.all.ordered(by: .value).first(2))
    for number in 0..<100 {
      try world.write([
        .init(
          path: TreePath([TreeKey(unchecked: "k\(number)")]),
          node: TreeNode(.integer(Int64(number))))
      ])
    }
    try world.load()
    for number in 0..<100 {
      #expect(world.shown == world.query.window(of: world.whole), "\(number) are gone")
      #expect(world.shown.childCount == min(2, 100 - number))
      try world.write([.init(path: TreePath([TreeKey(unchecked: "k\(number)")]), node: .empty)])
    }
    #expect(world.shown.isEmpty)
  }

  @Test(
    "writes of many children change a large window as a load does",
    arguments: [nil, TreeLimit(.first, 700), TreeLimit(.last, 1_500)], UInt64(1)...3)
  func large(limit: TreeLimit?, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let query = TreeQuery(
      order: .child("n"), start: TreeBound(.integer(100), isInclusive: true), limit: limit)
    var world = WindowWorld(query)
    func entries(_ count: Int) -> [TreeMerge.Entry] {
      let keys = Set((0..<count).map { _ in random.roll(3_000) })
      return keys.map { key in
        var node = TreeNode.empty
        if random.roll(4) > 0 {
          node.setNode(TreeNode(.integer(Int64(random.roll(1_000)))), at: "n")
        }
        return .init(path: TreePath([TreeKey(unchecked: "k\(key)")]), node: node)
      }
    }
    try world.write(TreeMerge(entries(4_000)).entries)
    try world.load()
    for count in [1_200, 3, 2_000, 400, 2_500] {
      try world.write(TreeMerge(entries(count)).entries)
      try #require(world.shown == query.window(of: world.whole), "seed \(seed), \(count)")
      #expect(world.window.shownCount == world.shown.childCount)
    }
  }

  @Test("writes to children that are not shown change nothing")
  func elsewhere() throws {
    var world = WindowWorld(try TreeQuery.all.ordered(by: .key).starting(at: .string("m")))
    try world.write([.init(path: "z", node: 1), .init(path: "a", node: 1)])
    try world.load()
    let rows = world.rows
    for entries in [
      [TreeMerge.Entry(path: "a", node: 2)], [.init(path: "a/b/c", node: 2)],
      [.init(path: TreePath([.priority]), node: 2)], [],
    ] {
      var window = world.window
      let changes = try world.store.read { snapshot throws(StorageError) in
        try window.update(entries, at: WindowWorld.place, of: rows, in: snapshot)
      }
      #expect(changes?.isEmpty == true, "\(entries)")
    }
  }
}
