import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernTestKit
import TernTreeAuthority
import TernTreeWire
import Testing

@testable import TernServer

struct WriteTests {
  func mark(_ sequence: UInt64, known: UInt64? = nil, stream: UInt128? = nil) -> WriteHeader {
    WriteHeader(WriteIdempotencyKey(stream: stream, sequence: sequence), acknowledged: known)
  }

  @Test("a repeated write gets the first answer and is not applied again")
  func exactlyOnce() throws {
    let bench = try MachineBench()
    #expect(try bench.open(1, stream: 9).lastSequence == 0)
    let one = TreeNode(.serverValue(.increment(.integer(1))))
    let write = try bench.put("n", one, mark(1))
    #expect(try bench.response(1, write) == TreeResponse(.ok, version: 1))
    #expect(try bench.response(1, write) == TreeResponse(.ok, version: 1))
    // Twice in one batch, and after a restart of the server.
    let next = try bench.put("n", one, mark(2))
    #expect(try bench.ask(1, next, next).compactMap(\.response?.version) == [2, 2])
    let second = try MachineBench(store: bench.store)
    #expect(try second.open(1, stream: 9).lastSequence == 2)
    #expect(try second.response(1, next) == TreeResponse(.ok, version: 2))
    #expect(try second.get(1, "n") == json("2"))
  }

  @Test("gaps and changed payloads are distinguished")
  func misuse() throws {
    let bench = try MachineBench()
    try bench.open(1, stream: 9)
    #expect(try bench.response(1, bench.put("a", json("1"), mark(2)))?.status == .gap)
    _ = try bench.ask(1, bench.put("a", json("1"), mark(1)))
    #expect(try bench.response(1, bench.put("a", json("2"), mark(1)))?.status == .failed)
    #expect(try bench.get(1, "a") == json("1"))
    try bench.open(2)
    #expect(try bench.response(2, bench.put("a", json("1"), mark(1)))?.status == .failed)
    #expect(try bench.response(2, bench.put("a", json("3"), mark(1, stream: 5)))?.status == .ok)
  }

