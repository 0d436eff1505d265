import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernTestKit
import Testing

/// The size of the cache, the order of eviction, and the speed of lookups.
@Suite struct DocumentCacheTests {
  /// Puts documents of ten kilobytes on the server.
  private func seed(_ house: DocumentHouse, _ collection: String, count: Int) async throws {
    let server = try await house.inspector()
    var batch = server.batch()
    for number in 0..<count {
      let text = String(repeating: "\(number % 10)", count: 10_000)
      batch.set(
        server.document("\(collection)/d\(number)"),
        to: ["text": .value(.string(text)), "n": .value(.integer(Int64(number)))])
    }
    try await batch.commit().acknowledged()
  }

  @Test(
    "F15 above its limit the cache forgets what was not used for longest, nothing that is needed",
    arguments: Setting.storages)
  func collected(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    for (name, count) in [("oldest", 40), ("live", 40), ("edited", 20), ("newest", 30)] {
      try await seed(house, name, count: count)
    }
    let clock = ManualClock()
    let db = try await house.open("a", clock: clock) {
      $0.documentCacheLimitBytes = ClientLimits.cacheBytes
    }
    func read(_ collection: String) async throws -> Int {
      try await db.collection(collection).get(from: .server).count
    }
    #expect(try await read("oldest") == 40)
    let heard = Trace()
    let listening = heard.listen(db.collection("live").where("n", .greaterThanOrEqual, 0))
    try await heard.wait { !($0.last ?? "from cache").hasSuffix("from cache") }
    #expect(try await read("edited") == 20)
    #expect(try await read("newest") == 30)
    await db.goOffline()
    for number in 0..<20 { try await db.document("edited/d\(number)").update(["n": -1]) }
    #expect(await db.cacheBytes > ClientLimits.cacheBytes)
    // A minute after the start the device looks after its cache.
    clock.advance(by: .seconds(60))
    let deadline = ContinuousClock.now.advanced(by: .seconds(300))
    while await db.cacheBytes >= ClientLimits.cacheBytes, ContinuousClock.now < deadline {
      await Task.yield()
    }
    #expect(await db.cacheBytes < ClientLimits.cacheBytes)
    #expect(try await db.collection("live").get(from: .cache).count == 40)
    #expect(try await db.collection("edited").get(from: .cache).count == 20)
    let (oldest, newest) = (
      try await db.collection("oldest").get(from: .cache).count,
      try await db.collection("newest").get(from: .cache).count
    )
    #expect(oldest < 40)
    #expect(newest == 30)
    listening.cancel()
    try await house.close()
  }

  @Test(
    "the defaults, and a cache without a limit that no timer cleans", arguments: Setting.storages)
  func unlimited(setting: Setting) async throws {
    #expect(ClientOptions().documentCacheLimitBytes == 100 * 1_048_576)
    #expect(ClientOptions().cacheLimitBytes == 10 * 1_048_576)
    #expect(ClientLimits.cacheBytes == 1_048_576)
    let house = try await DocumentHouse(setting)
    try await seed(house, "all", count: 150)
    let clock = ManualClock()
    let db = try await house.open("a", clock: clock) { $0.documentCacheLimitBytes = nil }
    #expect(try await db.collection("all").get(from: .server).count == 150)
    await db.goOffline()
    let before = await db.cacheBytes
    #expect(before > ClientLimits.cacheBytes)
    for _ in 1...3 {
      clock.advance(by: .seconds(300))
      await Task.yield()
    }
    // The session takes its timers and this question in one order.
    #expect(try await db.collection("all").get(from: .cache).count == 150)
    #expect(await db.cacheBytes == before)
    try await house.close()
  }

  @Test(
    "F29 an offline query looks at what it finds, not at the whole collection, by default",
    arguments: Setting.storages)
  func sublinear(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    let clock = ManualClock()
    let db = try await house.open("a", clock: clock)
    let server = try await house.inspector()
    func grow(from first: Int, to end: Int) async throws {
      var batch = server.batch()
      for number in first..<end {
        batch.set(
          server.document("n/\(number)"), to: ["hundreds": .value(.integer(Int64(number / 10)))])
      }
      try await batch.commit().acknowledged()
      #expect(try await db.collection("n").get(from: .server).count == end)
    }
    try await grow(from: 0, to: 1_500)
    await db.goOffline()
    let query = db.collection("n").where("hundreds", .equals, 7)
    // Once, the cost of looking at everything is paid; that begins an index.
    #expect(try await query.get().count == 10)
    let deadline = ContinuousClock.now.advanced(by: .seconds(300))
    while await !db.indexes.areComplete, ContinuousClock.now < deadline {
      clock.advance(by: .seconds(15))
      await Task.yield()
    }
    let plan = try await query.explain()
    #expect(plan.strategy == .index)
    #expect(plan.documentsRead == 10)
    await db.goOnline()
    try await grow(from: 1_500, to: 3_000)
    await db.goOffline()
    #expect(try await query.explain().documentsRead == 10)
    #expect(try await query.get().count == 10)
    try await house.close()
  }
}
