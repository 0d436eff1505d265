import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

@Suite("Bounds of the output and memory of one client")
struct DocumentBoundsTests {
  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench()
    try bench.link(1)
    return bench
  }

  /// Puts rules in force for the documents of the collection `c`.
  private func adopt(_ statement: String, _ bench: DocumentBench) throws {
    let source = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents {
          match /c/{id} { \(statement) }
        }
      }
      """
    let set = DocumentRulesSet(common: try DocumentRules(source: source))
    let authorizer = DocumentRulesAuthorizer(set)
    try bench.run([.adopt(ticket: 1, ServerAccess(documents: authorizer))])
  }

  private func commit(_ writes: [DocumentMutation]) -> DocumentRequest.Body {
    .commit(writes, transaction: [], nil)
  }

  private func fill(_ bench: DocumentBench, _ call: UInt32, text: Int) throws {
    let fields: DocumentFields = [
      "n": 1, "t": .string(String(repeating: "x", count: text)),
    ]
    let writes = (1_000..<1_300).map { bench.set(DocumentKey(unchecked: "c/\($0)"), fields) }
    _ = try bench.ask(1, call, commit(writes)).get()
  }

  private func opening(_ body: DocumentRequest.Body) -> DocumentCallOpening {
    let request = DocumentRequest(body, in: benchDatabase)
    return DocumentCallOpening(request.method, metadata: [], message: request.encode())
  }

  private func code(_ answer: DocumentAnswer) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  @Test("writes whose answer would be too large change nothing, alone and in a batch")
  func results() throws {
    let bench = try bench()
    let transform = DocumentFieldTransform("a", .serverTimestamp)
    let writes = (0..<1_500).map { index in
      DocumentMutation(
        DocumentKey(unchecked: "c/\(index)"), .set([:]),
        transforms: Array(repeating: transform, count: 500))
    }
    #expect(code(try bench.ask(1, 1, commit(writes))) == .invalidArgument)
    #expect(code(try bench.ask(1, 2, .batchWrite(writes))) == .invalidArgument)
    #expect(bench.lastCommits.isEmpty)
    #expect(code(try bench.ask(1, 3, commit(Array(writes.prefix(2))))) == nil)
  }

  @Test("the outcome of a write is told, however small answers have to be")
  func outcome() throws {
    var limits = ServerLimits()
    limits.answerBytes = 100
    let bench = try DocumentBench(options: ServerOptions(limits: limits))
    try bench.link(1)
    let fields: DocumentFields = ["t": .string(String(repeating: "x", count: 200))]
    let writes = (0..<20).map { bench.set(DocumentKey(unchecked: "c/\($0)"), fields) }
    #expect(code(try bench.ask(1, 1, commit(writes))) == nil)
    #expect(code(try bench.ask(1, 2, .batchWrite(writes))) == nil)
    #expect(code(try bench.ask(1, 3, .get("c/1", mask: nil, .now))) == .resourceExhausted)
  }

  @Test(
    "a query under way is judged again by other rules",
    arguments: [("allow read: if false;", true), ("allow read: if true;", false)])
  func underWay(statement: String, isDenied: Bool) throws {
    let bench = try bench()
    try fill(bench, 1, text: 1_000)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    bench.portion = BatchPortion(linkBytes: 100_000, totalBytes: 1 << 20)
    try bench.send(1, .open(stream: 2, opening(.query(all, .now))))
    var told = bench.responses(1, 2).count
    var deferred = bench.lastDeferred
    #expect(told > 0 && told < 300)
    #expect(!deferred.isEmpty)
    try adopt(statement, bench)
    var (ends, status, rounds) = (0, DocumentStatus?.none, 0)
    while !deferred.isEmpty, rounds < 100 {
      try bench.run(deferred)
      deferred = bench.lastDeferred
      rounds += 1
      for item in bench.take(1) {
        switch item {
        case .response: told += 1
        case .end(_, let end):
          ends += 1
          status = end
        case .pong: break
        }
      }
    }
    #expect(ends == 1)
    let expected: DocumentStatus.Code? = isDenied ? .permissionDenied : nil
    #expect(status?.code == expected)
    #expect((told == 300) == !isDenied)
  }

  @Test("the answer to an update shows other fields only to clients that may get the document")
  func updates() throws {
    let bench = try bench()
    _ = try bench.ask(1, 1, commit([bench.set("c/a", ["n": 1, "secret": 2])])).get()
    func fields(_ call: UInt32, _ body: DocumentRequest.Body) throws -> DocumentFields? {
      guard case .document(let document)? = try bench.ask(1, call, body).get().first else {
        return nil
      }
      return document.fields
    }
    let patch = DocumentMutation("c/a", .patch(["n": 5], mask: DocumentFieldMask(["n"])))
    try adopt("allow write: if true;", bench)
    #expect(try fields(2, .update(patch, mask: nil)) == ["n": 5])
    #expect(try fields(3, .update(patch, mask: ["secret"])) == [:])
    let path = try CollectionPath("c")
    #expect(try fields(4, .create(path, id: "b", ["m": 1], mask: nil)) == ["m": 1])
    try adopt("allow read, write: if true;", bench)
    #expect(try fields(5, .update(patch, mask: nil)) == ["n": 5, "secret": 2])
  }

  @Test("the id of a denied write is the same whether its document exists or not")
  func ids() throws {
    func message(existing key: DocumentKey) throws -> String {
      let bench = try bench()
      _ = try bench.ask(1, 1, commit([bench.set(key, [:])])).get()
      try adopt("allow read: if true;", bench)
      bench.now += 1_000
      let answer = try bench.ask(1, 2, commit([bench.set("c/a", ["n": 1])]))
      guard case .failure(let status) = answer else { return "" }
      return status.message
    }
    let known = try message(existing: "c/a")
    let unknown = try message(existing: "c/b")
    #expect(known.contains("["))
    #expect(known == unknown)
  }

  @Test("a client begins no more transactions than its share, and others go on")
  func shares() throws {
    var limits = DocumentTransactionLimits()
    (limits.open, limits.openOfOwner) = (4, 2)
    var table = DocumentTransactions(limits: limits)
    var bits: UInt64 = 0
    func begin(_ address: String, _ user: String?, at uptime: Int64 = 0) throws -> [UInt8] {
      let owner = DocumentTransactions.Owner(address: address, user: user)
      return try table.begin(.readOnly(at: .none), for: owner, uptime: uptime) {
        bits += 1
        return bits
      }.get()
    }
    let first = try begin("one", nil)
    _ = try begin("one", nil)
    #expect(throws: DocumentStatus.self) { try begin("one", nil) }
    _ = try begin("two", nil)
    _ = try begin("one", "ann")
    #expect(table.rollback(first) == nil)
    _ = try begin("one", nil)
    #expect(throws: DocumentStatus.self) { try begin("one", nil) }
    table.expire(uptime: 1_000_000)
    #expect(table.count == 0)
    _ = try begin("one", nil, at: 1_000_000)
    _ = try begin("one", nil, at: 1_000_000)
    #expect(table.count == 2)
  }

  @Test("a denied request leaves no transaction behind")
  func deniedBeginnings() throws {
    let bench = try bench()
    try adopt("allow list: if true;", bench)
    let body = DocumentRequest.Body.batchGet(["c/a"], mask: nil, .begin(.readOnly(nil)))
    let share = DocumentTransactionLimits().openOfOwner
    for number in 1...share + 1 {
      bench.uptime += 10
      #expect(code(try bench.ask(1, UInt32(number), body)) == .permissionDenied)
    }
    let begin = DocumentRequest.Body.begin(.readOnly(nil))
    #expect(code(try bench.ask(1, UInt32(share + 2), begin)) == nil)
  }

  @Test("rows that are read count as steps, however few bytes they come to")
  func rows() throws {
    let bench = try bench()
    try bench.link(2)
    try fill(bench, 1, text: 1)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let sum = [DocumentAggregation("n", .sum("n"))]
    let bodies: [DocumentRequest.Body] = [
      .query(try all.first(120), .now), .aggregate(all, sum, .now),
    ]
    let get = DocumentRequest.Body.get("c/1000", mask: nil, .now)
    for (call, body) in zip(UInt32(2)..., bodies) {
      bench.portion = BatchPortion(
        linkBytes: 1 << 20, totalBytes: 1 << 20, steps: BatchPortion.sliceSteps)
      try bench.run([
        bench.frame(1, .open(stream: call, opening(body))),
        bench.frame(2, .open(stream: call, opening(get))),
      ])
      #expect(bench.lastDeferred.contains { $0.slot == 2 }, "\(body)")
      bench.portion = .unlimited
      try bench.run(bench.lastDeferred)
      #expect(bench.responses(2, call).count == 1)
    }
  }
}