  @Test("a rejection is an outcome, and outcomes can be asked for")
  func outcomes() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1, stream: 9)
    _ = try bench.ask(
      1, bench.put("a", json("1"), mark(1)), bench.put("secret", json("1"), mark(2)),
      bench.put("b", json("1"), mark(3)))
    let answer = try bench.response(1, .outcomes(stream: nil, first: 1, last: 9))
    let outcomes = try #require(try answer?.outcomes())
    #expect(outcomes.map(\.status) == [.ok, .permissionDenied, .ok])
    #expect(outcomes.map(\.sequence) == [1, 2, 3])
    #expect(outcomes.last?.version == 2)
    #expect(try bench.get(1, "secret") == .empty)
    _ = try bench.ask(1, bench.put("c", json("1"), mark(4, known: 3)))
    let rest = try bench.response(1, .outcomes(stream: 9, first: 1, last: 9))?.outcomes()
    #expect(rest?.map(\.sequence) == [4])
  }

  @Test("a conditional put is made on what its writer knows")
  func conditional() throws {
    let bench = try MachineBench()
    try bench.open(1)
    let path = TreePath("a")
    func put(_ value: String, _ hash: String) throws -> String? {
      try bench.response(1, .put(path, json(value), expectedHash: hash, .none))?.status.rawValue
    }
    #expect(try put("1", "") == "ok")
    #expect(try put("2", "") == "datastale")
    #expect(try put("2", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=") == "ok")
    #expect(try bench.get(1, "a") == json("2"))
  }

  @Test("a large node is hashed once for all attempts to change it, until it changes")
  func hashOnce() throws {
    let bench = try MachineBench()
    try bench.open(1)
    let many = manyChildren(500)
    _ = try bench.ask(1, bench.put("big", many), bench.put("small", json("1")))
    func put(_ path: TreePath, _ hash: String, _ value: TreeNode) throws -> TreeStatus? {
      try bench.response(1, .put(path, value, expectedHash: hash, .none))?.status
    }
    let hashes = try #require(bench.machine.tree.namespaces["default"]?.hashes)
    #expect(try put("big", "bogus", 1) == .dataStale)
    #expect(hashes.count == 1)
    #expect(try put("small", "bogus", 1) == .dataStale)
    #expect(hashes.count == 1, "small nodes are not kept")
    #expect(try put("big", "bogus", 1) == .dataStale)
    _ = try bench.ask(1, bench.put("elsewhere", json("1")))
    #expect(hashes.count == 1)
    // A write at, above or below ends what is known.
    var changed = many
    changed.setNode(7, at: "k3")
    _ = try bench.ask(1, bench.put("big/k3", json("7")))
    #expect(hashes.count == 0)
    #expect(try put("big", many.hash, 1) == .dataStale)
    #expect(try put("big", changed.hash, changed) == .ok)
    #expect(try put("big", changed.hash, 1) == .ok)
    #expect(try put("big", changed.hash, 2) == .dataStale)
    #expect(try bench.get(1, "big") == 1)
  }

  @Test("a conditional write over more than a read may take is refused, and what it reads is work")
  func largeComparison() throws {
    var limits = ServerLimits()
    limits.answerBytes = 10_000
    let bench = try MachineBench(options: ServerOptions(limits: limits))
    for slot in 1...2 { try bench.open(slot) }
    _ = try bench.ask(1, bench.put("big", manyChildren(4_000)), bench.put("b", manyChildren(400)))
    let put = TreeRequest.put("big", 1, expectedHash: "bogus", .none)
    let response = try bench.response(1, put)
    #expect(response?.status == .tooBig)
    #expect(response?.detail == RefusalText.incomparable(limitBytes: 20_000))
    #expect(try bench.response(1, bench.put("big", 1))?.status == .ok)
    bench.portion = BatchPortion(
      linkBytes: .max, totalBytes: .max, steps: BatchPortion.sliceSteps)
    try bench.run([
      bench.frame(1, .put("b", 1, expectedHash: "bogus", .none)), bench.frame(2, .get("c", .all)),
    ])
    #expect(bench.take(1).map(\.brief) == ["datastale"])
    #expect(bench.deferred.count == 1, "others have their turn first")
  }

  @Test("a number just below a power of two is held by its hash in JavaScript, too")
  func scriptHash() throws {
    let bench = try MachineBench()
    try bench.open(1)
    _ = try bench.ask(1, bench.put("n", json("63.99999999999999")))
    let put = TreeRequest.put("n", 1, expectedHash: "PJmtFwMdaAcDnQ3acc9zgNHNABM=", .none)
    #expect(try bench.response(1, put)?.status == .ok)
  }

  @Test("a write against the rules of the tree is refused with words")
  func invalid() throws {
    let bench = try MachineBench()
    try bench.open(1)
    let deep = TreePath(Array(repeating: TreeKey(unchecked: "k"), count: 33))
    let response = try bench.response(1, .put(deep, json("1"), expectedHash: nil, .none))
    #expect(response?.status == .failed)
    #expect(response?.detail.contains("33") == true)
    let raw = #"{"t":"d","d":{"r":77,"a":"p","b":{"p":"/a.b","d":1}}}"#
    try bench.run([.frame(slot: 1, Array(raw.utf8))])
    #expect(bench.take(1).map(\.brief) == ["failed"])
    #expect(bench.closed.isEmpty)
  }

  @Test("the state is what the records say", arguments: UInt64(1)...10)
  func replay(seed: UInt64) throws {
    let bench = try MachineBench()
    try bench.open(1)
    var random = SeededGenerator(seed: seed)
    var model = TreeNode.empty
    for _ in 0..<60 {
      let keys = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        TreeKey(unchecked: ["a", "b", "1"].randomElement(using: &random) ?? "a")
      }
      let node =
        Bool.random(using: &random)
        ? TreeNode(.integer(Int64.random(in: 0...9, using: &random)))
        : json(#"{"a":{"x":1},"b":2}"#)
      let value = Int.random(in: 0..<4, using: &random) == 0 ? TreeNode.empty : node
      model.setNode(value, at: TreePath(keys))
      _ = try bench.ask(1, .put(TreePath(keys), value, expectedHash: nil, .none))
      #expect(try bench.get(1, "") == model, "seed \(seed)")
    }
  }

  @Test("a client that is not on this machine may do nothing by default")
  func local() throws {
    let bench = try MachineBench(authorizer: AllowLocal())
    try bench.open(1, isLocal: false)
    try bench.open(2, isLocal: true)
    #expect(try bench.response(1, bench.put("a", json("1")))?.status == .permissionDenied)
    #expect(try bench.response(1, bench.listen("a"))?.status == .permissionDenied)
    #expect(try bench.response(2, bench.put("a", json("1")))?.status == .ok)
    #expect(PeerAddress.isLocal("127.0.0.1:1"))
    #expect(PeerAddress.isLocal("[::1]:1"))
    #expect(PeerAddress.isLocal("::1:5000"))
    #expect(!PeerAddress.isLocal("::1:1234:5000"))
    #expect(!PeerAddress.isLocal("::1234:5000"))
    #expect(!PeerAddress.isLocal("10.0.0.1:1"))
  }
}

/// Forbids everything named `secret`.
struct NoSecrets: Authorizer {
  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: request.requester.identity != .anonymous || request.path != "private")
  }

  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    // As an authorizer that decides about nodes, it leaves paths alone undecided.
    guard request.assignments != nil else { return .undecided }
    return TreeVerdict(
      isAllowed: !request.paths.contains { $0.keys.contains(TreeKey(unchecked: "secret")) })
  }
}
