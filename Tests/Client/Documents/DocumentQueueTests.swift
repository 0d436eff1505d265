import Synchronization
import TernCore
import TernDocumentReplica
import TernQuery
import TernStorageMemory
import TernSync
import Testing

@testable import TernClient

/// The pending writes of a device, and those that a server rejected.
@Suite("The documents' queue", .timeLimit(.minutes(10)))
struct DocumentQueueTests {
  @Test("a refused batch is taken back and kept with its reason, also over a restart")
  func refused() async throws {
    let home = try await Home()
    let queue = MemoryStore()
    let first = try home.documentClient(queue: queue)
    let write = try await first.documents.document("cities/SF").update(["name": "SF"])
    await #expect(throws: DocumentsError.self) { try await write.acknowledged() }
    #expect(await first.documents.queueStatus.pending.isEmpty)
    await first.close()

    let tern = try home.documentClient(queue: queue)
    let refused = try #require(await tern.documents.queueStatus.rejected.first)
    #expect(refused.reason.status == "notFound")
    #expect(refused.mutations.map(\.key.text) == ["cities/SF"])
    let city = tern.documents.document("cities/SF")
    try await city.set(["state": "CA"]).acknowledged()
    try await tern.documents.retry(refused).acknowledged()
    #expect(await tern.documents.queueStatus.rejected.isEmpty)
    #expect(try await city.get(from: .server).data()?["name"] == "SF")
    await tern.close()
  }

  @Test("a refused batch is sent again with other writes, or given up")
  func retryAndDiscard() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    let key = try DocumentKey("cities/NY")
    for _ in 0..<2 {
      let write = try await tern.documents.document("cities/NY").update(["name": "NY"])
      await #expect(throws: DocumentsError.self) { try await write.acknowledged() }
    }
    let refused = await tern.documents.rejectedWrites
    #expect(refused.count == 2)
    let edited = try DocumentMutation.set(key, to: [.init("name", "New York")])
    try await tern.documents.retry(refused[0], as: [edited]).acknowledged()
    try await tern.documents.discard(refused[1])
    #expect(await tern.documents.queueStatus.rejected.isEmpty)
    await #expect(throws: DocumentsError.queue(.noSuchWrite(id: refused[1].id))) {
      try await tern.documents.discard(refused[1])
    }
    await #expect(throws: DocumentsError.queue(.noSuchWrite(id: refused[1].id))) {
      try await tern.documents.retry(refused[1])
    }
    let city = try await tern.documents.document("cities/NY").get(from: .server)
    #expect(city.data()?["name"] == "New York")
    await tern.close()
  }

  @Test("a second call that discards a batch is answered, too")
  func discardTwice() async throws {
    let home = try await Home()
    let tern = try home.documentClient { $0.syncsInBackground = true }
    let write = try await tern.documents.document("cities/NY").update(["name": "NY"])
    await #expect(throws: DocumentsError.self) { try await write.acknowledged() }
    let batch = try #require(await tern.documents.queueStatus.rejected.first)
    let answers = Mutex<[QueueResult]>([])
    let session = tern.documents.session
    session.submit { session in
      for _ in 1...2 {
        session.discard(row: batch.id) { answer in answers.withLock { $0.append(answer) } }
      }
    }
    while answers.withLock({ $0.count }) < 2 { await session.queueSettled() }
    #expect(answers.withLock { $0 } == [.changed, .failed(.noSuchWrite(id: batch.id))])
    await tern.close()
  }

  @Test("F38 what waits can be watched, and goes when the network is back")
  func watching() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    await tern.documents.goOffline()
    var states = tern.documents.queue.makeAsyncIterator()
    #expect(await states.next()?.pending.isEmpty == true)
    let write = try await tern.documents.document("a/b").set(["n": 1])
    var state = await states.next()
    while state?.pending.first?.isDurable == false { state = await states.next() }
    #expect(state?.pending.map { $0.mutations.map(\.key.text) } == [["a/b"]])
    await tern.documents.goOnline()
    try await write.acknowledged()
    while state?.pending.isEmpty == false { state = await states.next() }
    #expect(state?.rejected.isEmpty == true)
    await tern.close()
  }

  @Test("the increments and unions of two clients add up, and are counted")
  func transforms() async throws {
    let home = try await Home()
    let clients = [try home.documentClient(), try home.documentClient()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, tern) in clients.enumerated() {
        group.addTask {
          for step in 0..<20 {
            try await tern.documents.document("counters/all").set(
              [
                "count": .transform(.increment(.integer(1))),
                "seen": .transform(.arrayUnion([.string("\(index)-\(step)")])),
              ], merging: true
            ).acknowledged()
            try await tern.documents.document("log/\(index)-\(step)").set(["step": 1])
              .acknowledged()
          }
        }
      }
      try await group.waitForAll()
    }
    let total = try await clients[0].documents.document("counters/all").get(from: .server)
    #expect(total.data()?["count"] == 40)
    guard case .array(let seen)? = total.data()?["seen"] else {
      Issue.record("there is no array")
      return
    }
    #expect(seen.count == 40)
    #expect(try await clients[1].documents.collection("log").count() == 40)
    for tern in clients { await tern.close() }
  }
}
