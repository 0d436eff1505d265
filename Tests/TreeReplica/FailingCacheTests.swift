import TernCore
import TernQuery
import TernStorage
import TernTestKit
import Testing

@testable import TernTreeReplica

@Suite("the cache of a tree whose store fails") struct FailingCacheTests {
  private let disk = FaultyDisk()

  private func open(limitBytes: Int = TreeCache.defaultLimitBytes) throws -> TreeCache {
    try TreeCache(store: disk.open(), prefix: [7], limitBytes: limitBytes)
  }

  /// Keeps data as the server confirms it for a listen.
  private func keep(_ node: TreeNode, at path: TreePath, in cache: inout TreeCache) {
    cache.setActive(true, .all, at: path)
    cache.overwrite(node, at: path, from: .push)
    cache.markRewritten(.all, at: path)
    cache.markComplete(.all, at: path)
  }

  /// The data of the default query at a path, if the cache says that it is complete.
  private func whole(_ path: TreePath, in cache: inout TreeCache) -> TreeNode? {
    let loaded = cache.load(.all, at: path)
    return loaded.isComplete ? loaded.node : nil
  }

  /// The key of a leaf's row.
  private func row(_ path: TreePath) -> [UInt8] {
    [7, 2] + path.keys.flatMap { Array($0.text.utf8) + [0] }
  }

  private func text(_ count: Int) -> TreeNode {
    TreeNode(TreeScalar.string(String(repeating: "x", count: count)))
  }

  @Test("what it cannot store does not pile up, and is not tried every time")
  func bounded() throws {
    var cache = try open()
    keep(["x": 1], at: "a", in: &cache)
    try cache.commit()
    disk.fill()
    var failures = 0
    for number in 0..<1_000 {
      cache.overwrite(TreeNode(.integer(Int64(number))), at: "a/x", from: .push)
      do { try cache.commit() } catch { failures += 1 }
      #expect(cache.changes.count <= 2)
    }
    #expect((1...30).contains(failures))
  }

  @Test("a listener's data is not complete after a loss, before its data is written again")
  func lostPush() throws {
    var cache = try open()
    keep(["x": 1, "y": 1], at: "a", in: &cache)
    keep(["z": 1], at: "b", in: &cache)
    try cache.commit()
    disk.fill()
    cache.overwrite(2, at: "a/x", from: .push)
    #expect(throws: StorageError.diskFull) { try cache.commit() }
    disk.free()
    cache.overwrite(3, at: "a/y", from: .push)
    try cache.commit()
    #expect(cache.needsRewrite(.all, at: "a") && !cache.needsRewrite(.all, at: "b"))
    var next = try open()
    var data = (["a", "b"] as [TreePath]).map { whole($0, in: &next) }
    #expect(data == [nil, ["z": 1]])
    keep(["x": 2, "y": 3], at: "a", in: &next)
    try next.commit()
    data = (["a", "b"] as [TreePath]).map { whole($0, in: &next) }
    #expect(data == [["x": 2, "y": 3], ["z": 1]])
  }

  @Test("as long as nothing is stored behind a loss, the store is as it was")
  func staysAsItWas() throws {
    var cache = try open()
    keep(["x": 1], at: "a", in: &cache)
    try cache.commit()
    disk.fill()
    cache.overwrite(2, at: "a/x", from: .push)
    #expect(throws: StorageError.diskFull) { try cache.commit() }
    var next = try open()
    let data = whole("a", in: &next)
    #expect(data == ["x": 1])
  }

  @Test("a window does not name children whose data was lost")
  func lostWindow() throws {
    var cache = try open()
    let query = try TreeQuery.all.ordered(by: .key).first(2)
    cache.setActive(true, query, at: "l")
    for key in ["a", "b"] as [TreeKey] {
      cache.overwrite(["t": 1, "u": 1], at: TreePath(["l", key]), from: .push)
    }
    cache.replaceWindow(of: query, at: "l", keys: ["a", "b"])
    cache.markRewritten(query, at: "l")
    cache.markComplete(query, at: "l")
    try cache.commit()
    #expect(cache.load(query, at: "l").isComplete)
    disk.fill()
    cache.overwrite(2, at: "l/a/t", from: .push)
    #expect(throws: StorageError.diskFull) { try cache.commit() }
    disk.free()
    cache.overwrite(2, at: "l/a/u", from: .push)
    try cache.commit()
    var next = try open()
    #expect(!next.load(query, at: "l").isComplete)
    #expect(next.known(at: "l/a") == nil)
  }

