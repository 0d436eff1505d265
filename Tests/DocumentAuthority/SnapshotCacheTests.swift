import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// Tests the first snapshots that a watch keeps for the next subscribers.
@Suite("kept first snapshots")
struct SnapshotCacheTests {
  private func all() throws -> DocumentQuery { .collection(try CollectionPath("c")) }

  private func world(_ count: Int, bytes: Int) throws -> WatchWorld {
    let world = try WatchWorld()
    let text = DocumentValue.string(String(repeating: "x", count: bytes))
    for number in 0..<count {
      try world.write([
        set(
          DocumentKey(unchecked: "c/\(1_000 + number)"), ["t": text, "n": .integer(Int64(number))])
      ])
    }
    return world
  }

  private func listen(
    _ world: WatchWorld, _ watch: DocumentWatch, _ target: WatchTarget, on stream: Int
  ) throws -> WatchOpening {
    try world.store.read { reader throws(StorageError) in
      try watch.listen(target, on: stream, in: reader)
    }
  }

  @Test("targets that end at once leave nothing behind")
  func once() throws {
    let world = try world(5, bytes: 1_000)
    for stream in 1...30 {
      let target = WatchTarget(id: 1, subject: .query(try all().target), isOnce: true)
      let opening = try listen(world, world.watch, target, on: stream)
      #expect(opening.body.count == 5 && opening.bodyID == nil)
    }
    #expect(world.watch.told.count == 0 && world.watch.groupCount == 0)
  }

  @Test("a snapshot is kept for its group, and goes with it")
  func groups() throws {
    let world = try world(5, bytes: 1_000)
    for stream in 1...3 {
      let target = WatchTarget(id: 1, subject: .query(try all().target))
      #expect(try listen(world, world.watch, target, on: stream).bodyID != nil)
    }
    #expect(world.watch.told.count == 1)
    for stream in 1...3 { world.watch.closeStream(stream) }
    #expect(world.watch.told.count == 0 && world.watch.told.byteCount == 0)
  }

  @Test("bytes bound what is kept, and the oldest go first")
  func bytes() throws {
    var cache = LastSnapshotCache()
    let document = try world(1, bytes: 900_000).store.document("c/1000")
    let large = WatchBody(changes: [.changed(document, targets: [], removed: [])])
    func id(_ group: Int) -> WatchBodyID {
      WatchBodyID(group: group, start: .nothing, version: .none)
    }
    for group in 1...100 {
      cache.remember(id(group), large)
      #expect(cache.byteCount <= LastSnapshotCache.bytesKept)
    }
    #expect(cache.count == 4 && cache[id(97)] != nil && cache[id(96)] == nil)
    cache.removeAll(of: 98)
    #expect(cache.count == 3 && cache[id(98)] == nil)
    for group in 101...103 { cache.remember(id(group), WatchBody(changes: [])) }
    #expect(cache[id(97)] != nil && cache.count == 6)
    let most = WatchBody(changes: Array(repeating: large.changes[0], count: 5))
    cache.remember(id(200), most)
    #expect(cache[id(200)] == nil && cache.count == 6)
    cache.removeAll()
    #expect(cache.count == 0 && cache.byteCount == 0)
  }

  @Test("a resumed query with a limit is told no more than its limit of bytes")
  func windows() throws {
    let world = try world(20, bytes: 1_000)
    let query = try all().first(15)
    let first = WatchTarget(id: 1, subject: .query(query.target))
    let opening = try listen(world, world.watch, first, on: 1)
    guard case .target(let current)? = opening.tail.last else {
      Issue.record("no CURRENT")
      return
    }
    try world.write([.delete("c/1003"), set("c/1004", ["t": "new"])])
    let resumed = WatchTarget(
      id: 1, subject: .query(query.target), resume: .token(current.resumeToken))
    // What has changed is small, whatever the rest takes.
    var limits = DocumentWatchLimits()
    limits.openingBytes = 3_000
    let watch = DocumentWatch(world.store.authority, limits: limits)
    let changes = try listen(world, watch, resumed, on: 1).body
    #expect(changes.count == 3)
    let keys: [DocumentKey] = changes.compactMap { change in
      switch change {
      case .changed(let document, _, _): document.key
      case .deleted(let key, _, _), .removed(let key, _, _): key
      case .target, .filter: nil
      }
    }
    #expect(keys == ["c/1003", "c/1004", "c/1015"])
    let text = DocumentValue.string(String(repeating: "y", count: 1_000))
    for number in 1_000..<1_010 {
      try world.write([set(DocumentKey(unchecked: "c/\(number)"), ["t": text])])
    }
    let refused = try listen(world, watch, resumed, on: 2)
    #expect(refused.group == nil && refused.body.isEmpty)
  }

  @Test("a client that has missed more than one message may have is told what there is now")
  func manyMissed() throws {
    let world = try world(20, bytes: 1_000)
    let query = try all()
    let first = WatchTarget(id: 1, subject: .query(query.target))
    let opening = try listen(world, world.watch, first, on: 1)
    guard case .target(let current)? = opening.tail.last else {
      Issue.record("no CURRENT")
      return
    }
    let text = DocumentValue.string(String(repeating: "y", count: 1_000))
    let keys = (1_000..<1_020).map { DocumentKey(unchecked: "c/\($0)") }
    for key in keys { try world.write([set(key, ["t": text])]) }
    let resumed = WatchTarget(
      id: 1, subject: .query(query.target), resume: .token(current.resumeToken))
    var limits = DocumentWatchLimits()
    limits.openingBytes = 3_000
    let watch = DocumentWatch(world.store.authority, limits: limits)
    #expect(try listen(world, watch, resumed, on: 2).group == nil)
    // All but one are deleted: the changes are still many, the result is small.
    for key in keys.dropLast() { try world.write([.delete(key)]) }
    for key in keys.dropLast() { try world.write([set(key, ["t": text]), .delete(key)]) }
    let told = try listen(world, watch, resumed, on: 3)
    #expect(told.group != nil)
  }

  @Test("what was read ahead for a time in the future serves for a later one")
  func futureTime() throws {
    let start = { (microseconds: Int64) in
      WatchBodyID.Start.version(DocumentVersion(microseconds: microseconds))
    }
    #expect(start(3).covers(start(3)) && start(3).covers(start(5)) && !start(5).covers(start(3)))
    #expect(WatchBodyID.Start.nothing.covers(.nothing))
    #expect(!WatchBodyID.Start.nothing.covers(start(3)) && !start(3).covers(.nothing))
  }
}
