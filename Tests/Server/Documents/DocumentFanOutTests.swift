import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorage
import TernTransportLoopback
import Testing

@testable import TernServer

/// The cost of a change for many watchers, and the messages to a client that comes back.
@Suite("Telling many")
struct DocumentFanOutTests {
  @Test("a change that 10,000 listeners on 100 queries watch is matched at most 100 times")
  func matches() throws {
    let bench = try DocumentBench()
    let rooms = DocumentQuery.collection(try CollectionPath("rooms"))
    let targets = try (0..<100).map { number in
      // Half of them are found by a value, the others by where they look.
      let query =
        number % 2 == 0
        ? try rooms.where("n", .greaterThanOrEqual, .integer(Int64(number)))
        : try rooms.where("s", .equal, 1).where("n", .lessThan, .integer(Int64(10_000 + number)))
      return WatchTarget(id: 2, subject: .query(query.target))
    }
    try bench.link(0)
    let requests = targets.map {
      DocumentRequest(.listen(.add($0)), in: benchDatabase).encode()
    }
    for first in stride(from: 1, through: 10_000, by: 500) {
      try bench.runUnread(
        (first..<first + 500).flatMap { slot in
          [
            .opened(slot: slot, isLocal: true),
            bench.frame(slot, .open(stream: 1, DocumentCallOpening(.listen))),
            bench.frame(slot, .message(stream: 1, requests[slot % 100])),
          ]
        })
    }
    let watch = try room(bench).watch
    #expect(watch.groupCount == 100)
    for call in UInt32(1)...3 {
      let before = watch.matchCount
      let write = bench.set("rooms/r", ["n": .integer(1_000 + Int64(call)), "s": 1])
      _ = try bench.ask(0, call, .commit([write], transaction: [], nil)).get()
      #expect(watch.matchCount - before <= 100)
      // For each query the change and the snapshot, of which there is one frame for all: clients
      // of one kind share them.
      let broadcasts = bench.lastOutputs.compactMap { output in
        if case .broadcast(let slots, let frame) = output { (slots, frame) } else { nil }
      }
      #expect(broadcasts.count == 200)
      #expect(broadcasts.reduce(0) { $0 + $1.0.count } == 20_000)
      #expect(Set(broadcasts.suffix(100).map(\.1)).count == 1)
      #expect(broadcasts.prefix(100).map(\.0) == broadcasts.suffix(100).map(\.0))
      #expect(bench.changes(5_000, 1).map(\.brief) == ["rooms/r [2]", "snapshot"])
    }
  }

  private func room(_ bench: DocumentBench) throws -> OpenDatabase {
    let registry = bench.machine.documents.registry
    return try bench.ledger.read { snapshot throws(StorageError) in
      try registry.database(benchDatabase, in: snapshot.reader)
    }
  }

  @Test(
    "a listener that resumes 10,000 documents of which one changed is sent that one, by another run too",
    .timeLimit(.minutes(10)))
  func resume() async throws {
    let kind = ServerStore.sqlite
    let folder = ServerStore.Folder()
    let query = DocumentQuery.collection(try CollectionPath("many"))
    var run = try await ServerRun(kind, folder)
    for part in 0..<10 {
      run.client.call(
        UInt32(part + 1),
        .commit(
          (0..<1_000).map { number in
            DocumentMutation(DocumentKey(unchecked: "many/\(part)-\(number)"), .set(["n": 1]))
          }, transaction: [], nil))
      guard case .answer = await run.client.next() else {
        Issue.record("a commit is answered")
        return
      }
    }
    let first = try await run.listen(20, query, token: nil, expecting: nil)
    #expect(first.keys.count == 10_000)
    run.client.call(
      21, .commit([DocumentMutation("many/3-7", .set(["n": 2]))], transaction: [], nil))
    guard case .message = await run.client.next() else {
      Issue.record("the listener hears of it first")
      return
    }
    await run.stop()
    run = try await ServerRun(kind, folder)
    let again = try await run.listen(1, query, token: first.token, expecting: 10_000)
    #expect(again.keys == ["many/3-7"])
    #expect(again.others == 0)
    await run.stop()
  }
}

/// A server over files, and one client of it.
private struct ServerRun {
  let client: RawDocumentClient
  private let server: TernServer
  private let store: any OrderedStore

  init(_ kind: ServerStore, _ folder: ServerStore.Folder) async throws {
    store = try kind.open(in: folder)
    let transport = LoopbackTransport()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    server = try await TernServer(ledger: ledger, on: transport)
    try await server.listen(on: transport)
    client = try await RawDocumentClient.connect(transport)
  }

  func stop() async {
    await server.stop()
    store.close()
  }

  /// Listens until everything is told: the documents, and what else was said about them.
  func listen(
    _ call: UInt32, _ query: DocumentQuery, token: [UInt8]?, expecting count: Int?
  ) async throws -> (keys: [String], others: Int, token: [UInt8]) {
    let target = WatchTarget(
      id: 2, subject: .query(query.target), resume: token.map { .token($0) },
      expectedCount: count)
    client.send(.open(stream: call, DocumentCallOpening(.listen)))
    let request = DocumentRequest(.listen(.add(target)), in: benchDatabase)
    client.send(.message(stream: call, request.encode()))
    var (keys, others): ([String], Int) = ([], 0)
    while let change = try await client.change(call) {
      switch change {
      case .changed(let document, _, _): keys.append(document.key.text)
      case .target(let change) where change.readTime != nil:
        return (keys, others, change.resumeToken)
      case .target(let change): if change.kind == .reset { others += 1 }
      case .deleted, .removed, .filter: others += 1
      }
    }
    Issue.record("everything is told")
    return (keys, others, [])
  }
}
