import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// First answers of large listens are read beside the executor, and listens go on as if they were
/// not.
@Suite("First answers of large listens") struct FirstAnswerTests: LargeReadTests {
  /// Listens to the large node, and returns the read.
  private func begin(
    _ bench: MachineBench, _ request: TreeRequest? = nil, slot: Int = 1
  ) throws -> ReadJob {
    try bench.run([bench.frame(slot, request ?? bench.listen("a/big"))])
    #expect(bench.take(slot).isEmpty, "the data come with the end of the read")
    return try #require(bench.lastReads.first)
  }

  private var lastValues: TreeQuery { TreeQuery(order: .value, limit: TreeLimit(.last, 3)) }

  @Test("a link's requests are answered in order, and those of others meanwhile")
  func order() throws {
    let bench = try bench()
    let requests: [TreeRequest] = [
      .get("small", .all), try bench.listen("a/big"), try bench.put("a/big/k1", 5),
      .unlisten("a/big", .all, tag: nil), try bench.put("a/big/k1", 6), .get("small", .all),
    ]
    var inputs = requests.map { bench.frame(1, $0) }
    inputs.append(bench.frame(2, .get("small", .all)))
    var told: [String] = []
    while !inputs.isEmpty {
      try bench.run(inputs)
      told += bench.take(1).map { String($0.brief.prefix(12)) }
      let jobs = bench.lastReads
      if !jobs.isEmpty { #expect(bench.take(2).map(\.brief) == ["ok"]) }
      try bench.perform(jobs)
      inputs = jobs.map { .read(slot: 1, $0) } + bench.deferred
    }
    #expect(told == ["ok", "put a/big {\"", "ok", "put a/big/k1", "ok", "ok", "ok", "ok"])
  }

  @Test("an unlimited portion decides at once, and so does a listen to few rows")
  func atOnce() throws {
    let bench = try bench()
    #expect(try bench.ask(1, bench.listen("a/big/k7")).map(\.brief) == ["put a/big/k7 7", "ok"])
    #expect(bench.lastReads.isEmpty)
    bench.portion = .unlimited
    #expect(try bench.ask(1, bench.listen("a/big")).count == 2)
    #expect(bench.lastReads.isEmpty)
  }

  @Test(
    "the first data are the present ones, wherever they were written meanwhile",
    arguments: ["", "a", "a/big", "a/big/k3", "a/big/k3/x", "a/big/.priority"])
  func overlapping(path: String) throws {
    let bench = try bench()
    let first = try begin(bench)
    try bench.perform([first])
    let node =
      switch path {
      case "": json(#"{"a": {"big": {"x": 1}}}"#)
      case "a": json(#"{"big": {"x": 1}}"#)
      default: json("5")
      }
    try bench.ask(2, bench.put(path, node))
    #expect(bench.take(1).isEmpty, "it is no listener yet")
    #expect(try end(first, bench).isEmpty, "it is read once more")
    let second = try #require(bench.lastReads.first)
    try bench.perform([second])
    let told = try end(second, bench)
    guard case .put(let push)? = told.first else { throw StorageError.abandoned }
    #expect(push.path == "a/big")
    #expect(try push.content == present(bench))
    #expect(told.map(\.brief).last == "ok" && told.count == 2)
    #expect(bench.lastReads.isEmpty)
  }

  @Test("writes beside the path, and those that the snapshot has, are no reason to read again")
  func unconcerned() throws {
    let bench = try bench()
    let job = try begin(bench)
    try bench.ask(2, bench.put("a/big/k1", json("9")))
    try bench.perform([job])
    for path in ["a/bigger", "a/b", "c"] { try bench.ask(2, bench.put(path, json("1"))) }
    let told = try end(job, bench)
    guard case .put(let push)? = told.first else { throw StorageError.abandoned }
    #expect(push.content.node(at: "k1") == json("9"))
    #expect(try push.content == present(bench))
    try bench.ask(2, bench.put("a/big/k1", json("10")))
    #expect(bench.take(1).map(\.brief) == ["put a/big/k1 10"])
  }

  @Test("writes in the batch of the end are shown before it, and told behind it")
  func sameBatch() throws {
    let bench = try bench()
    let job = try begin(bench)
    try bench.perform([job])
    try bench.run([bench.frame(2, bench.put("a/big/k1", json("9"))), .read(slot: 1, job)])
    #expect(bench.take(1).isEmpty)
    let second = try #require(bench.lastReads.first)
    try bench.perform([second])
    try bench.run([.read(slot: 1, second), bench.frame(2, bench.put("a/big/k1", json("10")))])
    let told = bench.take(1)
    guard case .put(let push)? = told.first else { throw StorageError.abandoned }
    #expect(push.content.node(at: "k1") == json("9"))
    #expect(told.dropFirst().map(\.brief) == ["ok", "put a/big/k1 10"])
  }

  @Test("what is out of date again and again is read at once")
  func attempts() throws {
    let bench = try bench()
    var job = try begin(bench)
    for attempt in 1...TreeReads.attempts {
      try bench.perform([job])
      try bench.ask(2, bench.put("a/big/k1", TreeNode(.integer(Int64(1_000 + attempt)))))
      let told = try end(job, bench)
      if attempt < TreeReads.attempts {
        #expect(told.isEmpty)
        job = try #require(bench.lastReads.first)
      } else {
        guard case .put(let push)? = told.first else { throw StorageError.abandoned }
        #expect(bench.lastReads.isEmpty)
        #expect(try push.content == present(bench))
      }
    }
    #expect(try namespace(bench).listens.existingGroup(of: .all, at: "a/big")?.readers == 0)
  }

  @Test("the right hash spares the data, a wrong one does not, and ranges suffice")
  func hashes() throws {
    let bench = try bench()
    let before = manyChildren(Self.children)
    let compound = before.compoundHash
    try bench.ask(2, bench.put("a/big/k7", json("70")))
    let now = try #require(try present(bench))
    func told(_ listen: TreeListen) throws -> [String] {
      let job = try begin(bench, .listen(listen))
      try bench.perform([job])
      let told = try end(job, bench).map { String($0.brief.prefix(13)) }
      try bench.ask(1, .unlisten("a/big", .all, tag: nil))
      return told
    }
    #expect(try told(TreeListen(path: "a/big", hash: now.hash)) == ["ok"])
    #expect(try told(TreeListen(path: "a/big", hash: before.hash)) == ["put a/big {\"k", "ok"])
    let ranges = TreeListen(path: "a/big", hash: before.hash, compoundHash: compound)
    #expect(try told(ranges) == ["ranges a/big ", "ok"])
  }

  @Test("a hash that a read has worked out is known to the next listen")
  func knownHash() throws {
    let bench = try bench()
    let listen = try bench.listen("a/big", hash: manyChildren(Self.children).hash)
    let job = try begin(bench, listen)
    try bench.perform([job])
    #expect(try end(job, bench).map(\.brief) == ["ok"])
    #expect(try bench.ask(2, listen).map(\.brief) == ["ok"])
    #expect(bench.lastReads.isEmpty)
  }

  @Test("a window is filled beside, follows writes, and is shown to the next")
  func window() throws {
    let bench = try bench()
    let job = try begin(bench, bench.listen("a/big", lastValues, tag: 4))
    try bench.perform([job])
    #expect(
      try end(job, bench).map(\.brief)
        == [#"put a/big {"k397":397,"k398":398,"k399":399} #4"#, "ok"])
    try bench.ask(2, bench.put("a/big/k5", json("1000")))
    #expect(bench.take(1).map(\.brief) == ["merge a/big k397=null k5=1000 #4"])
    // The window is known by now, so that few rows are read.
    #expect(
      try bench.ask(2, bench.listen("a/big", lastValues, tag: 9)).map(\.brief)
        == [#"put a/big {"k398":398,"k399":399,"k5":1000} #9"#, "ok"])
  }

  @Test("a window that is shown beside is the present one", arguments: [true, false])
  func shownWindow(isWritten: Bool) throws {
    let bench = try bench()
    let query = TreeQuery(order: .value, limit: TreeLimit(.last, 300))
    let filling = try begin(bench, bench.listen("a/big", query, tag: 4))
    try bench.perform([filling])
    #expect(try end(filling, bench).count == 2)
    var job = try begin(bench, bench.listen("a/big", query, tag: 5), slot: 2)
    try bench.perform([job])
    if isWritten {
      try bench.ask(3, bench.put("a/big/k5", json("1000")))
      #expect(try end(job, bench).isEmpty)
      job = try #require(bench.lastReads.first)
      try bench.perform([job])
    }
    guard case .put(let push)? = try end(job, bench).first else { throw StorageError.abandoned }
    #expect(push.tag == 5)
    #expect(try push.content == present(bench, "a/big", query))
    _ = bench.take(1)
    try bench.ask(3, bench.put("a/big/k6", json("2000")))
    #expect(bench.take(1).count == 1 && bench.take(2).count == 1)
  }

  @Test("the window of a group whose listeners have left during a read is read anew")
  func leftWindow() throws {
    let bench = try bench()
    let query = TreeQuery(order: .value, limit: TreeLimit(.last, 300))
    let filling = try begin(bench, bench.listen("a/big", query, tag: 4))
    try bench.perform([filling])
    _ = try end(filling, bench)
    let job = try begin(bench, bench.listen("a/big", query, tag: 5), slot: 2)
    try bench.perform([job])
    try bench.ask(1, .unlisten("a/big", query, tag: 4))
    try bench.ask(3, bench.put("a/big/k5", json("1000")))
    #expect(try end(job, bench).isEmpty)
    let next = try #require(bench.lastReads.first)
    try bench.perform([next])
    guard case .put(let push)? = try end(next, bench).first else { throw StorageError.abandoned }
    #expect(try push.content == present(bench, "a/big", query))
    try bench.ask(3, bench.put("a/big/k6", json("2000")))
    #expect(bench.take(2).count == 1)
  }

  @Test("large data are left out for a client that reads them otherwise")
  func leaving() throws {
    let limits = ServerLimits(wholeReadBytes: 16 << 10)
    let bench = try bench(options: ServerOptions(limits: limits))
    let listen = TreeRequest.listen(TreeListen(path: "a/big", leavesLargeData: true))
    let small = try begin(bench, listen)
    try bench.perform([small])
    #expect(try end(small, bench).count == 2)
    let text = TreeNode(.string(String(repeating: "x", count: 16 << 10)))
    try bench.ask(2, bench.put("a/big/text", text))
    _ = bench.take(1)
    let large = try begin(bench, listen, slot: 2)
    try bench.perform([large])
    let told = try end(large, bench)
    #expect(told.first?.response?.warnings == [TreeResponse.largeData] && told.count == 1)
    try bench.ask(3, bench.put("a/big/k1", json("10")))
    #expect(bench.take(2).map(\.brief) == ["put a/big/k1 10"])
  }

  @Test("data that are too large end the listen")
  func tooBig() throws {
    let bench = try bench(options: ServerOptions(limits: ServerLimits(answerBytes: 1_000)))
    let job = try begin(bench)
    try bench.perform([job])
    #expect(try end(job, bench).map(\.response?.status) == [.tooBig])
    try bench.ask(2, bench.put("a/big/k1", json("10")))
    #expect(bench.take(1).isEmpty)
    #expect(try namespace(bench).listens.groupCount == 0)
  }

  @Test("a listen that is there already goes on under its old tag until the new one begins")
  func again() throws {
    let bench = try bench()
    let query = TreeQuery(order: .value, limit: TreeLimit(.last, 300))
    let filling = try begin(bench, bench.listen("a/big", query, tag: 4))
    try bench.perform([filling])
    _ = try end(filling, bench)
    let held = bench.budget.usedBytes(for: .listens)
    let job = try begin(bench, bench.listen("a/big", query, tag: 5))
    try bench.ask(2, bench.put("a/big/k399", json("5000")))
    #expect(bench.take(1).map(\.brief) == ["put a/big/k399 5000 #4"])
    try bench.perform([job])
    #expect(try end(job, bench).count == 2)
    try bench.ask(2, bench.put("a/big/k399", json("5001")))
    #expect(bench.take(1).map(\.brief) == ["put a/big/k399 5001 #5"])
    #expect(bench.budget.usedBytes(for: .listens) == held, "it is charged once")
  }
}
