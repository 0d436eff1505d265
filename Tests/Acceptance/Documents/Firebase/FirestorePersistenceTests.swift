import Foundation
import TernClient
import TernDocumentReplica
import TernQuery
import Testing

@testable import TernFirebaseCompat

@Suite struct FirestorePersistenceTests {
  @Test(
    "F05 persistence is on by default: what was read and written is there after a restart offline",
    arguments: Setting.all)
  func onByDefault(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    try await writer.document("cities/SF").setData(["state": "CA"])
    let db = try house.firestore("a")
    #expect(try await db.document("cities/SF").getDocument().metadata.isFromCache == false)
    try house.desk("a").cable.unplug()
    now { db.document("cities/LA").setData(["state": "CA"]) }
    #expect(try await db.document("cities/LA").getDocument(source: .cache).exists)
    let again = try await house.restartFirestore("a")
    let found = try await again.collection("cities").getDocuments()
    #expect(found.metadata.isFromCache)
    #expect(found.documents.map(\.documentID) == ["LA", "SF"])
    #expect(found.documents.map(\.metadata.hasPendingWrites) == [true, false])
    try house.desk("a").cable.plug()
    try await again.enableNetwork()
    try await again.waitForPendingWrites()
    #expect(try await writer.document("cities/LA").getDocument(source: .server).exists)
    try await house.close()
  }

  @Test(
    "F10 a memory cache is empty at the start; the flag says which it is, both ways",
    arguments: Setting.storages)
  func memoryIsEmpty(setting: Setting) async throws {
    let house = try await House(setting)
    let choices: [(isKept: Bool, @Sendable (FirestoreSettings) -> Void)] = [
      (false, { $0.isPersistenceEnabled = false }),
      (true, { $0.isPersistenceEnabled = true }),
      (
        false,
        {
          $0.cacheSettings =
            MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings())
        }
      ),
      (false, { $0.cacheSettings = MemoryCacheSettings() }),
      (true, { $0.cacheSettings = PersistentCacheSettings() }),
    ]
    for (index, (isKept, choose)) in choices.enumerated() {
      let name = "client\(index)"
      let db = try house.firestore(name, choose: choose)
      try await db.document("cities/SF").setData(["state": "CA"])
      _ = try await db.document("cities/SF").getDocument(source: .server)
      try house.desk(name).cable.unplug()
      let again = try await house.restartFirestore(name)
      let isThere = try? await again.document("cities/SF").getDocument(source: .cache).exists
      #expect((isThere ?? false) == isKept, "\(name)")
    }
    try await house.close()
  }

  /// Twenty documents of 100 kB, and how many of them are still cached after the clean-up.
  private func keptOfTwoMegabytes(
    _ house: House, _ name: String, _ choose: @escaping @Sendable (FirestoreSettings) -> Void
  ) async throws -> [Int] {
    let db = try house.firestore(name, choose: choose)
    for index in 0..<20 {
      _ = try await db.document("big/\(index)").getDocument(source: .server)
    }
    try await db.disableNetwork()
    let documents = try await db.native()
    _ = await documents.session.withReplica { $0.cache.evict() }
    var kept: [Int] = []
    for index in 0..<20 {
      let document = try? await db.document("big/\(index)").getDocument(source: .cache)
      if document?.exists ?? false { kept.append(index) }
    }
    return kept
  }

  @Test(
    "F10 over its size, here 1 MiB, a cache forgets what was not used for longest",
    arguments: Setting.storages)
  func cleaning(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    let text = String(repeating: "x", count: 100_000)
    for index in 0..<20 { try await writer.document("big/\(index)").setData(["text": text]) }
    let megabyte = 1024 * 1024 as NSNumber
    let disk = try await keptOfTwoMegabytes(house, "disk") {
      $0.cacheSettings = PersistentCacheSettings(sizeBytes: megabyte)
    }
    #expect(disk.count < 20)
    #expect(disk == Array((20 - disk.count)..<20))
    let memory = try await keptOfTwoMegabytes(house, "memory") {
      $0.cacheSettings = MemoryCacheSettings(
        garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: megabyte))
    }
    #expect(memory == disk)
    let eager = try await keptOfTwoMegabytes(house, "eager") {
      $0.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryEagerGCSetting())
    }
    #expect(eager.isEmpty)
    try await house.close()
  }

  @Test("F14 D05 an unlimited cache keeps what the default size would not")
  func unlimited() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let writer = try house.firestore("writer")
    // 110 documents of 1 MB are more than the default of 100 MiB.
    let (count, megabyte) = (110, Data(repeating: 120, count: 1_000_000))
    for index in 0..<count {
      try await writer.document("big/\(index)").setData(["data": megabyte])
    }
    var kept: [String: Int] = [:]
    for name in ["default", "unlimited"] {
      let db = try house.firestore(name) { settings in
        if name == "unlimited" { settings.cacheSizeBytes = FirestoreCacheSizeUnlimited }
      }
      for index in 0..<count {
        _ = try await db.document("big/\(index)").getDocument(source: .server)
      }
      try await db.disableNetwork()
      let documents = try await db.native()
      _ = await documents.session.withReplica { $0.cache.evict() }
      for index in 0..<count {
        let document = try? await db.document("big/\(index)").getDocument(source: .cache)
        if document?.exists ?? false { kept[name, default: 0] += 1 }
      }
    }
    #expect(kept["unlimited"] == count)
    #expect((50..<105).contains(kept["default"] ?? 0), "\(kept)")
    try await house.close()
  }

  @Test(
    "F26 offline, a document that is not cached is an error at once, and a query is empty",
    arguments: Setting.storages)
  func uncached(setting: Setting) async throws {
    let house = try await House(setting)
    let unplugged = try house.firestore("unplugged", online: false)
    let disabled = try house.firestore("disabled")
    try await disabled.disableNetwork()
    for db in [unplugged, disabled] {
      let start = ContinuousClock.now
      do {
        _ = try await db.document("cities/SF").getDocument()
        Issue.record("there is no such document")
      } catch let error as NSError {
        #expect(error.domain == FirestoreErrorDomain)
        #expect(error.code == FirestoreErrorCode.unavailable.rawValue)
      }
      // No test step waited until the connection was given up, which takes a minute on this clock.
      #expect(ContinuousClock.now - start < .seconds(40))
      let empty = try await db.collection("cities").getDocuments()
      #expect(empty.isEmpty)
      #expect(empty.metadata.isFromCache)
    }
    try await house.close()
  }
}
