import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync
import Testing

@Suite("Mistakes with documents in the client")
struct DocumentMistakeTests {
  @Test(
    "a reference to another database is stored, and refused in filters and cursors",
    .timeLimit(.minutes(10)))
  func foreignReferences() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let name = DocumentName(
      try DocumentKey("a/2"), in: try DocumentDatabase(projectID: "elsewhere"))
    let value = DocumentValue.reference(name)
    let (one, all) = (documents.document("a/1"), documents.collection("a"))
    try await one.set(["r": .value(value), "m": ["r": [1, .value(value)]]]).acknowledged()
    #expect(try await one.get(from: .server)["r"] == value)
    try await one.update(["l": .transform(.arrayUnion([1, ["r": value]]))]).acknowledged()
    #expect(try await one.get(from: .server)["l"] == [1, ["r": value]])
    try await documents.transaction { try $0.set(one, to: ["t": .value(value)]) }
    #expect(try await one.get(from: .server)["t"] == value)
    for query in [
      all.where("r", .equals, value), all.filtered(.where(.key, .in, .array([value]))),
      all.order(by: "r").start(at: value),
    ] {
      await #expect(throws: DocumentsError.self) { try await query.get(from: .cache) }
    }
    #expect(await documents.queueStatus.pending.isEmpty)
    let own = try documents.document("a/2").value()
    #expect(own.reference?.key == (try DocumentKey("a/2")))
    #expect(throws: DocumentsError.self) { try documents.document("a").value() }
    try await one.set(["r": .value(own), "m": ["l": [.value(own)]]]).acknowledged()
    #expect(try await all.where("r", .equals, own).get(from: .server).documents.map(\.id) == ["1"])
  }

  @Test(
    "calls on closed documents fail at once, whatever is asked",
    .timeLimit(.minutes(10)))
  func closed() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let (one, all) = (documents.document("a/1"), documents.collection("a"))
    try await one.set(["n": 1]).acknowledged()
    var steps = documents.snapshotsInSync().makeAsyncIterator()
    _ = try await steps.next()
    await documents.terminate()
    await #expect(throws: DocumentsError.closed) { while try await steps.next() != nil {} }
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await one.get() }, { _ = try await one.get(from: .cache) },
      { _ = try await all.get(from: .server) }, { _ = try await all.count() },
      { _ = try await all.page() }, { _ = try await documents.collectionIDs() },
      { try await one.set(["n": 2]) }, { try await documents.waitForPendingWrites() },
      { try await documents.loadBundle([]) },
      { try await documents.transaction { try $0.set(one, to: ["n": 2]) } },
      { try await documents.transaction { _ = try await $0.get(one) } },
      { for try await _ in all.snapshots() {} }, { for try await _ in one.snapshots() {} },
      { for try await _ in documents.snapshotsInSync() {} },
    ]
    for (index, call) in calls.enumerated() {
      await #expect(throws: DocumentsError.closed, "call \(index)") { try await call() }
    }
  }

  @Test(
    "a transaction that breaks a rule writes nothing, even if its error is caught",
    .timeLimit(.minutes(10)))
  func caught() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let (one, missing) = (documents.document("a/1"), documents.document("a/none"))
    try await one.set(["n": 1]).acknowledged()
    let breaches: [@Sendable (DocumentTransaction) async -> Void] = [
      {
        try? $0.set(one, to: ["n": 2])
        _ = try? await $0.get(one)
      },
      {
        _ = try? await $0.get(missing)
        try? $0.update(missing, ["n": 2])
        try? $0.set(one, to: ["n": 2])
      },
      {
        try? $0.set(one, to: ["n": 2])
        try? $0.set(missing, to: ["__n__": 2])
      },
      {
        try? $0.remove(documents.document("a"))
        try? $0.set(one, to: ["n": 2])
      },
    ]
    for (index, breach) in breaches.enumerated() {
      await #expect(throws: DocumentsError.self, "breach \(index)") {
        try await documents.transaction { await breach($0) }
      }
    }
    #expect(try await one.get(from: .server)["n"] == 1)
  }
}
