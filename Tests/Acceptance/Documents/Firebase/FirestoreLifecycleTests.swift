import Foundation
import TernFirebaseCompat
import Testing

@Suite struct FirestoreLifecycleTests {
  @Test("a client that is terminated says so; its writes stay queued", arguments: Setting.storages)
  func termination(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    try house.desk("a").cable.unplug()
    let heard = Trace()
    let doc = db.document("cities/SF")
    now { doc.setData(["n": 1]) { error in heard.add("\((error as NSError?)?.code ?? 0)") } }
    #expect(try await doc.getDocument(source: .cache).exists)
    // What has nothing to write does not wait for a server.
    try await db.batch().commit()
    await #expect(throws: NSError.self) { try await db.clearPersistence() }
    try await db.terminate()
    let code = FirestoreErrorCode.failedPrecondition.rawValue
    #expect(try await heard.wait(for: 1) == ["\(code)"])
    for body: @Sendable () async throws -> Void in [
      { _ = try await doc.getDocument() }, { try await doc.setData([:]) },
      { _ = try await db.collection("cities").getDocuments(source: .cache) },
      { try await db.enableNetwork() }, { try await db.waitForPendingWrites() },
      { try await db.batch().commit() },
    ] {
      do {
        try await body()
        Issue.record("it is terminated")
      } catch let error as NSError {
        #expect(error.domain == FirestoreErrorDomain)
        #expect(error.code == code)
      }
    }
    let again = try await house.restartFirestore("a")
    #expect(try await again.document("cities/SF").getDocument(source: .cache).exists)
    try house.desk("a").cable.plug()
    now { again.enableNetwork() }
    now { again.waitForPendingWrites { error in heard.add("settled \(error == nil)") } }
    #expect(try await heard.wait(for: 2).last == "settled true")
    try await again.terminate()
    try await again.clearPersistence()
    let empty = try await house.restartFirestore("a")
    try await empty.disableNetwork()
    await #expect(throws: NSError.self) {
      _ = try await empty.document("cities/SF").getDocument(source: .cache)
    }
    try await house.close()
  }

  @Test("F39 no module is withheld from a watch or an App Clip")
  func everywhere() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    // What the document client is built of.
    let modules = [
      "Core", "Query", "Storage", "StorageMemory", "StorageSQLite", "StorageLMDB", "Transport",
      "Sync", "Ledger", "Transactions", "Presence", "DocumentWire", "DocumentEngine", "Client",
      "Assembly", "Standard", "FirebaseCompat",
    ]
    let unavailable = ["UIKit", "AppKit", "WatchKit", "WebKit", "SystemConfiguration"]
    var count = 0
    for module in modules {
      let folder = root.appendingPathComponent("Modules/\(module)")
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      while let file = files?.nextObject() as? URL {
        guard file.pathExtension == "swift" else { continue }
        count += 1
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("unavailable)"), "\(file.lastPathComponent)")
        #expect(!text.contains("os(watchOS)"), "\(file.lastPathComponent)")
        #expect(!text.contains("ApplicationExtension"), "\(file.lastPathComponent)")
        for name in unavailable {
          #expect(!text.contains("import \(name)"), "\(file.lastPathComponent)")
        }
      }
    }
    #expect(count > 100)
  }
}
