import TernCore
import TernDocumentReplica
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernSync
import TernTestKit
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("Users without a queue", .timeLimit(.minutes(10)))
struct QueuelessUserTests {
  private func token(_ user: String) -> String { TrustingAuthenticator.token(user) }

  /// The stores of a device.
  private struct Device {
    let queue = MemoryStore()
    let documents = MemoryStore()
    let notices = Notices()

    func open(_ home: Home) throws -> TernDatabase {
      var options = ClientOptions()
      options.syncsInBackground = false
      options.queue.userCount = 2
      options.report = notices.add
      var parts = ClientParts(queue: queue, cache: nil, transport: home.transport)
      parts.documents = DocumentParts(
        database: try DocumentDatabase(projectID: "demo"), queue: documents, cache: nil)
      return try TernDatabase.open(parts, options: options, ambient: .patient)
    }
  }

  @Test("a third user's sign-in that outlives the program locks no user out")
  func tooMany() async throws {
    let home = try await Home(authorizer: AllowAll(), authenticator: TrustingAuthenticator())
    let device = Device()
    var tern = try device.open(home)
    await tern.goOffline()
    for user in ["ann", "ben"] {
      try tern.auth.signIn(token: token(user))
      let place = try TreePath("n/\(user)")
      try await tern.tree[place].set(1)
      try await tern.documents.document("n/\(user)").set(["n": 1])
    }
    try tern.auth.signIn(token: token("cem"))
    let full = QueueError.tooManyUsers(limit: 2)
    await #expect(throws: WriteError.queue(full)) { try await tern.tree["n/cem"].set(1) }
    await tern.close()

    tern = try device.open(home)
    #expect(tern.auth.currentUser?.uid == "cem")
    #expect(device.notices.all.contains(.queueUnusable(user: "cem", full)))
    #expect(device.notices.all.contains(.documentQueueUnusable(user: "cem", full)))
    await #expect(throws: WriteError.queue(full)) { try await tern.tree["n/cem"].set(1) }
    await #expect(throws: DocumentsError.queue(full)) {
      try await tern.documents.document("n/cem").set(["n": 1])
    }
    #expect(try await tern.tree["n"].get().exists == false, "it still reads")
    try tern.auth.signIn(token: token("ann"))
    try await tern.tree.waitForPendingWrites()
    try await tern.documents.waitForPendingWrites()
    #expect(try await tern.tree["n"].get().node == ["ann": 1])
    let documents = try await tern.documents.collection("n").get(from: .server)
    #expect(documents.documents.map(\.id) == ["ann"])
    // With the queue of the first one empty there is space.
    try tern.auth.signIn(token: token("cem"))
    try await tern.tree["n/cem"].set(1).acknowledged()
    await tern.close()
  }

  @Test("a user's id that is too long for a queue is no sign-in")
  func tooLong() async throws {
    let home = try await Home(authorizer: AllowAll(), authenticator: TrustingAuthenticator())
    let device = Device()
    var tern = try device.open(home)
    let long = token(String(repeating: "x", count: 1_025))
    #expect(throws: AuthError.self) { try tern.auth.signIn(token: long) }
    #expect(tern.auth.currentUser == nil)
    await tern.close()
    // An earlier version let it in.
    try AuthRecord.store(long, in: device.queue)
    tern = try device.open(home)
    let error = QueueError.userTooLong(bytes: 1_025, limitBytes: 1_024)
    await #expect(throws: WriteError.queue(error)) { try await tern.tree["n"].set(1) }
    try tern.auth.signOut()
    try await tern.tree["n"].set(1).acknowledged()
    await tern.close()
  }

  @Test("a damaged queue of documents leaves the tree alone")
  func damagedDocuments() async throws {
    let home = try await Home(authorizer: AllowAll())
    let device = Device()
    var tern = try device.open(home)
    await tern.goOffline()
    try await tern.documents.document("n/1").set(["n": 1])
    try await tern.tree["n"].set(1)
    await tern.close()
    try device.documents.write { transaction throws(StorageError) in
      try transaction.put([1], for: [2, 0, 0, 0, 0, 0, 0, 0, 1])
    }
    tern = try device.open(home)
    #expect(device.notices.all.contains(.documentQueueUnusable(user: "", .damaged(id: 1))))
    try await tern.tree.waitForPendingWrites()
    #expect(try await tern.tree["n"].get().number == 1)
    await #expect(throws: DocumentsError.queue(.damaged(id: 1))) {
      try await tern.documents.document("n/2").set(["n": 1])
    }
    #expect(try await tern.documents.collection("n").get(from: .server).documents.isEmpty)
    await tern.close()
    let parts = DocumentParts(
      database: try DocumentDatabase(projectID: "demo"), queue: device.documents, cache: nil)
    #expect(throws: OpeningError.documentQueue(.damaged(id: 1))) {
      try Documents.open(parts, over: home.transport, ambient: .patient)
    }
  }
}
