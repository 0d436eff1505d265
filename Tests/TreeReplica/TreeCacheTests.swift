import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernTreeReplica
import Testing

/// A device whose replica can be restarted over the same store.
private struct Device {
  let store = MemoryStore()
  var replica: TreeReplica
  private let limitBytes: Int

  init(limitBytes: Int = TreeCache.defaultLimitBytes) throws {
    self.limitBytes = limitBytes
    let cache = try TreeCache(store: store, prefix: [7], limitBytes: limitBytes)
    replica = TreeReplica(cache: cache)
  }

  mutating func restart() throws {
    try replica.commitCache()
    let cache = try TreeCache(store: store, prefix: [7], limitBytes: limitBytes)
    replica = TreeReplica(cache: cache)
  }

  /// Listens and answers the listen as a server with `tree` would.
  @discardableResult
  mutating func sync(
    _ path: TreePath, _ query: TreeQuery = .all, with tree: TreeNode
  ) throws -> RegistrationID {
    let (id, outcome) = replica.listen(at: path, query: query, for: .value)
    try answer(outcome.starts, with: tree)
    return id
  }

  @discardableResult
  mutating func answer(_ starts: [ListenRequest], with tree: TreeNode) throws -> [TreeEvent] {
    var events: [TreeEvent] = []
    for request in starts {
      let node = request.query.window(of: tree.node(at: request.path))
      let change = ServerChange.overwrite(request.path, node)
      events += replica.applyServer(change, tag: request.tag).events
      events += replica.completeListen(request).events
    }
    try replica.commitCache()
    return events
  }

  /// Flips the rows whose value holds `text`.
  func damage(_ text: String) throws {
    try store.write { transaction throws(StorageError) in
      for row in try transaction.scan() where contains(row.value, text) {
        try transaction.put([0xFF] + row.value, for: row.key)
      }
    }
  }

  private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(text)
  }
}

private func text(_ events: [TreeEvent]) -> [String] {
  events.map { event in
    let change = event.change
    guard change.kind != .value else { return "value \(change.node.json(.export))" }
    return "\(change.kind) \(change.key?.text ?? "") after \(change.previousKey?.text ?? "nothing")"
  }
}

@Suite("The cache of the tree")
struct TreeCacheTests {
  private let dinosaurs: TreeNode = {
    var node = TreeNode.empty
    for (name, score) in [("a", 21), ("b", 22), ("c", 23), ("d", 24), ("e", 25), ("f", 26)] {
      node.setChild(TreeKey(unchecked: name), TreeNode(TreeScalar.integer(Int64(score))))
    }
    return TreeNode.empty.setting(node, at: "scores")
  }()

