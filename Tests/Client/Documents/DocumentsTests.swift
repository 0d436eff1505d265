import Synchronization
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernStorageMemory
import TernSync
import Testing

/// Real clients of documents, a real server, and a loopback network between them.
@Suite("Documents end to end")
struct DocumentsTests {
  @Test("what one client writes, another one hears", .timeLimit(.minutes(10)))
  func fanOut() async throws {
    let home = try await Home()
    let (one, other) = (try home.documentClient(), try home.documentClient())
    let california = other.documents.collection("cities").where("state", .equals, "CA")
    var snapshots = california.snapshots().makeAsyncIterator()
    let cities = one.documents.collection("cities")
    let write = try await cities.document("SF").set(["state": "CA", "people": 860])
    try await write.acknowledged()
    try await cities.document("NY").set(["state": "NY"])
    try await cities.document("LA").set(["state": "CA"]).acknowledged()
    var names: [String] = []
    while names != ["LA", "SF"] {
      let snapshot = try #require(await snapshots.next())
      names = snapshot.documents.map(\.id)
    }
    try await cities.document("LA").update(["state": "NV"]).acknowledged()
    while names != ["SF"] {
      let snapshot = try #require(await snapshots.next())
      names = snapshot.documents.map(\.id)
      if names == ["SF"] { #expect(snapshot.changes.map(\.kind) == [.removed]) }
    }
    await one.close()
    await other.close()
  }

  @Test(
    "the pending state of one document alone is heard, while others of the result are pending",
    .timeLimit(.minutes(10)))
  func pendingState() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let cities = tern.documents.collection("cities")
    for id in ["a", "b", "c"] { try await cities.document(id).set(["n": 1]) }
    try await tern.documents.waitForPendingWrites()
    var snapshots = cities.snapshots(includingMetadata: true).makeAsyncIterator()
    var last = try #require(try await snapshots.next())
    while last.count < 3 || last.metadata.isFromCache || last.metadata.hasPendingWrites {
      last = try #require(try await snapshots.next())
    }
    await tern.goOffline()
    // The same values again: nothing changes but the state.
    try await cities.document("a").update(["n": 1])
    func pending(_ snapshot: DocumentQuerySnapshot) -> [String] {
      snapshot.documents.filter(\.metadata.hasPendingWrites).map(\.id)
    }
    while pending(last) != ["a"] { last = try #require(try await snapshots.next()) }
    try await cities.document("c").update(["n": 1])
    while pending(last) != ["a", "c"] { last = try #require(try await snapshots.next()) }
    #expect(last.documents.map { $0["n"] } == [1, 1, 1])
    await tern.goOnline()
    while last.metadata.hasPendingWrites { last = try #require(try await snapshots.next()) }
    await tern.close()
  }

  @Test(
    "a write is seen at once, and its server time when the server has set it",
    .timeLimit(.minutes(10)))
  func serverTime() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let document = tern.documents.document("rooms/1")
    var snapshots = document.snapshots(includingMetadata: true).makeAsyncIterator()
    let write = try await document.set(["at": .transform(.serverTimestamp), "n": 1])
    try await write.acknowledged()
    while let snapshot = try await snapshots.next() {
      if snapshot.metadata.hasPendingWrites || snapshot.metadata.isFromCache { continue }
      guard snapshot.exists else { continue }
      guard case .timestamp = snapshot["at"] else {
        Issue.record("the time is \(String(describing: snapshot["at"]))")
        break
      }
      #expect(snapshot["n"] == 1)
      break
    }
    await tern.close()
  }

  @Test("increments of two clients add up, and a transaction sees both", .timeLimit(.minutes(10)))
  func increments() async throws {
    let home = try await Home()
    let (one, other) = (try home.documentClient(), try home.documentClient())
    for tern in [one, other] {
      for _ in 0..<5 {
        try await tern.documents.document("c/1")
          .set(["n": .transform(.increment(.integer(1)))], merging: true)
      }
      try await tern.documents.waitForPendingWrites()
    }
    let total = try await one.documents.transaction { transaction in
      let counter = one.documents.document("c/1")
      let snapshot = try await transaction.get(counter)
      guard case .integer(let number)? = snapshot["n"] else { return Int64(-1) }
      try transaction.set(counter, to: ["n": .value(.integer(number * 10))])
      return number
    }
    #expect(total == 10)
    #expect(try await other.documents.document("c/1").get(from: .server)["n"] == 100)
    #expect(try await other.documents.collection("c").count() == 1)
    await one.close()
    await other.close()
  }

  @Test(
    "a transaction whose commit may have been made is not run again", .timeLimit(.minutes(10)))
  func lostCommit() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let counter = tern.documents.document("c/1")
    try await counter.set(["n": 1]).acknowledged()
    let runs = Mutex(0)
    let error = await #expect(throws: DocumentsError.self) {
      try await tern.documents.transaction { transaction in
        runs.withLock { $0 += 1 }
        _ = try await transaction.get(counter)
        try transaction.set(counter, to: ["n": 2])
        await tern.documents.goOffline()
      }
    }
    guard case .refused(let status)? = error else { throw try #require(error) }
    #expect(status.code == .unavailable)
    #expect(runs.withLock { $0 } == 1)
    await tern.close()
  }

  @Test(
    "what was written offline is there after a restart, and reaches the server then",
    .timeLimit(.minutes(10)))
  func offline() async throws {
    let home = try await Home()
    let (queue, cache) = (MemoryStore(), MemoryStore())
    var tern = try home.documentClient(queue: queue, cache: cache)
    await tern.documents.goOffline()
    try await tern.documents.document("a/1").set(["x": 1])
    #expect(try await tern.documents.document("a/1").get()["x"] == 1)
    await #expect(throws: DocumentsError.self) {
      try await tern.documents.document("a/2").get()
    }
    await tern.close()
    tern = try home.documentClient(queue: queue, cache: cache)
    #expect(try await tern.documents.document("a/1").get(from: .cache)["x"] == 1)
    try await tern.documents.waitForPendingWrites()
    let other = try home.documentClient()
    #expect(try await other.documents.document("a/1").get(from: .server)["x"] == 1)
    await tern.close()
    await other.close()
  }

