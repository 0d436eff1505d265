import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import TernStorageMemory
import TernSync
import Testing

@Suite("Waits for pending writes of documents")
struct PendingWritesTests {
  private func committed(_ sequences: UInt64...) -> DocumentWriteResponse.Content {
    let version = DocumentVersion(microseconds: 50)
    return .outcomes(
      sequences.map {
        DocumentWriteOutcome(
          $0, .committed(version, [DocumentWriteResult(version: version)]))
      })
  }

  @Test("a wait ends with the writes before it, and not with later ones")
  func earlierWrites() throws {
    var bench = try DocumentBench()
    bench.run { _ = $0.waitForPendingWrites() }
    #expect(bench.waits == [false], "nothing is pending")
    bench.set("1", 1)
    bench.run { _ = $0.waitForPendingWrites() }
    bench.set("2", 2)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    #expect(bench.waits.count == 1)
    let denial = DocumentStatus(.permissionDenied, "")
    bench.answer(.outcome(DocumentWriteOutcome(1, .rejected(denial))))
    #expect(bench.waits == [false, false], "answered is answered, whatever the answer")
    #expect(bench.queue.count > 0, "the second write is pending")
  }

  @Test("a wait goes on while the network is off and over a broken link")
  func offline() throws {
    var bench = try DocumentBench()
    bench.set("1", 1)
    bench.run { _ = $0.waitForPendingWrites() }
    bench.run { $0.setNetwork(isEnabled: false) }
    bench.set("2", 2)
    #expect(bench.waits.isEmpty)
    bench.run { $0.setNetwork(isEnabled: true) }
    bench.answer(.handshake(id: "s", lastSequence: 0))
    bench.breakLink()
    #expect(bench.waits.isEmpty)
    bench.fire(.connection(.retry))
    bench.answer(.handshake(id: "s", lastSequence: 1))
    bench.answer(committed(1))
    #expect(bench.waits == [false])
  }

  @Test("a client that goes offline and comes back ends its wait", .timeLimit(.minutes(10)))
  func client() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    await tern.documents.goOffline()
    try await tern.documents.document("a/1").set(["x": 1])
    let waiting = Task { try await tern.documents.waitForPendingWrites() }
    await tern.documents.goOnline()
    try await waiting.value
    #expect(await tern.documents.queueStatus.pending.isEmpty)
    let other = try home.documentClient()
    #expect(try await other.documents.document("a/1").get(from: .server)["x"] == 1)
    await tern.close()
    await other.close()
  }
}
