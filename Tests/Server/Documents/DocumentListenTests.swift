import TernCore
import TernDocumentJSON
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

@Suite("Listening to documents")
struct DocumentListenTests {
  private func cities(_ id: Int32, resume: WatchTarget.Resume? = nil) throws -> WatchTarget {
    let query = try DocumentQuery.collection(try CollectionPath("cities"))
      .where("big", .equal, true)
    return WatchTarget(id: id, subject: .query(query.target), resume: resume)
  }

  private func commit(_ bench: DocumentBench, _ call: UInt32, _ writes: DocumentMutation...) throws
  {
    _ = try bench.ask(9, call, .commit(writes, transaction: [], nil)).get()
  }

  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench()
    for slot in [1, 2, 9] { try bench.link(slot) }
    return bench
  }

  @Test("tells what there is, that it is all, and then every change")
  func story() throws {
    let bench = try bench()
    try commit(bench, 1, bench.set("cities/a", ["big": true]), bench.set("cities/b", [:]))
    let first = try bench.listen(1, 1, try cities(2))
    #expect(first.map(\.brief) == ["add [2]", "cities/a [2]", "current [2]", "snapshot"])
    try commit(bench, 2, bench.set("cities/b", ["big": true]), bench.set("cities/c", [:]))
    #expect(bench.changes(1, 1).map(\.brief) == ["cities/b [2]", "snapshot"])
    try commit(bench, 3, bench.set("cities/a", ["big": false]))
    #expect(bench.changes(1, 1).map(\.brief) == ["cities/a [] not [2]", "snapshot"])
    try commit(bench, 4, .delete("cities/b"))
    #expect(bench.changes(1, 1).map(\.brief) == ["deleted cities/b [2]", "snapshot"])
    try commit(bench, 5, bench.set("other/x", ["big": true]))
    #expect(bench.changes(1, 1).isEmpty)
    try bench.say(1, 1, .listen(.remove(2)))
    #expect(bench.changes(1, 1).map(\.brief) == ["remove [2]"])
    try commit(bench, 6, bench.set("cities/z", ["big": true]))
    #expect(bench.changes(1, 1).isEmpty)
  }

  @Test("a listener that comes back is sent only what was missed")
  func resume() throws {
    let bench = try bench()
    try commit(bench, 1, bench.set("cities/a", ["big": true]), bench.set("cities/b", ["big": true]))
    let told = try bench.listen(1, 1, try cities(2))
    guard case .target(let snapshot)? = told.last else {
      Issue.record("a snapshot ends what is told")
      return
    }
    try bench.run([.closed(slot: 1)])
    try commit(bench, 2, bench.set("cities/c", ["big": true]), .delete("cities/b"))
    let missed = try bench.listen(2, 1, try cities(4, resume: .token(snapshot.resumeToken)))
    #expect(
      missed.map(\.brief)
        == ["add [4]", "deleted cities/b [4]", "cities/c [4]", "current [4]", "snapshot"])
    let strange = try bench.listen(2, 2, try cities(6, resume: .token([1, 2, 3])))
    #expect(strange.map(\.brief).prefix(2) == ["add [6]", "reset [6]"])
  }

  @Test("a change, and the snapshot behind it, are encoded once for all who call them alike")
  func shared() throws {
    let bench = try bench()
    _ = try bench.listen(1, 1, try cities(2))
    _ = try bench.listen(2, 1, try cities(2))
    try commit(bench, 1, bench.set("cities/a", ["big": true]))
    let slots = bench.lastOutputs.compactMap { output in
      if case .broadcast(let slots, _) = output { slots.sorted() } else { nil }
    }
    #expect(slots == [[1, 2], [1, 2]])
    #expect(bench.changes(1, 1).map(\.brief) == ["cities/a [2]", "snapshot"])
    #expect(bench.changes(2, 1).map(\.brief) == ["cities/a [2]", "snapshot"])
  }

  @Test("several targets share a stream, and one snapshot ends a batch")
  func targets() throws {
    let bench = try bench()
    let one = WatchTarget(id: 4, subject: .documents(["cities/a"]))
    let told = try bench.listen(1, 1, try cities(2), one)
    #expect(
      told.map(\.brief)
        == [
          "add [2]", "current [2]", "add [4]", "deleted cities/a [4]", "current [4]", "snapshot",
        ])
    try commit(bench, 1, bench.set("cities/a", ["big": true]))
    #expect(
      bench.changes(1, 1).map(\.brief) == ["cities/a [2]", "cities/a [4]", "snapshot"])
    try commit(bench, 2, bench.set("cities/b", ["big": true]), bench.set("cities/c", ["big": true]))
    #expect(
      bench.changes(1, 1).map(\.brief) == ["cities/b [2]", "cities/c [2]", "snapshot"])
  }

  @Test("a target that cannot be watched is refused; the others go on")
  func refusals() throws {
    let bench = try DocumentBench(authorizer: NoSecretDocuments())
    for slot in [1, 9] { try bench.link(slot) }
    let secret = DocumentQuery.collection(try CollectionPath("secret"))
    _ = try bench.listen(1, 1, try cities(2))
    try bench.say(1, 1, .listen(.add(WatchTarget(id: 4, subject: .query(secret.target)))))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [4] permissionDenied"])
    try bench.say(
      1, 1, .listen(.add(WatchTarget(id: 6, subject: .documents(["cities/a", "secret/b"])))))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [6] permissionDenied"])
    try bench.say(1, 1, .listen(.add(try cities(2))))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [2] alreadyExists"])
    // The target that was there is gone as well.
    try bench.say(1, 1, .listen(.add(try cities(2))))
    _ = bench.changes(1, 1)
    // A query that breaks a rule: a cursor without an order.
    let database = "projects/p/databases/(default)"
    let json = """
      {"database": "\(database)", "addTarget": {"targetId": 8, "query": {
        "parent": "\(database)/documents", "structuredQuery": {"from": [{"collectionId": "c"}],
        "startAt": {"values": [{"integerValue": "1"}]}}}}}
      """
    let bytes = try DocumentJSON.binary(.request(.listen), json: Array(json.utf8))
    try bench.send(1, .message(stream: 1, bytes))
    #expect(bench.changes(1, 1).map(\.brief) == ["refuse [8] invalidArgument"])
    try commit(bench, 1, bench.set("cities/a", ["big": true]))
    #expect(bench.changes(1, 1).map(\.brief) == ["cities/a [2]", "snapshot"])
  }

  @Test("an idle stream gets a heartbeat")
  func heartbeat() throws {
    let bench = try bench()
    _ = try bench.listen(1, 1, try cities(2))
    bench.uptime += 20_000
    try bench.run([.tick])
    #expect(bench.changes(1, 1).isEmpty)
    bench.uptime += 10_000
    bench.now += 30_000
    try bench.run([.tick])
    #expect(bench.changes(1, 1).map(\.brief) == ["snapshot"])
    try bench.run([.tick])
    #expect(bench.changes(1, 1).isEmpty)
  }

  @Test("a call that was cancelled, ended or lost is sent nothing more")
  func endings() throws {
    let bench = try bench()
    _ = try bench.listen(1, 1, try cities(2))
    _ = try bench.listen(1, 2, try cities(2))
    _ = try bench.listen(2, 1, try cities(2))
    try bench.send(1, .cancel(stream: 1))
    try bench.send(1, .halfClose(stream: 2))
    #expect(bench.end(1, 2) == .some(nil))
    try bench.run([.closed(slot: 2)])
    try commit(bench, 1, bench.set("cities/a", ["big": true]))
    #expect(bench.changes(1, 1).isEmpty)
    let sends = bench.lastOutputs.filter { output in
      if case .send(slot: 9, _) = output { false } else { true }
    }
    #expect(sends.isEmpty)
  }

  @Test("read times ascend on a stream, and reach what was committed")
  func times() throws {
    let bench = try bench()
    var last = DocumentVersion.none
    func follow(_ changes: [WatchChange]) {
      for case .target(let change) in changes {
        guard let time = change.readTime else { continue }
        #expect(time >= last)
        last = time
      }
      for case .changed(let document, _, _) in changes { #expect(document.version <= last) }
    }
    follow(try bench.listen(1, 1, try cities(2)))
    for step in UInt32(1)...20 {
      // The clock goes wrong in both directions.
      bench.now += step % 3 == 0 ? -500 : 7
      try commit(bench, step, bench.set("cities/a", ["big": true, "n": .integer(Int64(step))]))
      follow(bench.changes(1, 1))
    }
  }

  @Test("databases that look alike are distinguished, in one batch too")
  func databases() throws {
    let bench = try bench()
    bench.databases[2] = try DocumentDatabase(projectID: "q")
    try commit(bench, 1, bench.set("cities/a", ["big": true]))
    _ = try bench.ask(2, 1, .commit([bench.set("cities/b", ["big": true])], transaction: [], nil))
    let target = try cities(2)
    func add(_ slot: Int) -> [ServerInput] {
      let request = DocumentRequest(
        .listen(.add(target)), in: bench.databases[slot] ?? benchDatabase)
      return [
        bench.frame(slot, .open(stream: 5, DocumentCallOpening(.listen))),
        bench.frame(slot, .message(stream: 5, request.encode())),
      ]
    }
    try bench.run(add(1) + add(2))
    #expect(
      bench.changes(1, 5).map(\.brief) == ["add [2]", "cities/a [2]", "current [2]", "snapshot"])
    #expect(
      bench.changes(2, 5).map(\.brief) == ["add [2]", "cities/b [2]", "current [2]", "snapshot"])
  }
}
