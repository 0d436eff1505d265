import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernTransport
import Testing

@testable import TernServer

/// Reads of documents that take many rows go on beside the executor, as of the time they were
/// asked for.
@Suite("Long reads of documents") struct DocumentSliceTests {
  private let slice = BatchPortion(
    linkBytes: 1 << 20, totalBytes: 1 << 20, steps: BatchPortion.sliceSteps, rows: 64)

  private func bench(_ options: ServerOptions = ServerOptions()) throws -> DocumentBench {
    let bench = try DocumentBench(options: options, authenticator: OwnerAuthenticator())
    for slot in 1...3 { try bench.link(slot) }
    for part in 0..<4 {
      let writes = (0..<200).map { index in
        bench.set(
          key(part * 200 + index),
          ["n": .integer(Int64(index)), "m": .integer(Int64(index % 7))])
      }
      _ = try bench.ask(3, UInt32(1 + part), .commit(writes, transaction: [], nil)).get()
    }
    return bench
  }

  private func key(_ number: Int) -> DocumentKey {
    DocumentKey(unchecked: "c/\(1_000 + number)")
  }

  private func all() throws -> DocumentQuery { .collection(try CollectionPath("c")) }

  private func opening(_ body: DocumentRequest.Body) -> DocumentCallOpening {
    let request = DocumentRequest(body, in: benchDatabase)
    return DocumentCallOpening(request.method, metadata: [], message: request.encode())
  }

  private func write(_ bench: DocumentBench, _ call: UInt32, _ mutation: DocumentMutation) throws {
    bench.portion = .unlimited
    _ = try bench.ask(3, call, .commit([mutation], transaction: [], nil)).get()
    bench.portion = slice
  }

  private func bodies() throws -> [DocumentRequest.Body] {
    let all = try all()
    let parts = DocumentPartitioning(
      query: try .group("c").ordered(by: .key), count: 3)
    return [
      .query(try all.where("m", .equal, 3).ordered(by: "n"), .now), .query(all, .now),
      .query(try all.where("m", .equal, 3).where("n", .greaterThan, 190), .now),
      .query(try all.ordered(by: "m").last(150), .now), .query(try all.skipping(700), .now),
      .aggregate(all, [DocumentAggregation("n", .sum("n"))], .now),
      .list(DocumentListing(parent: nil, collectionID: "c", page: .init(size: 200))),
      .list(
        DocumentListing(
          parent: nil, collectionID: "c", orders: [DocumentOrder("m", isDescending: true)])),
      .list(DocumentListing(parent: nil, collectionID: nil)),
      .partition(parts), .batchGet((0..<300).map(key), mask: nil, .now),
    ]
  }

  @Test("what they answer is as of the time they were asked for, whatever is written meanwhile")
  func sameAnswers() throws {
    let bench = try bench()
    var number: UInt32 = 100
    for body in try bodies() {
      bench.portion = .unlimited
      let whole = try bench.ask(1, number, body).get()
      bench.portion = slice
      try bench.send(1, .open(stream: number + 1, opening(body)))
      var (told, ends, rounds, slices) = ([DocumentResponse](), 0, 0, 0)
      while ends == 0, rounds < 200 {
        for item in bench.take(1) {
          switch item {
          case .response(_, let response): told.append(response)
          case .end(_, let status):
            ends += 1
            #expect(status == nil, "\(body)")
          case .pong: break
          }
        }
        let (jobs, rest) = (bench.lastReads, bench.lastDeferred)
        slices += 1
        number += 2
        try write(bench, number + 100, bench.set(key(rounds * 17 % 800), ["n": 199, "m": 3]))
        try bench.perform(jobs)
        try bench.run(rest + jobs.map { .read(slot: 1, $0) })
        rounds += 1
      }
      #expect(slices > 1, "\(body) is read in slices")
      #expect(told == whole, "\(body)")
      number += 300
    }
  }

  @Test("their rows are charged to the link that asked for them, and few are read at once")
  func charged() throws {
    let bench = try bench()
    bench.portion = slice
    let query = try all().where("m", .equal, 3).where("n", .greaterThan, 190).ordered(by: "n")
    try bench.send(1, .open(stream: 2, opening(.aggregate(query, [.init("k", .sum("n"))], .now))))
    #expect(bench.lastCosts.allSatisfy { $0.steps < 4 * 64 }, "\(bench.lastCosts)")
    let job = try #require(bench.lastReads.first)
    try bench.perform([job])
    #expect(job.rows > 64)
    try bench.run([.read(slot: 1, job)])
    #expect(bench.lastCosts.contains { $0.origin == .slot(1) && $0.steps >= 2 * job.rows })
    #expect(bench.responses(1, 2).count == 1)
    #expect(bench.budget.usedBytes(for: .answers) == 0)
  }

  @Test("the documents that rules ask for count as work")
  func rules() throws {
    let bench = try bench()
    let lookups = (0..<8).map { "exists(/databases/$(d)/documents/c/\(1_000 + $0))" }
    let text = """
      service cloud.firestore { match /databases/{d}/documents {
        match /c/{id} { allow read: if \(lookups.joined(separator: " && ")); } } }
      """
    let rules = DocumentRulesSet(common: try DocumentRules(source: text))
    let authorizer = DocumentRulesAuthorizer(rules)
    try bench.run([.adopt(ticket: 1, ServerAccess(documents: authorizer))])
    bench.portion = slice
    try bench.send(1, .open(stream: 2, opening(.get(key(9), mask: nil, .now))))
    #expect(bench.responses(1, 2).count == 1)
    #expect(bench.lastCosts.contains { $0.origin == .slot(1) && $0.steps >= 16 })
  }