  /// Acceptance rows R19 to R23.
  @Test("queries that were never synced show what is known, and no value")
  func knownChildren() throws {
    var device = try Device()
    let byValue = try TreeQuery.all.ordered(by: .value)
    try device.sync("scores", byValue.last(4), with: dinosaurs)
    try device.restart()

    let two = device.replica.listen(at: "scores", query: try byValue.last(2), for: .all)
    #expect(text(two.outcome.events) == ["added e after nothing", "added f after e"])

    let six = device.replica.listen(at: "scores", query: try byValue.last(6), for: .all)
    #expect(
      text(six.outcome.events) == [
        "added c after nothing", "added d after c", "added e after d", "added f after e",
      ])
    let online = try device.answer(six.outcome.starts, with: dinosaurs)
    #expect(
      text(online) == [
        "added a after nothing", "added b after a",
        #"value {"a":21,"b":22,"c":23,"d":24,"e":25,"f":26}"#,
      ])

    let same = device.replica.listen(at: "scores", query: try byValue.last(4), for: .value)
    #expect(text(same.outcome.events) == [#"value {"c":23,"d":24,"e":25,"f":26}"#])
  }

  @Test("a complete query is complete after a restart, and so is everything in it")
  func survives() throws {
    var device = try Device()
    let tree = TreeNode.empty.setting(["x": ["y": 1], "z": 2], at: "room")
    try device.sync("room", with: tree)
    try device.restart()
    let room = device.replica.listen(at: "room", for: .value)
    #expect(text(room.outcome.events) == [#"value {"x":{"y":1},"z":2}"#])
    #expect(room.outcome.events.map(\.isFromCache) == [true])
    #expect(device.replica.cachedValue(at: "room/x") == ["y": 1])
    #expect(device.replica.cachedValue(at: "room/none") == .empty)
    #expect(device.replica.cachedValue(at: "other") == nil)
  }

  @Test("an interrupted listen claims nothing")
  func incomplete() throws {
    var device = try Device()
    let (_, outcome) = device.replica.listen(at: "room", for: .value)
    _ = device.replica.applyServer(.overwrite("room/x", 1))
    #expect(outcome.starts.count == 1)
    try device.restart()
    let room = device.replica.listen(at: "room", for: .all)
    #expect(room.outcome.events.isEmpty)
  }

  @Test("a window follows its members")
  func windowMembers() throws {
    var device = try Device()
    let query = try TreeQuery.all.ordered(by: .key).first(2)
    try device.sync("list", query, with: TreeNode.empty.setting(["b": 2, "c": 3], at: "list"))
    let tag = try #require(device.replica.tag(of: query, at: "list"))
    let entries = [("a", TreeNode(1)), ("c", .empty)].map {
      TreeMerge.Entry(path: TreePath([TreeKey(unchecked: $0.0)]), node: $0.1)
    }
    _ = device.replica.applyServer(.merge("list", entries), tag: tag)
    try device.restart()
    #expect(device.replica.cachedValue(at: "list", query: query) == ["a": 1, "b": 2])
    #expect(device.replica.cachedValue(at: "list/c") == nil)
  }

  @Test("an accepted write is kept, unless a part of it was only guessed")
  func acceptedWrites() throws {
    var device = try Device()
    let plain = device.replica.plan(.set("me/name", "Ann"), now: 5).id
    let stamped = device.replica.plan(
      .set("me/seen", TreeNode(TreeScalar.serverValue(.timestamp))), now: 5
    ).id
    _ = device.replica.acknowledge(plain, .accepted)
    _ = device.replica.acknowledge(stamped, .accepted)
    let told = device.replica.plan(
      .set("me/left", TreeNode(TreeScalar.serverValue(.timestamp))), now: 5
    ).id
    _ = device.replica.acknowledge(told, .accepted(resolved: .set("me/left", 77)))
    try device.restart()
    #expect(device.replica.cachedValue(at: "me/name") == "Ann")
    #expect(device.replica.cachedValue(at: "me/seen") == nil)
    #expect(device.replica.cachedValue(at: "me/left") == 77)
  }

  @Test("an increment counts on from what some window in the cache has")
  func incrementOnWindow() throws {
    var device = try Device()
    let tree: TreeNode = ["l": ["a": ["n": 5], "b": ["n": 9]]]
    try device.sync("l", try TreeQuery.all.first(1), with: tree)
    try device.restart()
    for path: TreePath in ["l/a/n", "l/b/n"] {
      let more = TreeNode(.serverValue(.increment(.integer(1))))
      _ = device.replica.plan(.set(path, more), now: 0)
    }
    #expect(device.replica.value(at: "l/a/n") == 6)
    #expect(device.replica.value(at: "l/b/n") == 1)
    #expect(device.replica.transactionInput(at: "l/a") == ["n": 6])
    #expect(device.replica.transactionInput(at: "l") == nil)
  }

  @Test("what is not used goes first, what is listened to stays")
  func eviction() throws {
    var device = try Device(limitBytes: 4_000)
    let filler = TreeNode(TreeScalar.string(String(repeating: "x", count: 1_000)))
    var ids: [RegistrationID] = []
    for index in 0..<6 {
      let path = item(index)
      ids.append(try device.sync(path, with: TreeNode.empty.setting(filler, at: path)))
    }
    for id in ids.dropFirst() { _ = device.replica.unlisten(id) }
    device.replica.evict()
    try device.restart()
    let left = (0..<6).filter { device.replica.cachedValue(at: item($0)) != nil }
    #expect(left == [0, 4, 5])
  }

  @Test("a part that another query needs survives")
  func protectedEviction() throws {
    var device = try Device(limitBytes: 100)
    let tree = TreeNode.empty.setting(["x": ["y": 1], "z": filler(300)], at: "room")
    let room = try device.sync("room", with: tree)
    _ = device.replica.unlisten(room)
    try device.sync("room/x", with: tree)
    device.replica.evict()
    #expect(device.replica.cachedValue(at: "room") == nil)
    try device.restart()
    #expect(device.replica.cachedValue(at: "room/x") == ["y": 1])
  }

  @Test("damage is dropped and never shown")
  func damage() throws {
    var device = try Device()
    let tree: TreeNode = ["room": ["a": "good", "b": "spoilt"], "hall": ["c": "fine"]]
    try device.sync("room", with: tree)
    try device.sync("hall", with: tree)
    try device.damage("spoilt")
    try device.restart()
    #expect(device.replica.cachedValue(at: "room") == nil)
    #expect(device.replica.cachedValue(at: "hall") == ["c": "fine"])
    try device.sync("room", with: tree)
    try device.restart()
    #expect(device.replica.cachedValue(at: "room") == ["a": "good", "b": "spoilt"])
  }

  @Test("a damaged child leaves its window")
  func damagedChild() throws {
    var device = try Device()
    let query = try TreeQuery.all.ordered(by: .key).first(2)
    let tree: TreeNode = ["list": ["a": ["t": "good"], "b": ["t": "spoilt", "u": 1]]]
    try device.sync("list", query, with: tree)
    try device.damage("spoilt")
    try device.restart()
    let list = device.replica.listen(at: "list", query: query, for: .all)
    #expect(text(list.outcome.events) == ["added a after nothing"])
  }

  private func item(_ index: Int) -> TreePath { TreePath([TreeKey(unchecked: "item\(index)")]) }

  private func filler(_ count: Int) -> TreeNode {
    TreeNode(TreeScalar.string(String(repeating: "x", count: count)))
  }
}
