import Foundation
import Synchronization
import TernClient
import TernCore
import TernQuery
import TernSync
import TernTransactions
import TernTransport
import Testing

@Suite("One set of verbs", .timeLimit(.minutes(10)))
struct FrontTests {
  @Test("a wait for the server ends after its time, and the write goes on")
  func timeout() async throws {
    let home = try await Home()
    let tern = try home.documentClient()
    await tern.goOffline()
    let limit = Duration.milliseconds(20)
    let write = try await tern.tree["a"].set(1)
    await #expect(throws: AcknowledgementError.timedOut(after: limit)) {
      try await write.acknowledged(within: limit)
    }
    let other = try await tern.documents.document("a/b").set(["n": 1])
    await #expect(throws: DocumentsError.timedOut(after: limit)) {
      try await other.acknowledged(within: limit)
    }
    #expect(await tern.tree.pendingWrites.count == 1)
    #expect(await tern.documents.pendingWrites.count == 1)
    await tern.goOnline()
    try await write.acknowledged(within: .seconds(120))
    try await other.acknowledged(within: .seconds(120))
    try await tern.tree.waitForPendingWrites()
    #expect(await tern.tree.pendingWrites.isEmpty)
    await tern.close()
  }

  @Test("documents that were not opened are an error of every operation")
  func noDocuments() async throws {
    let home = try await Home()
    let tern = try home.client()
    let document = tern.documents.document("a/b")
    await #expect(throws: DocumentsError.notOpened) { try await document.get() }
    await #expect(throws: DocumentsError.notOpened) { try await document.set(["a": 1]) }
    await #expect(throws: DocumentsError.notOpened) {
      for try await _ in document.snapshots() {}
    }
    await #expect(throws: DocumentsError.notOpened) {
      try await tern.documents.transaction { _ = try await $0.get(document) }
    }
    for await _ in tern.documents.connection {}
    await tern.goOffline()
    await tern.close()
  }

  @Test("each namespace is a tree of its own")
  func namespaces() async throws {
    let home = try await Home()
    let (harbor, plain) = (try home.client { $0.namespace = "harbor" }, try home.client())
    try await harbor.tree["berths/a1"].set("free").acknowledged()
    #expect(try await plain.tree["berths"].get().exists == false)
    let again = try home.client { $0.namespace = "harbor" }
    #expect(try await again.tree["berths/a1"].get().string == "free")
    for tern in [harbor, plain, again] { await tern.close() }
  }

  @Test("every error says what it is about, also where only its localized text is shown")
  func texts() {
    let errors: [any TernError] = [
      WriteError.closed, AcknowledgementError.rejected(Rejection(status: "no", detail: "why")),
      ReadError.offline, ListenError.overflow(limit: 3), DisconnectError.closed,
      OpeningError.queue(.damagedHeader), AuthError.malformedToken,
      TreeCodingError.decoding("x: y"), DocumentCodingError.encoding("x: y"),
      DocumentsError.notOpened, TransactionError.overridden, TransportError.shutDown,
      TreeError.emptyKey, TreeQueryError.orderAlreadySet, DocumentError.notDocument(path: "a"),
      QueueError.noSuchWrite(id: 1), Rejection(status: "no", detail: ""),
    ]
    for error in errors {
      #expect(error.localizedDescription == error.description)
      #expect(error.description.contains(" ") || error.description == "no")
      #expect(!error.description.contains("Tern"))
    }
    #expect(errors[1].localizedDescription == "the server rejected the write: no: why")
  }

  @Test("a pushed value is encoded, and events and snapshots decode and print")
  func decoding() async throws {
    struct Message: Codable, Equatable {
      var text: String
      var sent: Date
    }
    let home = try await Home()
    let tern = try home.client()
    let message = Message(text: "Hi", sent: Date(timeIntervalSince1970: 1_760_000_000.125))
    let (place, write) = try await tern.tree["log"].push(from: message)
    try await write.acknowledged()
    let event = try #require(try await tern.tree["log"].children().first { _ in true })
    #expect(try event.decode(Message.self) == message)
    #expect(event.description.hasPrefix("added \(place.name): {"))
    let snapshot = try await place.get()
    #expect(try snapshot.decode(Message.self) == message)
    #expect(snapshot.description == #"\#(place): {"sent":1760000000125,"text":"Hi"}"#)
    let error = #expect(throws: TreeCodingError.self) { try snapshot.decode([String: Int].self) }
    #expect(error?.description.hasPrefix("\(place): ") == true)
    await tern.close()
  }
}