  @Test("reading needs no space: a program that was ended while it listened finds its data")
  func reading() throws {
    var cache = try open()
    keep(["x": 1], at: "a", in: &cache)
    try cache.commit()
    disk.fill()
    var next = try open()
    #expect(next.known(at: "a/x") == 1)
    next.setActive(true, .all, at: "a")
    next.setActive(true, .all, at: "b")
    let data = (["a", "b"] as [TreePath]).map { whole($0, in: &next) }
    #expect(data == [["x": 1], nil])
  }

  @Test("an eviction needs no space but its own")
  func evictionOnFullDisk() throws {
    var cache = try open(limitBytes: 500)
    keep(text(400), at: "a", in: &cache)
    try cache.commit()
    cache.setActive(false, .all, at: "a")
    keep(text(400), at: "b", in: &cache)
    try cache.commit()
    #expect(cache.byteCount > 500)
    disk.fill(holdingBack: 1_000)
    cache.setActive(true, .all, at: "c")
    cache.evict()
    #expect(cache.byteCount <= 500)
    #expect(cache.find(.all, at: "a") == nil && cache.find(.all, at: "b") != nil)
    var next = try open()
    let data = (["a", "b"] as [TreePath]).map { whole($0, in: &next) }
    #expect(data == [nil, text(400)])
  }

  @Test("a query whose eviction fails is known, and its rows stay with it")
  func failedEviction() throws {
    var cache = try open(limitBytes: 500)
    let node = TreeNode.empty.setting(text(300), at: "x").setting(text(300), at: "y")
    keep(node, at: "a", in: &cache)
    cache.setActive(true, .all, at: "a/x")
    cache.markComplete(.all, at: "a/x")
    try cache.commit()
    cache.setActive(false, .all, at: "a")
    cache.setActive(false, .all, at: "a/x")
    try cache.commit()
    disk.fill()
    cache.evict()
    #expect(cache.find(.all, at: "a") != nil)
    disk.free()
    cache.evict()
    var next = try open()
    let data = (["a", "a/x"] as [TreePath]).map { whole($0, in: &next) }
    #expect(data == [nil, text(300)])
  }

  @Test("two records of one query are damage: neither is believed")
  func twoRecords() throws {
    var cache = try open()
    keep(["x": 1], at: "a", in: &cache)
    try cache.commit()
    let record = try #require(cache.find(.all, at: "a"))
    try cache.store.write { transaction throws(StorageError) in
      try transaction.put(record.record, for: cache.keys.query(record.id + 9))
    }
    var next = try open()
    let data = whole("a", in: &next)
    #expect(data == nil && next.byteCount == 0)
  }

  @Test("rows that are dropped take the completeness of their queries with them, at once")
  func dropIsWhole() throws {
    var cache = try open()
    let query = try TreeQuery.all.ordered(by: .key).first(2)
    keep(["p": 1, "q": 1], at: "a", in: &cache)
    cache.setActive(true, query, at: "l")
    for key in ["a", "b"] as [TreeKey] {
      cache.overwrite(["t": 1], at: TreePath(["l", key]), from: .push)
    }
    cache.replaceWindow(of: query, at: "l", keys: ["a", "b"])
    try cache.commit()
    disk.corrupt(row("a/p"))
    disk.corrupt(row("l/a/t"))
    #expect(cache.known(at: "a/p") == nil)
    #expect(cache.known(at: "l/a") == nil)
    // The program ends before anything else is stored.
    var next = try open()
    let data = whole("a", in: &next)
    #expect(data == nil)
    #expect(next.known(at: "l/a") == nil)
    #expect(next.known(at: "l/b") == ["t": 1])
  }
}
