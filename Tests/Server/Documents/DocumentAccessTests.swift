import Synchronization
import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

/// Denies what a test says, and remembers what it was asked.
private final class Gate: DocumentAuthorizer {
  private struct State {
    var isDenied: @Sendable (DocumentAccess, Requester, Int64) -> Bool = { _, _, _ in false }
    /// Documents that have to say `open` for everything below the collection of that name.
    var switches: [String: DocumentKey] = [:]
    var asked: [DocumentAccess] = []
  }

  private let state = Mutex(State())

  func deny(_ isDenied: @escaping @Sendable (DocumentAccess, Requester, Int64) -> Bool) {
    state.withLock { $0.isDenied = isDenied }
  }

  func open(_ collection: String, by key: DocumentKey) {
    state.withLock { $0.switches[collection] = key }
  }

  /// Returns the requests since the last look.
  func asked() -> [DocumentAccess] {
    state.withLock { state in
      defer { state.asked = [] }
      return state.asked
    }
  }

  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    let (isDenied, key) = state.withLock { state in
      state.asked.append(access)
      return (state.isDenied, access.collection.flatMap { state.switches[$0] })
    }
    if isDenied(access, requester, now) { return false }
    guard let key else { return true }
    return documents(key).fields?["open"] == true
  }
}

extension DocumentAccess {
  /// The collection it is about, if it is one.
  fileprivate var collection: String? {
    switch self {
    case .get(let document): document.key.collection.text
    case .list(let query): query.collectionID
    case .write(let write): write.before.key.collection.text
    case .listCollections, .privileged: nil
    }
  }

  fileprivate var isReading: Bool {
    if case .write = self { false } else { true }
  }
}

