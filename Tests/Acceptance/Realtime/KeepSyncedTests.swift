import Foundation
import TernFirebaseCompat
import Testing

@Suite struct KeepSyncedTests {
  @Test("R03 a flag that is set late is a clear error")
  func persistenceFlag() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = house.unopened("a")
    _ = db.reference()
    #expect(throws: DatabaseError.settingsFrozen("isPersistenceEnabled")) {
      try db.configure { $0.isPersistenceEnabled = true }
    }
    try await house.close()
  }

  @Test("R12 a kept location stays in sync without listeners", arguments: Setting.all)
  func kept(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let scoresRef = db.reference(withPath: "scores")
    scoresRef.keepSynced(true)
    let writer = try await house.open("b")
    try await writer.reference(withPath: "scores").setValue(["x": 1])
    try await db.waitUntilSynced("scores")
    try await writer.reference(withPath: "scores/y").setValue(2)
    try await db.waitUntilCached("scores/y")
    house.unplug("a")
    let heard = Trace()
    heard.observe(.value, of: scoresRef)
    #expect(try await heard.wait(for: 1) == ["value {x:1,y:2}"])
    try await house.close()
  }

  @Test("R13 letting go of a kept location ends its traffic", arguments: Setting.all)
  func letGo(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let scoresRef = db.reference(withPath: "scores")
    scoresRef.keepSynced(true)
    try await db.waitUntilSynced("scores")
    scoresRef.keepSynced(false)
    await house.settle(db)
    try await db.reference(withPath: "fence").setValue(1)
    let before = house.received("a")
    let writer = try await house.open("b")
    try await writer.reference(withPath: "scores").setValue(["x": 1])
    try await db.reference(withPath: "fence").setValue(2)
    #expect(!house.received("a").dropFirst(before.count).contains { $0.contains("scores") })
    try await house.close()
  }

  @Test("R14 the cache keeps 10 MB by default, between 1 MB and unlimited")
  func cacheSize() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = house.unopened("a")
    #expect(db.persistenceCacheSizeBytes == 10 * 1024 * 1024)
    try db.configure { $0.persistenceCacheSizeBytes = 1024 * 1024 }
    #expect(db.persistenceCacheSizeBytes == 1024 * 1024)
    try db.configure { $0.persistenceCacheSizeBytes = Database.cacheSizeUnlimited }
    #expect(throws: DatabaseError.cacheSizeTooSmall(1024, minimum: 1024 * 1024)) {
      try db.configure { $0.persistenceCacheSizeBytes = 1024 }
    }
    try await house.close()
  }

  @Test(
    "R15 R16 over its size the cache drops the least recently used, never what is kept",
    arguments: Setting.storages)
  func leastRecentlyUsed(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    let blob = String(repeating: "x", count: 300_000)
    for place in ["pinned", "old", "middle", "new"] {
      try await writer.reference(withPath: place).setValue(["blob": blob])
    }
    let db = try await house.open("a", cacheBytes: 1024 * 1024, patience: .seconds(20))
    db.reference(withPath: "pinned").keepSynced(true)
    try await db.waitUntilSynced("pinned")
    for place in ["old", "middle", "new"] { try await house.visit(place, with: db) }
    try await house.visit("old", with: db)
    await house.settle(db)
    house.unplug("a")
    #expect(try await db.isCached("pinned"))
    #expect(try await db.isCached("middle") == false)
    #expect(try await db.isCached("old"))
    #expect(try await db.isCached("new"))
    try await house.close()
  }
}
