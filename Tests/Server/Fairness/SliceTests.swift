import TernCore
import TernQuery
import TernSecurity
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Long work is done in slices, between which others have their turn.
@Suite("Slices") struct SliceTests {
  private let slice = BatchPortion(linkBytes: .max, totalBytes: .max, steps: 100)

  private func open(_ slot: Int, listening count: Int, _ bench: MachineBench) throws {
    try bench.open(slot)
    let frames = try (0..<count).map { try bench.frame(slot, bench.listen("a/p\($0)")) }
    try bench.run(frames)
    #expect(bench.take(slot).count == count)
  }

  @Test("the end of a session with many listens lets others in between, and forgets all")
  func ending() throws {
    let bench = try MachineBench()
    try open(1, listening: 10_000, bench)
    try bench.open(2)
    bench.portion = slice
    try bench.run([.closed(slot: 1), bench.frame(2, .get("b", .all))])
    #expect(bench.deferred.count == 2, "the rest of the end, and the request behind it")
    try bench.run(bench.deferred.reversed())
    #expect(bench.take(2).map(\.brief) == ["ok"], "before the end is decided")
    #expect(bench.machine.sessions.count == 1, "the session itself ended at once")
    #expect(try bench.finish() >= 10_000 / 100 - 3)
    #expect(bench.machine.sessions.ending.isEmpty)
    #expect(bench.budget.usedBytes(for: .listens) == 0)
    #expect(bench.machine.tree.namespaces.count == 1)
    #expect(bench.machine.tree.namespaces.values.allSatisfy { $0.listens.root.children.isEmpty })
  }

  @Test("a session that the server ends is cleared away with its link")
  func expelled() throws {
    let bench = try MachineBench()
    try open(1, listening: 500, bench)
    bench.portion = slice
    bench.uptime = 100_000_000
    try bench.run([.tick])
    #expect(bench.closed[1] != nil)
    #expect(bench.machine.sessions.ending.count == 1)
    try bench.run([.closed(slot: 1)])
    _ = try bench.finish()
    #expect(bench.machine.sessions.ending.isEmpty && bench.machine.tree.namespaces.isEmpty)
  }

  @Test("other rules are judged in slices; until then nothing is pushed that they deny")
  func review() throws {
    let bench = try MachineBench(authorizer: RulesAuthorizer(try TreeRules(open)))
    try open(1, listening: 1_000, bench)
    try bench.open(2)
    bench.portion = slice
    let rules = RulesAuthorizer(
      try TreeRules(#"{"rules": {".write": true, "a": {"p0": {".read": true}}}}"#))
    try bench.run([.adopt(ticket: 7, ServerAccess(tree: rules))])
    #expect(bench.isUnfinished)
    #expect(bench.answers[7] == nil, "not before all of it is in force")
    let first = bench.take(1).count
    #expect(first > 0 && first < 100)
    // Listens are judged from the last one on: these were not yet.
    for path in ["a/p0", "a/p1"] { try bench.ask(2, bench.put(path, json("1"))) }
    let told = bench.take(1).map(\.brief)
    #expect(told.contains("put a/p0 1") && told.contains("revoked a/p1"))
    #expect(!told.contains("put a/p1 1"))
    #expect(try bench.finish() > 10)
    #expect(bench.answers[7] == .done)
    #expect(first + told.count - 1 + bench.take(1).count == 999, "each was told once")
    #expect(bench.machine.sessions[1]?.listens.count == 1)
  }

  @Test("listens that are judged before a write is told are work of the write")
  func reviewByWrite() throws {
    let bench = try MachineBench(authorizer: RulesAuthorizer(try TreeRules(open)))
    try open(1, listening: 1_000, bench)
    for slot in 2...3 { try bench.open(slot) }
    bench.portion = slice
    let rules = RulesAuthorizer(
      try TreeRules(#"{"rules": {".write": true, "b": {".read": true}}}"#))
    try bench.run([.adopt(ticket: 7, ServerAccess(tree: rules))])
    #expect(bench.isUnfinished)
    try bench.run([bench.frame(2, bench.put("a", 1)), bench.frame(3, .get("b", .all))])
    #expect(bench.deferred.count == 1, "others have their turn first")
    _ = try bench.finish()
    #expect(bench.take(1).allSatisfy { $0.brief.hasPrefix("revoked") })
  }

  private let open = #"{"rules": {".read": true, ".write": true}}"#

  @Test("listens come and go while they are judged, and none is judged twice or never")
  func changingReview() throws {
    let bench = try MachineBench(authorizer: RulesAuthorizer(try TreeRules(open)))
    try open(1, listening: 600, bench)
    bench.portion = slice
    try bench.run([
      .adopt(ticket: 7, ServerAccess(tree: RulesAuthorizer(try TreeRules(#"{"rules": {}}"#))))
    ])
    for path in 0..<50 {
      let text = "a/p\(path * 7)"
      try bench.run([bench.frame(1, .unlisten(try TreePath(text), .all, tag: nil)), .goOn])
    }
    _ = try bench.finish()
    let revoked = bench.take(1).map(\.brief).filter { $0.hasPrefix("revoked") }
    #expect(Set(revoked).count == revoked.count)
    #expect(bench.machine.sessions[1]?.listens.count == 0)
    #expect(bench.budget.usedBytes(for: .listens) == 0)
  }

  @Test("long answers end a batch; short requests behind them come in the next one")
  func longAnswers() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    try bench.ask(1, bench.put("big", json("\"\(String(repeating: "x", count: 100_000))\"")))
    bench.portion = slice
    try bench.run([
      bench.frame(1, .get("big", .all)), bench.frame(1, .get("big", .all)),
      bench.frame(2, .get("b", .all)),
    ])
    #expect(bench.deferred.count == 2)
    #expect(bench.take(2).isEmpty)
    try bench.run(bench.deferred.reversed())
    #expect(bench.take(2).count == 1)
  }
}
