import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Large one-shot reads of the tree go on beside the executor, and answer as if they did not.
@Suite("Large reads of the tree") struct TreeReadTests: LargeReadTests {
  private var large: TreeRequest { .get("a/big", .all) }

  /// Asks for the large node, and returns its read.
  private func begin(_ bench: MachineBench, _ request: TreeRequest? = nil) throws -> ReadJob {
    try bench.run([bench.frame(1, request ?? large)])
    #expect(bench.take(1).isEmpty, "the answer comes with the end of the read")
    return try #require(bench.lastReads.first)
  }

  @Test("a link's requests are answered in order, and those of others meanwhile")
  func order() throws {
    let bench = try bench()
    let requests: [TreeRequest] = [
      .get("small", .all), large, try bench.put("small", 1), large, .get("small", .all),
    ]
    var inputs = requests.map { bench.frame(1, $0) }
    inputs.append(bench.frame(2, .get("small", .all)))
    var numbers: [UInt64] = []
    var nodes: [TreeNode] = []
    while !inputs.isEmpty {
      try bench.run(inputs)
      for case .response(let number, let response) in bench.take(1) {
        numbers.append(number)
        nodes.append(try response.node())
      }
      if numbers.count < 2 { #expect(bench.take(2).map(\.brief) == ["ok"]) }
      #expect(bench.lastReads.count <= 1)
      let jobs = bench.lastReads
      try bench.perform(jobs)
      inputs = jobs.map { .read(slot: 1, $0) } + bench.deferred
    }
    #expect(numbers == numbers.sorted() && numbers.count == 5)
    #expect(nodes[1] == manyChildren(Self.children) && nodes[3] == nodes[1])
    #expect(nodes[0].isEmpty && nodes[4] == json("1"))
  }

  @Test("what is read at once because writes overtake every other read is work")
  func overtakenCost() throws {
    let bench = try bench()
    var job = try begin(bench)
    for attempt in 1..<TreeReads.attempts {
      try bench.perform([job])
      try bench.ask(2, bench.put("a/big/k1", TreeNode(.integer(Int64(attempt)))))
      #expect(try end(job, bench).isEmpty)
      job = try #require(bench.lastReads.first)
    }
    try bench.perform([job])
    try bench.ask(2, bench.put("a/big/k1", 9))
    bench.portion.steps = BatchPortion.sliceSteps
    try bench.run([.read(slot: 1, job), bench.frame(3, .get("b", .all))])
    #expect(bench.take(1).map(\.brief) == ["ok"])
    #expect(bench.deferred.count == 1, "others have their turn first")
  }

  @Test("an unlimited portion decides at once, and so does a read of few rows")
  func atOnce() throws {
    let bench = try bench()
    #expect(try bench.get(1, "a/big/k7") == json("7"))
    #expect(bench.lastReads.isEmpty)
    bench.portion = .unlimited
    #expect(try bench.get(1, "a/big") == manyChildren(Self.children))
    #expect(bench.lastReads.isEmpty)
  }

  @Test(
    "the answer is the present value, wherever it was written meanwhile",
    arguments: ["", "a", "a/big", "a/big/k3", "a/big/k3/x", "a/big/.priority"])
  func overlapping(path: String) throws {
    let bench = try bench()
    let first = try begin(bench)
    try bench.perform([first])
    let node = path.isEmpty || path == "a" ? json(#"{"big": {"x": 1}}"#) : json("5")
    try bench.ask(2, bench.put(path, node))
    let now = try present(bench)
    #expect(try end(first, bench).isEmpty, "it is read once more")
    // What is small by now is read beside as well: the first read was.
    let second = try #require(bench.lastReads.first)
    try bench.perform([second])
    #expect(try end(second, bench).first?.response?.node() == now)
    #expect(bench.lastReads.isEmpty)
  }

  @Test("an update of many paths counts for all of them")
  func manyPaths() throws {
    let bench = try bench()
    let first = try begin(bench)
    try bench.perform([first])
    let others = (0..<RecentWrites.pathsPerWrite).map { ("o\($0)", json("1")) }
    try bench.ask(2, bench.merge("", others + [("a/big/k1", json("9"))]))
    #expect(try end(first, bench).isEmpty)
    try bench.perform(bench.lastReads)
    let second = try #require(bench.lastReads.first)
    #expect(try end(second, bench).first?.response?.node() == present(bench))
  }

  @Test("writes beside the path, and those that the snapshot has, make no read out of date")
  func unconcerned() throws {
    let bench = try bench()
    let job = try begin(bench)
    try bench.ask(2, bench.put("a/big/k1", json("9")))
    try bench.perform([job])
    for path in ["a/bigger", "a/b", "c"] { try bench.ask(2, bench.put(path, json("1"))) }
    let answer = try end(job, bench)
    #expect(try answer.first?.response?.node() == present(bench))
    #expect(bench.machine.tree.namespaces.values.first?.recentWrites.count == 0)
  }

  @Test("a write in the batch of the end counts, before it and not behind it")
  func sameBatch() throws {
    let bench = try bench()
    let job = try begin(bench)
    try bench.perform([job])
    let write = try bench.put("a/big/k1", json("9"))
    try bench.run([bench.frame(2, write), .read(slot: 1, job)])
    #expect(bench.take(1).isEmpty)
    let second = try #require(bench.lastReads.first)
    try bench.perform([second])
    let now = try present(bench)
    try bench.run([.read(slot: 1, second), bench.frame(2, bench.put("a/big/k1", json("10")))])
    #expect(try bench.take(1).first?.response?.node() == now)
  }

  @Test("a window is read beside, too")
  func window() throws {
    let bench = try bench()
    let query = TreeQuery(order: .value, limit: TreeLimit(.last, 3))
    let job = try begin(bench, .get("a/big", query))
    try bench.perform([job])
    let answer = try #require(try end(job, bench).first?.response?.node())
    #expect(answer == json(#"{"k397": 397, "k398": 398, "k399": 399}"#))
  }

  @Test("more writes than are remembered make a read out of date, and no fewer")
  func overflow() throws {
    let bench = try bench()
    for (count, isOutOfDate) in [(RecentWrites.kept, false), (RecentWrites.kept + 1, true)] {
      let job = try begin(bench)
      try bench.perform([job])
      let write = try bench.put("elsewhere", json("1"))
      try bench.run((0..<count).map { _ in bench.frame(2, write) })
      _ = bench.take(2)
      #expect(try end(job, bench).isEmpty == isOutOfDate)
    }
  }

  @Test("what is out of date again and again is read at once")
  func attempts() throws {
    let bench = try bench()
    var job = try begin(bench)
    for attempt in 1...TreeReads.attempts {
      try bench.perform([job])
      try bench.ask(2, bench.put("a/big/k1", TreeNode(.integer(Int64(1_000 + attempt)))))
      let answer = try end(job, bench)
      if attempt < TreeReads.attempts {
        #expect(answer.isEmpty)
        job = try #require(bench.lastReads.first)
      } else {
        #expect(try answer.first?.response?.node() == present(bench))
        #expect(bench.lastReads.isEmpty)
      }
    }
  }

  @Test("data that are too large are rejected as they are at once")
  func tooBig() throws {
    let bench = try bench(options: ServerOptions(limits: ServerLimits(answerBytes: 3_000)))
    let job = try begin(bench)
    try bench.perform([job])
    let answer = try end(job, bench)
    bench.portion = .unlimited
    #expect(try bench.response(1, large) == answer.first?.response)
    #expect(answer.first?.response?.status == .tooBig)
  }

  @Test("a link that ends forgets its read", arguments: [true, false])
  func closing(isLostFirst: Bool) throws {
    let bench = try bench()
    let job = try begin(bench)
    if isLostFirst {
      bench.loseLink(1)
      #expect(job.isCancelled)
    }
    try bench.perform([job])
    try bench.run([.closed(slot: 1)])
    #expect(job.isCancelled)
    try bench.run([.opened(slot: 1, isLocal: true), .read(slot: 1, job)])
    #expect(bench.lastOutputs.isEmpty)
    let namespace = try #require(bench.machine.tree.namespaces.values.first)
    #expect(namespace.recentWrites.readers == 0)
  }

  @Test("what was written before the end of a link, behind its read, is stored")
  func writesBehind() throws {
    let bench = try bench()
    try bench.run([bench.frame(1, large), bench.frame(1, bench.put("late", json("1")))])
    #expect(bench.deferred.count == 1)
    bench.loseLink(1)
    try bench.run(bench.deferred + [.closed(slot: 1)])
    #expect(try present(bench, "late") == json("1"))
  }

  @Test("rules that came into force meanwhile decide")
  func rules() throws {
    let bench = try bench()
    let job = try begin(bench)
    try bench.perform([job])
    let closed = RulesAuthorizer(try TreeRules(#"{"rules": {"small": {".read": true}}}"#))
    try bench.run([.adopt(ticket: 7, ServerAccess(tree: closed))])
    #expect(try end(job, bench).first?.response?.status == .permissionDenied)
  }

  @Test("the identity of the end decides")
  func signedOut() throws {
    let rules = try TreeRules(#"{"rules": {".read": "auth != null", ".write": true}}"#)
    let bench = try bench(authorizer: RulesAuthorizer(rules))
    let session = try #require(bench.machine.sessions[1])
    session.identity = .administrator
    let job = try begin(bench)
    try bench.perform([job])
    session.identity = .anonymous
    #expect(try end(job, bench).first?.response?.status == .permissionDenied)
  }

  @Test("the result is charged to its client until it is sent")
  func memory() throws {
    let bench = try bench()
    do {
      let job = try begin(bench)
      #expect(bench.budget.usedBytes(for: .answers) == 0)
      try bench.perform([job])
      guard case .value(let value)? = job.outcome else { throw StorageError.abandoned }
      #expect(bench.budget.usedBytes(for: .answers) == value.bytes && value.bytes > 3_000)
      #expect(try end(job, bench).count == 1)
    }
    #expect(bench.budget.usedBytes(for: .answers) == 0)
  }

  @Test("a client without memory left is told to try again, and goes on", arguments: [true, false])
  func lackOfMemory(whileReading: Bool) throws {
    let limits = ServerLimits(memoryBytes: 1 << 20, memoryBytesPerAddress: 64 << 10)
    let bench = try bench(options: ServerOptions(limits: limits))
    let room = bench.budget.roomBytes(for: "")
    #expect(bench.budget.charge(room - 2_000, .listens, to: ""))
    let job = try begin(bench)
    try bench.ledger.read { snapshot throws(StorageError) in
      job.run(over: snapshot.reader, at: snapshot.version, slice: whileReading ? 100 : .max)
    }
    #expect((job.rows < Self.children) == whileReading)
    let response = try #require(try end(job, bench).first?.response)
    #expect(response.status == .unavailable && !response.detail.isEmpty)
    #expect(try bench.get(1, "a/big/k7") == json("7"))
    #expect(bench.closed.isEmpty)
  }

  @Test("a store that fails for a moment is told as such")
  func failure() throws {
    let bench = try bench()
    let job = try begin(bench)
    job.fail(.abandoned)
    #expect(try end(job, bench).first?.response?.status == .unavailable)
  }

  @Test("a machine that is given up ends its reads")
  func renewal() throws {
    let bench = try bench()
    let job = try begin(bench)
    bench.machine.endReads()
    #expect(job.isCancelled)
  }

  @Test("the frame is that of the response, whatever it holds")
  func encoding() throws {
    for text in ["null", "1", #""a\"\n""#, #"{"0": {"b": [1, 2]}, "p": {".priority": 1, "x": 2}}"#]
    {
      let node = json(text)
      let whole = TreeServerMessage.response(7, .data(node)).encode()
      let count = node.jsonBytes(.export).count
      #expect(TreeServerMessage.response(7, with: node, limitBytes: count) == whole)
      #expect(TreeServerMessage.response(7, with: node, limitBytes: count - 1) == nil)
    }
  }
}