  @Test("a read whose call ends is given up, and its result is dropped")
  func cancelled() throws {
    let bench = try bench()
    bench.portion = slice
    let sum = DocumentRequest.Body.aggregate(try all(), [.init("k", .sum("n"))], .now)
    try bench.send(1, .open(stream: 2, opening(sum)))
    let job = try #require(bench.lastReads.first)
    try bench.send(1, .cancel(stream: 2))
    #expect(job.isCancelled)
    try bench.perform([job])
    try bench.run([.read(slot: 1, job)])
    #expect(bench.take(1).isEmpty)
    // The link serves another client meanwhile.
    try bench.send(1, .open(stream: 4, opening(sum)))
    let second = try #require(bench.lastReads.first)
    try bench.run([.closed(slot: 1)])
    try bench.link(1)
    try bench.perform([second])
    try bench.run([.read(slot: 1, second)])
    #expect(bench.take(1).isEmpty)
  }

  @Test("other rules that come into force meanwhile decide about the answer")
  func otherRules() throws {
    let bench = try bench()
    bench.portion = slice
    for (call, body) in zip(UInt32(2)..., try bodies()) {
      try bench.run([.adopt(ticket: 1, ServerAccess(documents: AllowAll()))])
      try bench.send(1, .open(stream: call, opening(body)))
      let (jobs, rest) = (bench.lastReads, bench.lastDeferred)
      #expect(jobs.count + rest.count == 1, "\(body)")
      try bench.run([.adopt(ticket: 2, ServerAccess(documents: AllowAdministrators()))])
      try bench.perform(jobs)
      try bench.run(rest + jobs.map { .read(slot: 1, $0) })
      let end = try #require(bench.end(1, call), "\(body)")
      #expect(end?.code == .permissionDenied, "\(body)")
    }
  }

  /// Gives the database rules of its own, which grant writes, and reads if `isOpen`.
  private func rules(isOpen: Bool) throws -> ServerInput {
    let text = """
      service cloud.firestore { match /databases/{d}/documents {
        match /c/{id} { allow write; allow read: if \(isOpen); } } }
      """
    let request = DirectRequest(
      namespace: benchDatabase.resourceName, isLocal: true,
      credential: Credential(.service, token: "owner", isLocal: true),
      .setDocumentRules(Array(text.utf8), isTrial: false))
    return .direct(ticket: 1, request)
  }

  @Test("rules that the database is given meanwhile decide about the answer")
  func rulesOfTheDatabase() throws {
    let bench = try bench()
    bench.portion = slice
    let bodies: [DocumentRequest.Body] = [
      .query(try all(), .now), .aggregate(try all(), [.init("k", .sum("n"))], .now),
      .query(try all().where("m", .equal, 3).ordered(by: "n"), .now),
      .batchGet((0..<300).map(key), mask: nil, .now),
    ]
    for (call, body) in zip(UInt32(2)..., bodies) {
      try bench.run([rules(isOpen: true)])
      try bench.send(1, .open(stream: call, opening(body)))
      let (jobs, rest) = (bench.lastReads, bench.lastDeferred)
      #expect(jobs.count + rest.count == 1, "\(body)")
      try bench.run([rules(isOpen: false)])
      try bench.perform(jobs)
      try bench.run(rest + jobs.map { .read(slot: 1, $0) })
      let end = try #require(bench.end(1, call), "\(body)")
      #expect(end?.code == .permissionDenied, "\(body)")
    }
  }

  @Test("nothing is told to listens that wait to be judged by the rules their database is given")
  func listensUnderReview() throws {
    let bench = try DocumentBench(authenticator: OwnerAuthenticator())
    for slot in 1...3 { try bench.link(slot) }
    try bench.run([rules(isOpen: true)])
    let calls = UInt32(1)...20
    for slot in 1...2 {
      for call in calls {
        let target = WatchTarget(id: 2, subject: .query(try all().target))
        let told = try bench.listen(slot, call, target)
        #expect(told.last?.brief == "snapshot")
      }
    }
    bench.portion = BatchPortion(linkBytes: .max, totalBytes: .max, steps: 1)
    try bench.run([rules(isOpen: false)])
    let write = bench.set(key(1), ["n": 1])
    try bench.send(3, .open(stream: 1, opening(.commit([write], transaction: [], nil))))
    bench.portion = .unlimited
    try bench.run(bench.lastDeferred + [.goOn])
    for slot in 1...2 {
      let heard = bench.take(slot)
      for call in calls {
        let told = heard.compactMap { item in
          if case .response(call, .listen(let change)) = item { change.brief } else { nil }
        }
        #expect(told == ["refuse [2] permissionDenied"], "\(slot) \(call)")
      }
    }
  }

  @Test("a result that does not fit into its client's share of memory is refused")
  func tooMuch() throws {
    var options = ServerOptions()
    options.limits.memoryBytes = 1 << 20
    options.limits.memoryBytesPerAddress = 1 << 18
    let bench = try bench(options)
    bench.portion = slice
    try bench.send(1, .open(stream: 2, opening(.query(try all(), .now))))
    let jobs = bench.lastReads
    _ = bench.budget.charge(bench.budget.roomBytes(for: ""), .listens, to: "")
    try bench.perform(jobs)
    try bench.run(jobs.map { .read(slot: 1, $0) })
    #expect(bench.end(1, 2)??.code == .unavailable)
  }
}
