import TernCore
import TernDocumentReplica
import TernStorage
import TernSync
import TernTestKit
import Testing

@testable import TernClient

/// The errors of calls while a database is closed, or after.
@Suite("Closing", .timeLimit(.minutes(10)))
struct ClosingTests {
  @Test("a write of the tree is only reported durable when it is, also by a closed database")
  func writeOfTheTree() async throws {
    let home = try await Home()
    let disk = FaultyDisk()
    let tern = try home.client(queue: disk.open()) { $0.syncsInBackground = true }
    disk.inject(.writeError)
    let (lost, kept) = await tern.tree.session.closeBehind(.set("a", 1), .set("b", 2))
    await #expect(throws: WriteError.self) { _ = try await TreeWriteHandle(lost) }
    await #expect(throws: WriteError.self) { _ = try await TreeWriteHandle(kept) }

    let again = try home.client(queue: disk.open()) { $0.syncsInBackground = true }
    let (first, second) = await again.tree.session.closeBehind(.set("a", 1), .set("b", 2))
    let handle = try await TreeWriteHandle(first)
    await #expect(throws: AcknowledgementError.closed) { try await handle.acknowledged() }
    _ = try await TreeWriteHandle(second)
    let (_, rows) = try WriteQueue.open(disk.open(), newClient: 1)
    #expect(rows.count == 2)
    await #expect(throws: WriteError.closed) { try await again.tree["a"].set(1) }
  }

  @Test("a batch of documents is only reported durable when it is, also by closed documents")
  func batchOfDocuments() async throws {
    let home = try await Home()
    let disk = FaultyDisk()
    let tern = try home.documentClient(queue: disk.open()) { $0.syncsInBackground = true }
    disk.inject(.writeError)
    let lost = await tern.documents.session.closeBehind(.delete(DocumentKey(unchecked: "a/1")))
    await #expect(throws: DocumentsError.self) { try await lost.stored.value().get() }

    let again = try home.documentClient(queue: disk.open()) { $0.syncsInBackground = true }
    let kept = await again.documents.session.closeBehind(.delete(DocumentKey(unchecked: "a/1")))
    try await kept.stored.value().get()
    #expect(await kept.end.value() == .closed)
    let (_, rows) = try WriteQueue.open(disk.open(), newClient: 1)
    #expect(rows.count == 1)
  }

  @Test("a listener added to a closed database hears how it ended, and no more")
  func observers() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    var early = tern.tree.connection.makeAsyncIterator()
    #expect(await early.next() == .offline)
    await tern.close()
    #expect(await early.next() == nil)
    for connection in [tern.tree.connection, tern.documents.connection] {
      var heard: [ConnectionState] = []
      for await state in connection { heard.append(state) }
      #expect(heard == [.offline])
    }
    var counts = [0, 0, 0]
    for await status in tern.tree.queue where status.pending.isEmpty { counts[0] += 1 }
    for await status in tern.documents.queue where status.pending.isEmpty { counts[1] += 1 }
    for await state in tern.auth.states where state == .signedOut { counts[2] += 1 }
    #expect(counts == [1, 1, 1])
  }

  @Test("a refused write cannot be sent again by a closed database")
  func retry() async throws {
    let home = try await Home()
    let tern = try home.client()
    let rejected = RejectedTreeWrite(
      id: 1, write: .set("a", 1), reason: Rejection(status: "permission_denied", detail: ""))
    await #expect(throws: WriteError.queue(.noSuchWrite(id: 1))) {
      try await tern.tree.retry(rejected)
    }
    await tern.close()
    await #expect(throws: WriteError.closed) { try await tern.tree.retry(rejected) }
  }
}

extension TreeSession {
  /// Takes two writes and closes the session before the disk has heard of any.
  fileprivate func closeBehind(
    _ first: TreeWrite, _ second: TreeWrite
  ) -> (WritePromise, WritePromise) {
    let promises = (write(first), write(second))
    close()
    return promises
  }
}

extension DocumentSession {
  /// Takes a write and closes the session before it hears of the disk.
  fileprivate func closeBehind(_ write: DocumentMutation) -> DocumentWritePromise {
    let promise = self.write([write])
    close()
    return promise
  }
}
