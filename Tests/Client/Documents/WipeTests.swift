import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernStorage
import TernStorageMemory
import TernSync
import TernTestKit
import Testing

/// Forgetting everything, and going on without a cache.
@Suite("Wiping and doing without")
struct WipeTests {
  /// The stores of one device, on disks that can break.
  private struct Device {
    let disks = (0..<4).map { _ in FaultyDisk() }

    func parts(_ home: Home) throws -> ClientParts {
      let stores = disks.map { $0.open() }
      var parts = ClientParts(queue: stores[0], cache: stores[1], transport: home.transport)
      parts.documents = DocumentParts(
        database: try DocumentDatabase(projectID: "demo"), queue: stores[2], cache: stores[3])
      return parts
    }

    func open(
      _ home: Home, _ report: @escaping @Sendable (ClientNotice) -> Void = { _ in }
    ) throws -> TernDatabase {
      var options = ClientOptions()
      options.syncsInBackground = false
      options.report = report
      return try TernDatabase.open(try parts(home), options: options, ambient: .patient)
    }

    /// Returns the number of rows in each store that are not its own bookkeeping.
    func rows() throws -> [Int] {
      try disks.map { disk in
        try disk.open().read { snapshot throws(StorageError) in try snapshot.scan().count }
      }
    }
  }

  private func fill(_ device: Device, _ home: Home) async throws {
    let tern = try device.open(home)
    try await tern.documents.document("a/1").set(["n": 1]).acknowledged()
    _ = try await tern.documents.collection("a").get(from: .server)
    await tern.documents.goOffline()
    try await tern.documents.document("a/2").set(["n": 2])
    await tern.tree.goOffline()
    try await tern.tree["x"].set(1)
    await tern.close()
  }

  @Test(
    "a wipe forgets everything or nothing, wherever the machine stops", .timeLimit(.minutes(10)),
    arguments: [true, false], 0..<5)
  func allOrNothing(isDurable: Bool, step: Int) async throws {
    let home = try await Home()
    let device = Device()
    try await fill(device, home)
    // The tree had no listener: its cache is empty.
    #expect(try device.rows().map { $0 > 0 } == [true, false, true, true])
    let tern = try device.open(home)
    await tern.documents.goOffline()
    await tern.tree.goOffline()
    // The mark, the caches, the queue of documents, the queue.
    let disk = device.disks[[0, 1, 3, 2, 0][step]]
    disk.inject(.crash(isDurable: isDurable), after: step == 4 ? 1 : 0)
    await #expect(throws: StorageError.self) { try await tern.wipe() }
    for disk in device.disks { disk.crash() }
    let again = try device.open(home)
    await again.documents.goOffline()
    await again.tree.goOffline()
    let hasForgotten = step > 0 || isDurable
    let count = try await again.documents.collection("a").get(from: .cache).count
    #expect(count == (hasForgotten ? 0 : 2))
    #expect(await again.documents.queueStatus.pending.count == (hasForgotten ? 0 : 1))
    #expect(await again.tree.pendingWrites.count == (hasForgotten ? 0 : 1))
    await again.close()
  }

  @Test("a wipe in one call leaves a client that starts anew", .timeLimit(.minutes(10)))
  func wipe() async throws {
    let home = try await Home()
    let device = Device()
    try await fill(device, home)
    let tern = try device.open(home)
    try await tern.wipe()
    #expect(try device.rows() == [0, 0, 0, 0])
    let again = try device.open(home)
    #expect(try await again.documents.collection("a").get(from: .cache).count == 0)
    try await again.documents.document("b/1").set(["n": 1]).acknowledged()
    try await again.tree["y"].set(1).acknowledged()
    await again.close()
  }

  @Test(
    "a cache that cannot be opened is replaced by one in memory, and reported",
    .timeLimit(.minutes(10)))
  func fullDisk() async throws {
    let home = try await Home()
    let device = Device()
    try await fill(device, home)
    let notices = Notices()
    // Nothing is in these stores yet, and nothing can be put there.
    let disks = [FaultyDisk(), FaultyDisk()]
    for disk in disks { disk.inject(.diskFull) }
    var parts = try device.parts(home)
    parts.cache = disks[0].open()
    parts.documents?.cache = disks[1].open()
    var options = ClientOptions()
    options.syncsInBackground = false
    options.report = notices.add
    let tern = try TernDatabase.open(parts, options: options, ambient: .patient)
    #expect(notices.all.contains(.cacheUnusable(.documents, .diskFull)))
    #expect(await tern.documents.cacheFailure == .diskFull)
    // What waited is sent, and everything works.
    try await tern.documents.waitForPendingWrites()
    #expect(try await tern.documents.collection("a").get(from: .server).count == 2)
    await tern.documents.goOffline()
    #expect(try await tern.documents.collection("a").get().count == 2)
    await tern.close()
    let again = try device.open(home)
    #expect(await again.documents.cacheFailure == nil)
    await again.close()
  }

  @Test(
    "a cache that fails later is reported once, and the client goes on", .timeLimit(.minutes(10)))
  func failure() async throws {
    let home = try await Home()
    let device = Device()
    let notices = Notices()
    let tern = try device.open(home, notices.add)
    try await tern.documents.document("a/1").set(["n": 1]).acknowledged()
    device.disks[3].inject(.failedSync(isDurable: false))
    _ = try await tern.documents.collection("a").get(from: .server)
    try await tern.documents.document("a/2").set(["n": 2]).acknowledged()
    #expect(try await tern.documents.collection("a").get(from: .server).count == 2)
    #expect(notices.all == [.cacheUnusable(.documents, .syncFailed(code: 5))])
    #expect(await tern.documents.cacheFailure == .syncFailed(code: 5))
    await tern.close()
  }

  @Test("a queue that cannot be opened keeps the client closed", .timeLimit(.minutes(10)))
  func queue() async throws {
    let home = try await Home()
    for broken in [0, 2] {
      let device = Device()
      device.disks[broken].inject(.diskFull)
      #expect(throws: OpeningError.self) { try device.open(home) }
    }
  }
}
