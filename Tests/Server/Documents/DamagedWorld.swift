import Foundation
import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorage
import Testing

@testable import TernDocumentAuthority
@testable import TernServer

/// A server with documents of which some records are damaged, and a client that needs none of them.
final class DamagedWorld {
  let store: DamagedStore
  let bench: DocumentBench
  private let folder = ServerStore.Folder()
  private let other: DocumentDatabase
  private(set) var token: [UInt8] = []
  private(set) var early = DocumentVersion.none
  private var call: UInt32 = 100

  static let victim = 1
  static let writer = 2
  /// Uses another database.
  static let healthy = 3

  init(_ kind: ServerStore) throws {
    other = try DocumentDatabase(projectID: "other")
    store = DamagedStore(try kind.open(in: folder))
    // Everything is in its row at once, none of it only in the journal.
    bench = try DocumentBench(store: store, ledgerOptions: LedgerOptions(journalRows: 0))
    for slot in [DamagedWorld.victim, DamagedWorld.writer, DamagedWorld.healthy] {
      try bench.link(slot)
    }
    bench.databases[DamagedWorld.healthy] = other
    try write("c/a", 1)
    try write("c/b", 2)
    try write("c/d", 3)
    try write("c/a/k/z", 4)
    let told = try bench.listen(DamagedWorld.writer, next(), try target(2, "o"))
    guard case .target(let snapshot)? = told.last else { return }
    token = snapshot.resumeToken
    early = snapshot.readTime ?? .none
    bench.now += 10
    try write("c/d", 5)
    try write("o/x", 6)
    _ = bench.take(DamagedWorld.writer)
  }

  deinit { store.close() }

  /// Returns the number of the next call, for any client.
  func next() -> UInt32 {
    call += 1
    return call
  }

  func write(_ key: DocumentKey, _ value: Int64) throws {
    call += 1
    let writes = [bench.set(key, ["n": .integer(value), "s": "x"])]
    _ = try bench.ask(DamagedWorld.writer, call, .commit(writes, transaction: [], nil)).get()
  }

  func target(
    _ id: Int32, _ path: String, resume: WatchTarget.Resume? = nil
  ) throws -> WatchTarget {
    let query = DocumentQuery.collection(try CollectionPath(path))
    return WatchTarget(id: id, subject: .query(query.target), resume: resume)
  }

  /// Damages the rows of a kind whose key ends so.
  func damage(_ kind: DocumentRows.Kind, _ isMeant: ([UInt8]) -> Bool = { _ in true }) throws {
    let prefix = StoreLayout.documents(benchDatabase) + [kind.rawValue]
    let count = try store.damage { $0.starts(with: prefix) && isMeant($0) }
    #expect(count > 0)
  }

  /// Returns the victim's answer, while another client is served in the same batch.
  func status(of body: DocumentRequest.Body) throws -> DocumentStatus.Code? {
    let number = next()
    let request = DocumentRequest(body, in: benchDatabase)
    let victim = bench.frame(
      DamagedWorld.victim,
      .open(stream: number, DocumentCallOpening(request.method, message: request.encode())))
    try bench.run([victim] + healthyCommit() + [victimPing()])
    try expectHealthy()
    var code: DocumentStatus.Code?
    for case .end(number, let status) in bench.take(DamagedWorld.victim) { code = status?.code }
    return code
  }

  /// Returns the server's response to the victim's target.
  func listen(_ target: WatchTarget) throws -> String? {
    let number = next()
    let request = DocumentRequest(.listen(.add(target)), in: benchDatabase)
    let frames = [
      bench.frame(DamagedWorld.victim, .open(stream: number, DocumentCallOpening(.listen))),
      bench.frame(DamagedWorld.victim, .message(stream: number, request.encode())),
    ]
    try bench.run(frames + healthyCommit())
    try expectHealthy()
    return bench.changes(DamagedWorld.victim, number).last?.brief
  }

  private func healthyCommit() throws -> [ServerInput] {
    call += 1
    let write = bench.set("o/y", ["n": .integer(Int64(call))])
    let request = DocumentRequest(.commit([write], transaction: [], nil), in: other)
    return [
      bench.frame(
        DamagedWorld.healthy,
        .open(stream: call, DocumentCallOpening(request.method, message: request.encode())))
    ]
  }

  private func victimPing() -> ServerInput { bench.frame(DamagedWorld.victim, .ping) }

  private func expectHealthy() throws {
    #expect(bench.closed.isEmpty)
    var isDone = false
    for case .end(call, nil) in bench.take(DamagedWorld.healthy) { isDone = true }
    #expect(isDone, "another client's commit in the same batch")
  }
}
