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

  @Test("F39 the document client needs nothing that a watch or an App Clip lacks")
  func everywhere() throws {
    let package = try PackageManifest.load()
    for platform in ["watchos", "ios"] {
      let needed = package.closure(of: "TernFirebaseCompat", on: platform)
      #expect(needed.contains("TernClient") && needed.contains("TernStorageSQLite"))
      #expect(package.systemLibraries(in: needed) == ["CSQLite"], "\(platform)")
      for target in needed.sorted() {
        #expect(try package.withheldFrom(platform, target) == [], "\(target)")
      }
    }
    #expect(package.platforms.isSuperset(of: ["ios", "macos", "tvos", "visionos", "watchos"]))
  }
}
