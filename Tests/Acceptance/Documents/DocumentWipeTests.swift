import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync
import Testing

/// Sensitive data on devices that are not trusted.
@Suite struct DocumentWipeTests {
  private static let secret = "only-for-your-eyes"

  /// Fills a client's stores: with what the server said, with what waits, with what was removed.
  private func fill(_ house: DocumentHouse) async throws -> Documents {
    let server = try await house.inspector()
    let db = try await house.open("a")
    for number in 0..<40 {
      let text = String(repeating: "\(Self.secret) \(number) ", count: number == 7 ? 1_000 : 5)
      try await server.document("letters/\(number)").set(["text": .value(.string(text))])
    }
    try await server.waitForPendingWrites()
    #expect(try await db.collection("letters").get(from: .server).count == 40)
    for number in 0..<10 { try await server.document("letters/\(number)").remove() }
    try await server.waitForPendingWrites()
    #expect(try await db.collection("letters").get(from: .server).count == 30)
    try house.unplug("a")
    try await db.document("letters/mine").set(["text": .value(.string(Self.secret))])
    try await house.tern("a").tree["notes/1"].set(.init(.string(Self.secret)))
    return db
  }

  private func traces(_ house: DocumentHouse) throws -> [String] {
    try house.house.stores.files(containing: Self.secret, of: "a-")
  }

  @Test(
    "F08 the cache stays between sessions, and one call leaves no byte of it",
    arguments: Setting.storages)
  func wiped(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    _ = try await fill(house)
    let again = try await house.restart("a")
    #expect(try await again.collection("letters").get().count == 31)
    if setting.storage != "memory" { #expect(try !traces(house).isEmpty) }
    try await house.tern("a").wipe()
    #expect(try traces(house).isEmpty)
    let fresh = try await house.restart("a")
    #expect(try await fresh.collection("letters").get().words == "[] from cache")
    #expect(await fresh.queueStatus.pending.isEmpty)
    #expect(try await house.tern("a").tree.pendingWrites.isEmpty)
    try house.mend("a")
    try await fresh.document("letters/new").set(["n": 1]).acknowledged()
    #expect(try traces(house).isEmpty)
    #expect(try await house.serverRows("letters").count == 31)
    try await house.close()
  }

  @Test("F08 clearPersistence leaves no byte of documents either", arguments: Setting.storages)
  func cleared(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    let db = try await fill(house)
    await db.terminate()
    try await db.clearPersistence()
    #expect(try traces(house).filter { $0.contains("documents") }.isEmpty)
    try await house.close()
  }

  @Test("F08 a wipe that was cut short is finished by the next start", arguments: Setting.storages)
  func cutShort(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    _ = try await fill(house)
    await (try house.tern("a")).close()
    // As far as a wipe gets before the first file is gone.
    let queue = try house.house.stores.store("a-queue", kind: setting.storage)
    try WriteQueue.markForWiping(in: queue)
    let again = try await house.restart("a")
    #expect(try await again.collection("letters").get().words == "[] from cache")
    #expect(await again.queueStatus.pending.isEmpty)
    #expect(try traces(house).isEmpty)
    try await house.close()
  }
}
