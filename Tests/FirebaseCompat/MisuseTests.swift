import Foundation
import TernAssembly
import TernCore
import Testing

@testable import TernFirebaseCompat

/// Uses of a database that Firebase's signatures cannot report.
@Suite struct MisuseTests {
  private static func firestore(
    opening: @escaping @Sendable () -> Void = {}
  ) throws -> Firestore {
    Firestore(database: try DocumentDatabase(projectID: "demo")) { _, _ in
      opening()
      throw CancellationError()
    }
  }

  @Test("a write to a batch that was committed ends the program")
  func committedBatch() async {
    await #expect(processExitsWith: .failure) {
      let db = try MisuseTests.firestore()
      let batch = db.batch()
      batch.setData(["n": 1], forDocument: db.document("a/b"))
      batch.commit()
      batch.deleteDocument(db.document("a/c"))
    }
    await #expect(processExitsWith: .success) {
      let db = try MisuseTests.firestore()
      let batch = db.batch()
      batch.setData(["n": 1], forDocument: db.document("a/b"))
      batch.commit()
    }
  }

  @Test("a write of a transaction whose update function has returned ends the program")
  func endedTransaction() async {
    await #expect(processExitsWith: .failure) {
      let server = try await LocalServer()
      let db = server.firestore()
      let transaction = try await db.runTransaction { transaction, _ in transaction }
      _ = try await db.document("a/b").getDocument(source: .server)
      (transaction as? Transaction)?.deleteDocument(db.document("a/c"))
    }
  }

  @Test("ending a database that was not used does not open it")
  func unusedEnd() async throws {
    let openings = Answer<Int>()
    let db = try Self.firestore { openings.give(1) }
    try await db.terminate()
    #expect(db.isTerminated)
    let error = await #expect(throws: NSError.self) {
      try await db.document("a/b").setData(["n": 1])
    }
    #expect(error?.code == FirestoreErrorCode.failedPrecondition.rawValue)
    openings.give(0)
    #expect(await openings.next() == 0)
    try await db.terminate()
  }

  @Test("documents are told apart by the bytes of their paths")
  func identity() throws {
    let db = try Self.firestore()
    let (composed, decomposed) = (db.document("c/\u{E9}"), db.document("c/e\u{301}"))
    #expect(composed != decomposed && composed == db.document("c/\u{E9}"))
    #expect(Set([composed, decomposed, db.document("c/\u{E9}")]).count == 2)
    let other = DocumentName(try DocumentKey("c/d"), in: try DocumentDatabase(projectID: "other"))
    #expect(db.document(named: other) != db.document("c/d"))
    let odd = db.document("c/\u{301}d")
    #expect(odd.documentID.utf8.elementsEqual("\u{301}d".utf8) && odd.parent.path == "c")
    #expect(db.collection("c/d/\u{301}e").collectionID.utf8.elementsEqual("\u{301}e".utf8))
  }

  @Test("hosts may be IPv6 addresses; a port that is no number is refused")
  func hosts() throws {
    func transport(_ choose: (Firestore) throws -> Void) throws -> ConfigurationValue {
      let db = try Self.firestore()
      try choose(db)
      return db.settings.choices.applied(to: Configuration()).transport
    }
    func emulator(_ host: String) throws -> String? {
      try transport { $0.useEmulator(withHost: host, port: 8080) }.members["host"]?.stringValue
    }
    #expect(try emulator("::1") == "[::1]:8080")
    #expect(try emulator("[::1]") == "[::1]:8080")
    #expect(try emulator("localhost") == "localhost:8080")
    for host in ["localhost:abc", "[::1", "[::1]8080", ":80", "localhost:70000"] {
      let db = try Self.firestore()
      let settings = db.settings
      settings.host = host
      let error = #expect(throws: FirestoreSettingsError.self) { try db.configure(settings) }
      guard case .invalidHost = error else {
        Issue.record("\(host): \(String(describing: error))")
        continue
      }
      #expect(db.settings.host.isEmpty)
    }
  }
}
