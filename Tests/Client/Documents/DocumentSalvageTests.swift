import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernQuery
import TernStorage
import TernStorageMemory
import TernSync
import TernTestKit
import Testing

@Suite("A damaged queue of documents", .timeLimit(.minutes(10)))
struct DocumentSalvageTests {
  private let disk = FaultyDisk()
  private let database: DocumentDatabase

  /// Row 3 of a queue.
  private static let third: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0, 3]

  init() throws { database = try DocumentDatabase(projectID: "demo") }

  /// Adds one to the counter of all tests.
  @discardableResult
  private func addOne(_ tern: TernDatabase) async throws -> DocumentWrite {
    try await tern.documents.document("counters/all").set(
      ["n": .transform(.increment(.integer(1)))], merging: true)
  }

  private func count(_ home: Home) async throws -> DocumentValue? {
    let tern = try home.documentClient()
    defer { Task { await tern.close() } }
    return try await tern.documents.document("counters/all").get(from: .server).data()?["n"]
  }

  /// Opens a client that has to do without its queue of documents.
  private func expectUnusable(
    _ error: QueueError, _ store: any OrderedStore, _ home: Home
  ) async throws {
    let notices = Notices()
    let tern = try home.documentClient(queue: store) { $0.report = notices.add }
    #expect(notices.all.contains(.documentQueueUnusable(user: "", error)))
    await #expect(throws: DocumentsError.queue(error)) { try await addOne(tern) }
    await tern.close()
  }

  @Test("a real server takes what is left under the old numbers, once each")
  func neverSent() async throws {
    let home = try await Home()
    let first = try home.documentClient(queue: disk.open())
    await first.documents.goOffline()
    for _ in 1...4 { try await addOne(first) }
    await first.close()
    disk.corrupt(Self.third)
    let store = disk.open()
    try await expectUnusable(.damaged(id: 3), store, home)
    let found = try TernDatabase.salvage(documentQueue: store, of: database)
    #expect(found.pending.map(\.id) == [1, 2, 4] && found.damaged.map(\.id) == [3])
    #expect(found.pending.allSatisfy { $0.mutations.map(\.key.text) == ["counters/all"] })
    #expect(found.damaged.first?.bytes.isEmpty == false)
    try TernDatabase.setDamagedAside(documentQueue: store, of: database)
    let second = try home.documentClient(queue: store)
    try await addOne(second).acknowledged()
    #expect(try await count(home) == 4)
    let status = await second.documents.queueStatus
    #expect(status.pending.isEmpty && status.rejected.isEmpty)
    await second.close()
    let left = try TernDatabase.salvage(documentQueue: store, of: database)
    #expect(left.isWell && left.setAside == found.damaged)
  }

  @Test("a damaged batch that had arrived stays, and nothing is sent again")
  func arrived() async throws {
    let home = try await Home()
    let first = try home.documentClient(queue: disk.open())
    for _ in 1...2 { try await addOne(first).acknowledged() }
    await first.documents.goOffline()
    for _ in 3...4 { try await addOne(first) }
    await first.close()
    // The device as it was before it heard the answers to the third and the fourth.
    let image = MemoryStore()
    try Self.copy(disk.open(), to: image)
    let sending = try home.documentClient(queue: disk.open())
    // No write comes after them that would tell the server that their outcomes were heard.
    try await sending.documents.waitForPendingWrites()
    await sending.close()
    #expect(try await count(home) == 4)
    try image.write { transaction throws(StorageError) in
      try transaction.put([1, 2], for: Self.third)
    }
    try TernDatabase.setDamagedAside(documentQueue: image, of: database)
    let again = try home.documentClient(queue: image)
    try await again.documents.waitForPendingWrites()
    #expect(try await count(home) == 4)
    let status = await again.documents.queueStatus
    #expect(status.pending.isEmpty && status.rejected.isEmpty)
    await again.close()
  }

  private static func copy(_ store: any OrderedStore, to other: MemoryStore) throws {
    let rows = try store.read { view throws(StorageError) in try view.scan(KeyRange(prefix: [])) }
    try other.write { transaction throws(StorageError) in
      for row in rows { try transaction.put(row.value, for: row.key) }
    }
  }

  @Test("without the queue's own record every pending batch is kept for its owner to decide")
  func lostClient() async throws {
    let home = try await Home()
    let first = try home.documentClient(queue: disk.open())
    await first.documents.goOffline()
    for _ in 1...3 { try await addOne(first) }
    await first.close()
    disk.corrupt([1])
    let store = disk.open()
    try await expectUnusable(.damagedHeader, store, home)
    #expect(try TernDatabase.salvage(documentQueue: store, of: database).hasLostClient)
    try TernDatabase.setDamagedAside(documentQueue: store, of: database)
    let second = try home.documentClient(queue: store)
    let refused = await second.documents.rejectedWrites
    #expect(refused.count == 3 && refused.allSatisfy(\.reason.isOutcomeUnknown))
    try await second.documents.retry(refused[0]).acknowledged()
    #expect(try await count(home) == 1)
    await second.close()
  }

  @Test("the queue of another database is not taken for a damaged one")
  func otherDatabase() async throws {
    let home = try await Home()
    let store = disk.open()
    let first = try home.documentClient(queue: store)
    await first.documents.goOffline()
    try await addOne(first)
    await first.close()
    let other = try DocumentDatabase(projectID: "other")
    #expect(throws: QueueError.self) {
      try TernDatabase.setDamagedAside(documentQueue: store, of: other)
    }
    let found = try TernDatabase.salvage(documentQueue: store, of: database)
    #expect(found.isWell && found.pending.count == 1)
  }

  @Test("what stands for a damaged batch goes unsent with a server that knows no numbers")
  func plainServer() throws {
    let store = MemoryStore()
    do {
      var bench = try DocumentBench(store: store)
      bench.isReachable = false
      for number in 1...3 { bench.set("\(number)", Int64(number)) }
    }
    try store.write { transaction throws(StorageError) in
      try transaction.put([1], for: [2, 0, 0, 0, 0, 0, 0, 0, 2])
    }
    try TernDatabase.setDamagedAside(documentQueue: store, of: try DocumentDatabase(projectID: "p"))
    var bench = try DocumentBench(store: store)
    bench.answer(.handshake(id: "s", lastSequence: nil))
    let sent = bench.writes.compactMap { request in
      if case .writes(let writes, _) = request.content { writes.count } else { nil }
    }
    #expect(sent == [1, 1])
    let version = DocumentVersion(microseconds: 50)
    for _ in 1...2 {
      bench.answer(.committed(version, [DocumentWriteResult(version: version)]))
    }
    #expect(bench.queue.count == 0)
  }

  @Test("what stands for a damaged batch is not kept when the server refuses it")
  func refusedFiller() throws {
    let store = MemoryStore()
    do {
      var bench = try DocumentBench(store: store)
      bench.isReachable = false
      bench.set("1", 1)
    }
    try store.write { transaction throws(StorageError) in
      try transaction.put([1], for: [2, 0, 0, 0, 0, 0, 0, 0, 1])
    }
    try TernDatabase.setDamagedAside(documentQueue: store, of: try DocumentDatabase(projectID: "p"))
    var bench = try DocumentBench(store: store)
    bench.answer(.handshake(id: "s", lastSequence: 0))
    bench.answer(
      .outcome(DocumentWriteOutcome(1, .rejected(DocumentStatus(.invalidArgument, "another")))))
    #expect(bench.queue.count == 0)
  }
}
