import Foundation
import TernAssembly
import TernStandard
import Testing

@testable import TernFirebaseCompat

@Suite struct FirestoreSettingsTests {
  /// Creates an app that keeps its data in a folder of its own.
  private func app(_ kind: String) throws -> (app: FirebaseApp, folder: URL) {
    let name = "tern-app-\(ProcessInfo.processInfo.globallyUniqueString)"
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    let app = FirebaseApp.configure(
      name: name,
      configuration: Configuration(
        storage: ["kind": .string(kind), "path": .string(folder.path)],
        transport: ["kind": "loopback"]),
      assembler: Assembler(catalog: .standard))
    return (app, folder)
  }

  /// All but what remembers who signed in, which is not Firestore's to forget.
  private func files(in folder: URL) -> [String] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.allObjects ?? []).compactMap { $0 as? URL }
      .filter { !$0.pathComponents.contains("auth") }
      .map(\.lastPathComponent)
  }

  @Test("F06 without persistence nothing is on the disk", arguments: ["sqlite", "lmdb"])
  func nothingOnDisk(kind: String) async throws {
    for isPersistent in [false, true] {
      let (app, folder) = try app(kind)
      let db = Firestore.firestore(app: app)
      #expect(db.settings.isPersistenceEnabled)
      let settings = db.settings
      settings.isPersistenceEnabled = isPersistent
      db.settings = settings
      now { db.document("cities/SF").setData(["state": "CA"]) }
      let cached = try await db.document("cities/SF").getDocument(source: .cache)
      #expect(cached.data()?["state"] as? String == "CA")
      try await db.terminate()
      #expect(files(in: folder).isEmpty == !isPersistent, "\(files(in: folder))")
      try? FileManager.default.removeItem(at: folder)
    }
  }

  @Test("persistence is on by default here; the manual says that browsers keep their own cache")
  func browsers() throws {
    #expect(FirestoreSettings().isPersistenceEnabled)
    let manual = try documentation("FirebaseCompat/Documentation.docc/TernFirebaseCompat.md")
    #expect(manual.contains("In browsers, where it is off by default"))
  }

  @Test("F13 the cache holds 100 MB unless said otherwise, and at least 1 MB")
  func sizes() throws {
    let size: Int64 = 100 * 1024 * 1024
    #expect(FirestoreSettings().cacheSizeBytes == size)
    #expect(FirestoreSettings().choices.cache.limitBytes == Int(size))
    #expect(PersistentCacheSettings().limitBytes == size)
    #expect(MemoryLRUGCSettings().limitBytes == size)
    let (app, _) = try app("memory")
    let db = Firestore.firestore(app: app)
    for tooSmall in [1024 * 1024 - 1, 0, -2] {
      let refusal = FirestoreSettingsError.cacheSizeTooSmall(tooSmall, minimum: 1024 * 1024)
      let settings = db.settings
      settings.cacheSizeBytes = Int64(tooSmall)
      #expect(throws: refusal) { try db.configure(settings) }
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: tooSmall as NSNumber)
      #expect(throws: refusal) { try db.configure(settings) }
      settings.cacheSettings = MemoryCacheSettings(
        garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: tooSmall as NSNumber))
      #expect(throws: refusal) { try db.configure(settings) }
    }
    let settings = db.settings
    settings.cacheSizeBytes = 1024 * 1024
    try db.configure(settings)
    #expect(db.settings.cacheSizeBytes == 1024 * 1024)
    settings.isSSLEnabled = true
    #expect(throws: FirestoreSettingsError.encryptionUnavailable) { try db.configure(settings) }
    settings.isSSLEnabled = false
    settings.cacheSizeBytes = FirestoreCacheSizeUnlimited
    try db.configure(settings)
    #expect(settings.choices.cache.limitBytes == nil)
  }

  @Test("useEmulator names the server, a database has stores of its own, an app one instance")
  func instances() async throws {
    let (app, folder) = try app("sqlite")
    let db = Firestore.firestore(app: app)
    #expect(db === Firestore.firestore(app: app))
    let other = Firestore.firestore(app: app, database: "other")
    #expect(other !== db)
    db.useEmulator(withHost: "localhost", port: 8080)
    #expect(db.settings.host == "localhost:8080")
    #expect(!db.settings.isSSLEnabled)
    try await other.disableNetwork()
    now { other.document("a/b").setData(["n": 1]) }
    #expect(try await other.document("a/b").getDocument(source: .cache).exists)
    try await other.terminate()
    #expect(FileManager.default.fileExists(atPath: folder.path + "/documents-other"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/documents"))
    let again = Firestore.firestore(app: app, database: "other")
    #expect(again !== other)
    #expect(try await again.document("a/b").getDocument(source: .cache).exists)
    try await again.terminate()
    try await again.clearPersistence()
    let empty = Firestore.firestore(app: app, database: "other")
    await #expect(throws: NSError.self) {
      try await empty.document("a/b").getDocument(source: .cache)
    }
    await #expect(throws: NSError.self) { try await empty.clearPersistence() }
    try await empty.terminate()
    try? FileManager.default.removeItem(at: folder)
  }
}
