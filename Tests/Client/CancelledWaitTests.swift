import Synchronization
import TernCore
import TernStorageMemory
import TernTestKit
import TernTransactions
import TernTransportLoopback
import Testing

@testable import TernClient

/// Calls of a client that reaches no server, made by tasks that are cancelled.
@Suite("Cancelled waits", .timeLimit(.minutes(2)))
struct CancelledWaitTests {
  /// A client whose server is not there.
  private func client() throws -> TernDatabase {
    var options = ClientOptions()
    options.readPatience = .seconds(3_600)
    let transport = LoopbackTransport()
    var parts = ClientParts(queue: MemoryStore(), cache: MemoryStore(), transport: transport)
    parts.documents = DocumentParts(
      database: try DocumentDatabase(projectID: "demo"), queue: MemoryStore(),
      cache: MemoryStore())
    return try TernDatabase.open(parts, options: options, ambient: .patient)
  }

  /// Returns the error of a call in a cancelled task, or in one that the call itself cancels.
  private func failure(
    isLate: Bool = false, _ call: @escaping @Sendable () async throws -> Void
  ) async -> (any Error)? {
    await Task {
      if !isLate { withUnsafeCurrentTask { $0?.cancel() } }
      do { try await call() } catch { return error as (any Error)? }
      return nil
    }.value
  }

  @Test("calls of the tree return at once")
  func tree() async throws {
    let tern = try client()
    let place = tern.tree["a"]
    try await tern.tree.declareTransaction("one") { _, _ in TreeNode(.integer(1)) }
    let transaction = await failure {
      _ = try await place.transaction { node in
        node = 1
        return true
      }
    }
    #expect(transaction as? TransactionError == .cancelled)
    let declared = await failure { _ = try await place.transaction("one") }
    #expect(declared as? TransactionError == .cancelled)
    let read = await failure { _ = try await tern.tree["b"].get() }
    #expect(read as? ReadError == .cancelled)
    let deferred = await failure { try await place.onDisconnect.set(1) }
    #expect(deferred as? DisconnectError == .cancelled)
    await tern.close()
  }

  @Test("calls of documents return at once")
  func documents() async throws {
    let tern = try client()
    let documents = tern.documents
    let count = await failure { _ = try await documents.collection("a").count() }
    #expect(count as? DocumentsError == .cancelled)
    let begun = Mutex(0)
    let transaction = await failure {
      try await documents.transaction { transaction in
        begun.withLock { $0 += 1 }
        _ = try await transaction.get(documents.document("a/b"))
      }
    }
    #expect(transaction as? DocumentsError == .cancelled)
    #expect(begun.withLock { $0 } == 0)
    await tern.close()
  }

  @Test("a task that is cancelled in the function of a transaction commits nothing")
  func beforeCommit() async throws {
    let tern = try client()
    let documents = tern.documents
    let runs = Mutex(0)
    let error = await failure(isLate: true) {
      try await documents.transaction { transaction in
        runs.withLock { $0 += 1 }
        try transaction.set(documents.document("a/b"), to: ["n": 1])
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    #expect(error as? DocumentsError == .cancelled)
    #expect(runs.withLock { $0 } == 1)
    #expect(await documents.session.callers.isEmpty, "no commit waits for an answer")
    await tern.close()
  }

  @Test("a task that is cancelled during the first read ends the transaction of documents")
  func duringRead() async throws {
    let tern = try client()
    let documents = tern.documents
    let error = await failure(isLate: true) {
      try await documents.transaction { transaction in
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await transaction.get(documents.document("a/b"))
      }
    }
    #expect(error as? DocumentsError == .cancelled)
    await tern.close()
  }
}
