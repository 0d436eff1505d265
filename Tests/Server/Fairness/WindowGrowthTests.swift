import TernCore
import TernQuery
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Windows of filtered listens are charged with what they have come to keep.
@Suite("Growing windows") struct WindowGrowthTests {
  private func options(_ mebibytes: Int) -> ServerOptions {
    ServerOptions(limits: ServerLimits(memoryBytes: mebibytes << 20))
  }

  private func range(from text: String = "a") throws -> TreeQuery {
    try TreeQuery.all.ordered(by: .key).starting(at: .string(text))
  }

  private func listens(_ bench: MachineBench) -> Int { bench.budget.usedBytes(for: .listens) }

  private func bench(_ mebibytes: Int = 64) throws -> MachineBench {
    let bench = try MachineBench(options: options(mebibytes))
    for slot in 1...9 {
      try bench.run([
        .opened(slot: slot, isLocal: false, address: "192.0.2.\(slot)"),
        .frame(slot: slot, TreeClientMessage.open(TreeOpening(namespace: "default")).encode()),
      ])
      _ = bench.take(slot)
    }
    return bench
  }

  @Test("a window is charged when everything is replaced, when children come, and when they go")
  func follows() throws {
    let bench = try bench()
    try bench.ask(1, bench.listen("w", range(), tag: 1))
    let empty = listens(bench)
    try bench.ask(2, bench.put("w", manyChildren(10_000)))
    #expect(listens(bench) == empty + ListenGroup.windowBytes(of: 10_000))
    var merge: [(String, TreeNode)] = (0..<500).map { ("x\($0)", 1) }
    try bench.ask(2, bench.merge("w", merge))
    #expect(listens(bench) == empty + ListenGroup.windowBytes(of: 10_500))
    merge = merge.map { ($0.0, .empty) }
    try bench.ask(2, bench.merge("w", merge))
    #expect(listens(bench) == empty + ListenGroup.windowBytes(of: 10_500), "they may come again")
    try bench.ask(2, bench.put("w", manyChildren(10)))
    #expect(listens(bench) == empty + ListenGroup.windowBytes(of: 10))
    #expect(bench.take(1).count == 4)
    try bench.run([.closed(slot: 1)])
    #expect(listens(bench) == 0)
  }

  @Test("listens whose windows no share allows end, and their clients are told")
  func revoked() throws {
    let bench = try bench(4)
    for number in 0..<20 {
      try bench.ask(1, bench.listen("w", range(from: "a\(number)"), tag: Int64(number)))
    }
    try bench.ask(2, bench.put("w", manyChildren(1_500)))
    let told = bench.take(1).map(\.brief)
    let revoked = told.count { $0 == "revoked w" }
    #expect(told.count == 20 && revoked >= 19)
    #expect(listens(bench) <= 1 << 20)
    #expect(bench.closed.isEmpty)
    #expect(bench.machine.sessions[1]?.listens.count == 20 - revoked)
    try bench.ask(2, bench.put("w", ["b": 1]))
    #expect(bench.take(1).count == 20 - revoked, "nothing is told behind the end")
    // The same query may be listened to again.
    let again = try bench.ask(1, bench.listen("w", range(from: "a19"), tag: 19))
    #expect(again.map(\.brief) == [#"put w {"b":1} #19"#, "ok"])
  }

  @Test("a window that grows child by child ends its listens at the limit as well")
  func stepwise() throws {
    let bench = try bench(4)
    try bench.ask(1, bench.listen("w", range(), tag: 1))
    var told: [String] = []
    for step in 0..<40 {
      try bench.ask(2, bench.merge("w", (0..<100).map { ("k\(step)x\($0)", 1) }))
      told += bench.take(1).map(\.brief)
      #expect(listens(bench) <= 1 << 20)
    }
    #expect(told.last == "revoked w" && told.count < 20)
  }

  @Test("a client that has used up its share takes no shared window from the others")
  func shared() throws {
    let bench = try bench(16)
    for slot in 1...2 { try bench.ask(slot, bench.listen("w", range(), tag: 1)) }
    try bench.ask(1, bench.listen("v", range(), tag: 2))
    try bench.ask(3, bench.put("v", manyChildren(5_000)))
    _ = bench.take(1)
    try bench.ask(3, bench.put("w", manyChildren(5_000)))
    for slot in 1...2 {
      #expect(bench.take(slot).map { $0.brief.prefix(5) } == ["put w"], "the second one pays")
    }
    #expect(bench.budget.usedBytes(of: "192.0.2.2") > ListenGroup.windowBytes(of: 5_000))
  }

  @Test("a write that is offered to many windows counts as work")
  func steps() throws {
    let bench = try bench()
    for number in 0..<10 {
      try bench.ask(1, bench.listen("w", range(from: "x\(number)"), tag: Int64(number)))
    }
    bench.portion = BatchPortion(
      linkBytes: .max, totalBytes: .max, steps: BatchPortion.sliceSteps,
      rows: BatchPortion.readRows)
    let few = try bench.put("w/a", 1)
    try bench.run([bench.frame(2, few), bench.frame(3, few)])
    #expect(bench.deferred.isEmpty)
    let many = try bench.put("w", manyChildren(1_000))
    try bench.run([bench.frame(2, many), bench.frame(3, few)])
    #expect(bench.deferred.count == 1, "others have their turn first")
    _ = try bench.finish()
  }

  @Test("a write whose many short pushes take long counts as work, and so do their bytes")
  func shortPushes() throws {
    let bench = try bench()
    for number in 0..<1_000 { try bench.ask(1, bench.listen("w/p\(number)")) }
    let (write, other) = (try bench.put("w", ["a": 1]), try bench.put("v", 1))
    bench.portion = BatchPortion(
      linkBytes: .max, totalBytes: .max, steps: BatchPortion.sliceSteps)
    try bench.run([bench.frame(2, write), bench.frame(3, other)])
    #expect(bench.take(1).count == 1_000)
    #expect(bench.deferred.count == 1, "others have their turn first")
    _ = try bench.finish()
    bench.portion = BatchPortion(linkBytes: .max, totalBytes: 32_000)
    try bench.run([bench.frame(2, write), bench.frame(3, other)])
    #expect(bench.deferred.count == 1, "a push of few bytes is a frame all the same")
    _ = try bench.finish()
  }

  @Test("a write that empties many windows of a large node reads only so many of them anew")
  func reloading() throws {
    let bench = try bench()
    try bench.ask(2, bench.put("w", manyChildren(16_000)))
    for count in 1...20 {
      let query = TreeQuery(order: .value, limit: TreeLimit(.first, count))
      try bench.ask(1, bench.listen("w", query, tag: Int64(count)))
    }
    // None of the children that the windows know stays in its place.
    let moved = (0..<40).map { ("k\($0)", TreeNode(.integer(100_000 + Int64($0)))) }
    try bench.ask(2, bench.merge("w", moved))
    let told = bench.take(1)
    let revoked = told.filter { $0.brief == "revoked w" }
    #expect(told.count == 20 && (1..<10).contains(revoked.count))
    for case .listenRevoked(_, _, let status, _) in revoked { #expect(status == .unavailable) }
    #expect(bench.machine.sessions[1]?.listens.count == 20 - revoked.count)
    try bench.ask(2, bench.put("w/k40", 200_000))
    #expect(bench.take(1).count == 20 - revoked.count, "the others go on")
  }
}
