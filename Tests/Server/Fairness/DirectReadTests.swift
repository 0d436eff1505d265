import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Reads without a session go on beside the executor when they take many rows.
@Suite("Large reads without a session") struct DirectReadTests: LargeReadTests {
  private let byValue = TreeQuery(order: .value, limit: TreeLimit(.last, 3))

  private func begin(
    _ bench: MachineBench, _ operation: DirectRequest.Operation, token: String? = nil
  ) throws -> ReadJob? {
    let credential = token.map { Credential(.service, token: $0, isLocal: true) }
    let request = DirectRequest(
      namespace: "default", isLocal: true, address: "198.51.100.7", credential: credential,
      operation)
    try bench.run([.direct(ticket: 1, request)])
    #expect(bench.answers.isEmpty == (bench.lastReads.count == 1))
    return bench.lastReads.first
  }

  private func end(_ bench: MachineBench, _ job: ReadJob) throws -> DirectAnswer? {
    let (ticket, request, _) = try #require(job.direct)
    try bench.run([.readDirect(ticket: ticket, request, job)])
    return bench.answers.removeValue(forKey: ticket)
  }

  @Test("queries, whole nodes, names and the data of a failed condition are read beside")
  func beside() throws {
    let bench = try bench()
    let write = TreeWrite.set("a/big", 1)
    let node = manyChildren(Self.children)
    let operations: [(DirectRequest.Operation, DirectAnswer)] = [
      (.read("a/big", byValue), .node(["k397": 397, "k398": 398, "k399": 399])),
      (.read("a/big", .all), .node(node)), (.readOrExport("a/big"), .node(node)),
      (.names("a/big", after: nil, limit: nil), .names(node.children.map(\.key))),
      (.write(write, expectedHash: "other"), .stale(node)),
    ]
    for (operation, answer) in operations {
      let job = try #require(try begin(bench, operation))
      #expect(!job.holdsLink && job.address == "198.51.100.7")
      try bench.perform([job])
      #expect(job.rows >= Self.children)
      #expect(try end(bench, job) == answer)
    }
    #expect(bench.budget.usedBytes(for: .answers) == 0)
  }

  @Test("what takes few rows is read at once")
  func atOnce() throws {
    let bench = try bench()
    let first = TreeQuery(order: .key, limit: TreeLimit(.first, 2))
    #expect(try begin(bench, .read("a/big", first)) == nil)
    #expect(bench.answers.removeValue(forKey: 1) == .node(["k0": 0, "k1": 1]))
    #expect(try begin(bench, .read("a/big/k7", .all)) == nil)
    #expect(bench.answers.removeValue(forKey: 1) == .node(7))
  }

  @Test("the rules of the end count")
  func rules() throws {
    let bench = try bench()
    let job = try #require(try begin(bench, .read("a/big", byValue)))
    try bench.perform([job])
    let closed = try RulesAuthorizer(TreeRules(#"{"rules": {".read": false}}"#))
    try bench.run([.adopt(ticket: 9, ServerAccess(tree: closed))])
    bench.answers = [:]
    guard case .refused(.permissionDenied)? = try end(bench, job) else {
      Issue.record("the data are not shown any more")
      return
    }
  }

  @Test("a range larger than a read may keep is refused, and charged no more than that")
  func bounded() throws {
    let options = ServerOptions(limits: ServerLimits(memoryBytes: 64 << 20))
    let bench = try bench(options: options)
    let text = TreeNode(.string(String(repeating: "x", count: 1 << 20)))
    for number in 0..<24 { try bench.ask(3, bench.put("fat/k\(number)", text)) }
    let range = try TreeQuery.all.ordered(by: .key).starting(at: .string("a"))
    var most = 0
    let perform = { (job: ReadJob) in
      try bench.ledger.read { snapshot throws(StorageError) in
        job.run(over: snapshot.reader, at: snapshot.version, slice: 256) { _ in
          most = max(most, bench.budget.usedBytes(for: .answers))
          return true
        }
      }
    }
    let direct = try #require(try begin(bench, .read("fat", range)))
    try perform(direct)
    guard case .refused(.tooBig)? = try end(bench, direct) else {
      Issue.record("more than may be kept")
      return
    }
    try bench.run([bench.frame(1, .get("fat", range))])
    let get = try #require(bench.lastReads.first)
    try perform(get)
    #expect(try end(get, bench).first?.response?.status == .tooBig)
    try bench.run([bench.frame(1, try bench.listen("fat", range, tag: 1))])
    let listen = try #require(bench.lastReads.first)
    try perform(listen)
    #expect(try end(listen, bench).first?.response?.status == .tooBig)
    #expect((8 << 20...15 << 20).contains(most), "as many as are read, and the pages of the store")
    #expect(bench.budget.usedBytes(for: .answers) == 0)
  }

  @Test("rows are charged as long as they are kept, whatever their bytes")
  func smallRows() throws {
    let options = ServerOptions(
      limits: ServerLimits(memoryBytes: 64 << 20, memoryBytesPerAddress: 4 << 20))
    let bench = try bench(options: options)
    try bench.ask(3, bench.put("many", manyChildren(20_000)))
    for request in [
      DirectRequest.Operation.read("many", .all),
      .read("many", try TreeQuery.all.ordered(by: .key).starting(at: .string("k"))),
    ] {
      let job = try #require(try begin(bench, request))
      try bench.ledger.read { snapshot throws(StorageError) in
        job.run(over: snapshot.reader, at: snapshot.version, slice: 256)
      }
      guard case .refused(.invalid(let text))? = try end(bench, job) else {
        Issue.record("more memory than the address may hold")
        return
      }
      #expect(text.contains("more memory to read"))
    }
    let job = try #require(try begin(bench, .read("many", byValue)))
    try bench.ledger.read { snapshot throws(StorageError) in
      job.run(over: snapshot.reader, at: snapshot.version, slice: 256)
    }
    #expect(
      try end(bench, job) == .node(["k19997": 19_997, "k19998": 19_998, "k19999": 19_999]),
      "only what is shown is kept")
  }
}