@Suite("Permissions for documents")
struct DocumentAccessTests {
  private let gate = Gate()

  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench(authorizer: gate)
    for slot in [1, 2, 9] { try bench.link(slot) }
    _ = try bench.ask(
      9, 1,
      .commit([bench.set("secret/a", ["n": 1]), bench.set("open/a", [:])], transaction: [], nil)
    ).get()
    gate.deny { access, _, _ in access.collection == "secret" }
    return bench
  }

  private func query(_ path: String) -> DocumentQuery {
    .collection(CollectionPath(unchecked: path))
  }

  private func code(_ answer: DocumentAnswer) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  @Test("every request that reads or writes is judged, and nothing of it is done or revealed")
  func requests() throws {
    let bench = try bench()
    let secret = query("secret")
    let count = [DocumentAggregation("n", .count(upTo: nil))]
    let patch = DocumentMutation("secret/a", .patch(["n": 2], mask: DocumentFieldMask(["n"])))
    let bodies: [DocumentRequest.Body] = [
      .get("secret/a", mask: nil, .now), .batchGet(["open/a", "secret/a"], mask: nil, .now),
      .get("secret/none", mask: nil, .now), .query(secret, .now),
      .query(secret, .begin(.readOnly(nil))), .aggregate(secret, count, .now),
      .list(DocumentListing(parent: nil, collectionID: "secret")),
      .create(CollectionPath(unchecked: "secret"), id: "b", [:], mask: nil),
      .update(patch, mask: nil), .delete(DocumentMutation("secret/a", .delete)),
      .commit([bench.set("open/b", [:]), bench.set("secret/b", [:])], transaction: [], nil),
      .commit(
        [DocumentMutation("secret/a", .verify, precondition: .exists(true))], transaction: [], nil),
    ]
    for (call, body) in zip(UInt32(10)..., bodies) {
      #expect(code(try bench.ask(1, call, body)) == .permissionDenied, "\(body)")
      #expect(bench.lastCommits.isEmpty)
    }
    let writes = [bench.set("secret/c", [:]), bench.set("open/c", [:])]
    guard case .batchWrite(_, let statuses)? = try bench.ask(1, 50, .batchWrite(writes)).get().first
    else { return }
    #expect(statuses.map { $0?.code } == [.permissionDenied, nil])
    #expect(code(try bench.ask(1, 51, .get("open/b", mask: nil, .now))) == .notFound)
    gate.deny { access, _, _ in if case .listCollections = access { true } else { false } }
    let list = DocumentRequest.Body.listCollections(below: nil, DocumentPageRequest(), .now)
    #expect(code(try bench.ask(1, 52, list)) == .permissionDenied)
    let parts = DocumentPartitioning(query: try .group("k").ordered(by: .key), count: 2)
    gate.deny { access, _, _ in if case .list = access { true } else { false } }
    #expect(code(try bench.ask(1, 53, .partition(parts))) == .permissionDenied)
  }

  @Test(
    "the failure of a precondition is reported only to clients that may write or read the document")
  func conditions() throws {
    let bench = try bench()
    let writes: [DocumentMutation] = [
      DocumentMutation("secret/a", .set(.empty), precondition: .exists(false)),
      DocumentMutation("secret/x", .delete, precondition: .exists(true)),
      DocumentMutation("secret/x", .patch(.empty, mask: .empty), precondition: .exists(true)),
      DocumentMutation(
        "secret/a", .delete, precondition: .version(DocumentVersion(microseconds: 7))),
      DocumentMutation("secret/x", .verify, precondition: .exists(true)),
    ]
    for (call, write) in zip(UInt32(10)..., writes) {
      let answer = try bench.ask(1, call, .commit([write], transaction: [], nil))
      #expect(code(answer) == .permissionDenied, "\(write)")
    }
    let codes: [DocumentStatus.Code] = [
      .alreadyExists, .notFound, .notFound, .failedPrecondition, .notFound,
    ]
    gate.deny { _, _, _ in false }
    for (call, (write, expected)) in zip(UInt32(20)..., zip(writes, codes)) {
      let answer = try bench.ask(1, call, .commit([write], transaction: [], nil))
      #expect(code(answer) == expected, "\(write)")
    }
  }

  @Test("a transaction reads and writes what is allowed, in all its steps")
  func transactions() throws {
    let bench = try bench()
    let begin = try bench.ask(
      1, 10, .batchGet(["open/a"], mask: nil, .begin(.readWrite(retrying: []))))
    guard case .batchGet(let head)? = try begin.get().first else { return }
    let id = head.transaction
    #expect(
      code(try bench.ask(1, 11, .get("secret/a", mask: nil, .transaction(id)))) == .permissionDenied
    )
    #expect(
      code(try bench.ask(1, 12, .query(query("secret"), .transaction(id)))) == .permissionDenied)
    let commit = DocumentRequest.Body.commit([bench.set("secret/a", [:])], transaction: id, nil)
    #expect(code(try bench.ask(1, 13, commit)) == .permissionDenied)
    #expect(bench.lastCommits.isEmpty)
  }

  @Test("a write is judged by what it leaves, a denied one is an outcome")
  func outcomes() throws {
    let bench = try bench()
    gate.deny { access, _, _ in
      if case .write(let write) = access { write.after.fields?["n"] == 13 } else { false }
    }
    try bench.openWrites(1, 10, stream: 5)
    let add = DocumentMutation(
      "open/n", .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(13)))])
    let denied = DocumentWriteResponse.Content.outcome(
      DocumentWriteOutcome(
        1,
        .rejected(DocumentStatus(.permissionDenied, "Missing or insufficient permissions."))))
    for _ in 0..<2 {
      #expect(try bench.write(1, 10, [add], DocumentWriteHeader(sequence: 1)) == denied)
    }
    let more = DocumentMutation(
      "open/n", .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(26)))])
    guard
      case .outcome(let next)? = try bench.write(
        1, 10, [more, add], DocumentWriteHeader(sequence: 2)),
      case .committed(_, let results) = next.verdict
    else {
      Issue.record("twenty-six and thirty-nine are allowed")
      return
    }
    #expect(results.map(\.transformResults) == [[26], [39]])
    // It is told once more when the rules have changed, in another run too.
    gate.deny { _, _, _ in false }
    let again = try DocumentBench(store: bench.store, authorizer: gate)
    try again.link(1)
    #expect(try again.openWrites(1, 1, stream: 5) == 2)
    #expect(try again.write(1, 1, [add], DocumentWriteHeader(sequence: 1)) == denied)
  }

  private func target(_ id: Int32, _ path: String, resume: WatchTarget.Resume? = nil) -> WatchTarget
  {
    WatchTarget(id: id, subject: .query(query(path).target), resume: resume)
  }

  @Test("listening is judged when it begins and when it resumes")
  func listening() throws {
    let bench = try bench()
    #expect(
      try bench.listen(1, 10, target(2, "secret")).map(\.brief) == ["refuse [2] permissionDenied"])
    gate.deny { _, _, _ in false }
    let told = try bench.listen(1, 11, target(2, "secret"))
    guard case .target(let snapshot)? = told.last else { return }
    try bench.send(1, .cancel(stream: 11))
    gate.deny { access, _, _ in access.collection == "secret" }
    let back = target(2, "secret", resume: .token(snapshot.resumeToken))
    #expect(try bench.listen(1, 12, back).map(\.brief) == ["refuse [2] permissionDenied"])
    let then = target(4, "secret", resume: .readTime(snapshot.readTime ?? .none))
    #expect(try bench.listen(1, 13, then).map(\.brief) == ["refuse [4] permissionDenied"])
    let one = WatchTarget(id: 6, subject: .documents(["open/a", "secret/a"]))
    #expect(try bench.listen(1, 14, one).map(\.brief) == ["refuse [6] permissionDenied"])
  }

  private func commit(_ bench: DocumentBench, _ call: UInt32, _ writes: DocumentMutation...) throws
  {
    _ = try bench.ask(9, call, .commit(writes, transaction: [], nil)).get()
  }

  @Test("what is pushed is judged: by the time, and by what documents are then")
  func pushes() throws {
    let bench = try bench()
    gate.deny { _, _, _ in false }
    gate.open("rooms", by: "open/switch")
    try commit(bench, 10, bench.set("open/switch", ["open": true]))
    _ = try bench.listen(1, 10, target(2, "rooms"), target(4, "open"))
    _ = try bench.listen(2, 10, target(2, "rooms"))
    try commit(bench, 11, bench.set("rooms/a", ["n": 1]))
    #expect(bench.changes(1, 10).map(\.brief) == ["rooms/a [2]", "snapshot"])
    #expect(bench.changes(2, 10).map(\.brief) == ["rooms/a [2]", "snapshot"])
    // One who is another is judged by itself.
    let deadline = bench.now + 1_000
    gate.deny { access, requester, now in
      access.collection == "rooms" && access.isReading && !requester.isLocal && now > deadline
    }
    try bench.link(3, isLocal: false)
    _ = try bench.listen(3, 10, target(2, "rooms"))
    bench.now += 2_000
    try commit(bench, 12, bench.set("rooms/a", ["n": 2]))
    #expect(bench.changes(3, 10).map(\.brief) == ["refuse [2] permissionDenied"])
    #expect(bench.changes(1, 10).map(\.brief) == ["rooms/a [2]", "snapshot"])
    _ = bench.take(2)
    // The same commit closes the rooms and changes one: its watchers are not told the change.
    gate.deny { access, _, _ in !access.isReading && false }
    try commit(
      bench, 13, bench.set("rooms/a", ["n": 3]), bench.set("open/switch", ["open": false]))
    #expect(
      bench.changes(1, 10).map(\.brief)
        == ["refuse [2] permissionDenied", "open/switch [4]", "snapshot"])
    #expect(bench.changes(2, 10).map(\.brief) == ["refuse [2] permissionDenied"])
    _ = gate.asked()
    gate.open("rooms", by: "open/always")
    try commit(bench, 14, bench.set("open/always", ["open": true]))
    try commit(bench, 15, bench.set("rooms/a", ["n": 4]))
    #expect(bench.changes(2, 10).isEmpty, "the target is over")
  }

  @Test("a watched document is judged as it has become")
  func documents() throws {
    let bench = try bench()
    gate.deny { access, _, _ in
      if case .get(let document) = access { document.fields?["hidden"] == true } else { false }
    }
    let one = WatchTarget(id: 2, subject: .documents(["open/a", "open/b"]))
    _ = try bench.listen(1, 10, one)
    try commit(bench, 10, bench.set("open/b", ["n": 1]))
    #expect(bench.changes(1, 10).map(\.brief) == ["open/b [2]", "snapshot"])
    try commit(bench, 11, bench.set("open/b", ["hidden": true]))
    #expect(bench.changes(1, 10).map(\.brief) == ["refuse [2] permissionDenied"])
    try commit(bench, 12, bench.set("open/a", ["n": 2]))
    #expect(bench.changes(1, 10).isEmpty)
  }

  @Test("listeners of one identity are judged once for a push, however many they are")
  func askedOnce() throws {
    let bench = try bench()
    gate.deny { _, _, _ in false }
    for slot in 100..<200 {
      try bench.link(slot)
      _ = try bench.listen(slot, 1, target(2, "open"))
    }
    _ = gate.asked()
    try commit(bench, 10, bench.set("open/z", [:]))
    let lists = gate.asked().filter { if case .list = $0 { true } else { false } }
    #expect(lists.count == 1)
    #expect(bench.changes(150, 1).map(\.brief) == ["open/z [2]", "snapshot"])
  }

  @Test("other rules end targets that they would not have let begin")
  func judgedAgain() throws {
    let bench = try bench()
    gate.deny { _, _, _ in false }
    _ = try bench.listen(1, 10, target(2, "secret"), target(4, "open"))
    let one = WatchTarget(id: 6, subject: .documents(["secret/a"]))
    _ = try bench.listen(2, 10, one)
    try bench.run([.adopt(ticket: 1, ServerAccess(documents: NoSecretDocuments()))])
    #expect(bench.changes(1, 10).map(\.brief) == ["refuse [2] permissionDenied"])
    #expect(bench.changes(2, 10).map(\.brief) == ["refuse [6] permissionDenied"])
    try commit(bench, 10, bench.set("open/n", [:]))
    #expect(bench.changes(1, 10).map(\.brief) == ["open/n [4]", "snapshot"])
    let denied = try bench.ask(1, 20, .commit([bench.set("secret/n", [:])], transaction: [], nil))
    #expect(code(denied) == .permissionDenied)
  }
}