  @Test(
    "errors are reported by the first operation, and nothing is written", .timeLimit(.minutes(10)))
  func mistakes() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let documents = tern.documents
    await #expect(throws: DocumentsError.self) { try await documents.document("a").set(["x": 1]) }
    await #expect(throws: DocumentsError.self) { try await documents.document("a/1").set([1]) }
    await #expect(throws: DocumentsError.invalidQuery(.limitToLastWithoutOrder)) {
      try await documents.collection("a").last(2).get()
    }
    var batch = documents.batch()
    batch.set(documents.document("a/1"), to: ["x": 1])
    batch.remove(documents.document("a"))
    await #expect(throws: DocumentsError.self) { try await batch.commit() }
    #expect(try await documents.collection("a").get(from: .cache).count == 0)
    await tern.close()
    await #expect(throws: DocumentsError.closed) {
      try await documents.document("a/1").set(["x": 1])
    }
  }

  @Test("persistence is cleared only when it is not in use", .timeLimit(.minutes(10)))
  func clearing() async throws {
    let home = try await Home()
    let (queue, cache) = (MemoryStore(), MemoryStore())
    let tern = try home.documentClient(queue: queue, cache: cache)
    await tern.documents.goOffline()
    try await tern.documents.document("a/1").set(["x": 1])
    await #expect(throws: DocumentsError.self) { try await tern.documents.clearPersistence() }
    await tern.documents.terminate()
    try await tern.documents.clearPersistence()
    await tern.close()
    let again = try home.documentClient(queue: queue, cache: cache)
    #expect(try await again.documents.collection("a").get(from: .cache).count == 0)
    await again.close()
  }
}
