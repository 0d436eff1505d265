import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernServer

/// Requests of strangers that are legal one by one, and cost or tell too much in their sum.
@Suite("Documents under abuse") struct DocumentAbuseTests {
  private static let rules = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /hidden/{id} { allow read, write: if false; }
        match /open/{id} { allow read, write: if true; }
        match /paired/{id} {
          allow write: if getAfter(/databases/$(database)/documents/open/$(id)).data.n == 1;
        }
      }
    }
    """

  private let hidden = DocumentQuery.collection(CollectionPath(unchecked: "hidden"))

  private func bench(_ store: any OrderedStore = MemoryStore()) throws -> DocumentBench {
    let bench = try DocumentBench(
      store: store,
      authorizer: DocumentRulesAuthorizer(
        DocumentRulesSet(common: try DocumentRules(source: Self.rules))),
      authenticator: NameAuthenticator(), ledgerOptions: LedgerOptions(journalRows: 0))
    for slot in [1, 9] { try bench.link(slot) }
    let writes = (0..<50).map { number in
      bench.set(
        DocumentKey(unchecked: "hidden/\(number)"),
        ["zz": .integer(Int64(number % 3)), "salary": .integer(Int64(5_000 + number))])
    }
    _ = try bench.ask(9, 1, .commit(writes, transaction: [], nil), token: "chief").get()
    return bench
  }

  private func contradictory() throws -> DocumentQuery {
    try hidden.where("zz", .equal, 1).where("zz", .equal, 2).where("salary", .greaterThan, 5_010)
  }

  @Test("a query that contradicts itself reads nothing of what rules hide")
  func contradictions() throws {
    let bench = try bench()
    for (call, query) in zip(UInt32(1)..., [try contradictory(), try hidden.where("a", .equal, 1)])
    {
      let answer = try bench.ask(1, call, .query(query, .now), token: "ann")
      switch answer {
      case .success(let responses):
        #expect(query.feasible.filter == .or([]))
        for case .query(let response) in responses { #expect(response.document == nil) }
      case .failure(let status):
        #expect(query.feasible == query)
        #expect(status.code == .permissionDenied)
      }
    }
    #expect(try contradictory().feasible.normalizedOrders == contradictory().normalizedOrders)
  }

  @Test("an alternative that contradicts itself is left out of a query, which answers as before")
  func alternatives() throws {
    let bench = try bench()
    let (one, two) = (
      DocumentFilter.where("zz", .equal, 1), DocumentFilter.where("zz", .equal, 2)
    )
    let salary = DocumentFilter.where("salary", .greaterThan, 5_010)
    let query = DocumentQuery.assembled(
      hidden.source, filter: .or([.and([one, two, salary]), .and([two, salary])]))
    let feasible = query.feasible
    #expect(feasible.filter == .or([.and([two, salary])]))
    #expect(feasible.normalizedOrders == query.normalizedOrders)
    let answers = try [query, feasible].enumerated().map { index, query in
      let call = UInt32(10 + index)
      return try bench.ask(9, call, .query(query, .now), token: "chief").get().map {
        response -> String? in
        if case .query(let answer) = response { answer.document?.key.text } else { nil }
      }
    }
    #expect(answers[0].count > 10 && answers[0] == answers[1])
  }

  @Test("the cost of a query is revealed to administrators only")
  func explanations() throws {
    let bench = try bench()
    var query = DocumentQuery.collection(CollectionPath(unchecked: "open"))
    query.explaining = .analysis
    let denied = try bench.ask(1, 1, .query(query, .now), token: "ann")
    #expect(throws: DocumentStatus.denied) { try denied.get() }
    #expect(throws: Never.self) {
      try bench.ask(9, 2, .query(query, .now), token: "chief").get()
    }
  }

  @Test("the greatest limit is watched, and one beyond 32 bits is rejected")
  func limits() throws {
    let bench = try bench()
    let open = DocumentQuery.collection(CollectionPath(unchecked: "open"))
    let greatest = try open.first(Int(Int32.max))
    try bench.send(1, .open(stream: 1, DocumentCallOpening(.listen)))
    try bench.say(
      1, 1, .listen(.add(WatchTarget(id: 1, subject: .query(greatest.target)))))
    #expect(!bench.responses(1, 1).isEmpty)
    let huge = DocumentQuery.assembled(open.source, limit: (.first, Int.max))
    let beyond = try bench.ask(1, 2, .query(huge, .now))
    guard case .failure(let status) = beyond else {
      Issue.record("a limit that no client can send")
      return
    }
    #expect(status.code == .invalidArgument)
  }

  @Test("a commit that makes too much of one document is rejected, and denied where rules deny it")
  func sums() throws {
    let bench = try bench()
    let text = DocumentValue.string(String(repeating: "x", count: 1_000_000))
    func writes(_ key: DocumentKey) -> [DocumentMutation] {
      [bench.set(key, ["s": text])]
        + (0..<100).map { number in
          DocumentMutation(
            key, .patch(["a": .integer(number)], mask: DocumentFieldMask(["a"])))
        }
    }
    for (call, (key, code)) in zip(
      UInt32(1)...,
      [("open/d", DocumentStatus.Code.invalidArgument), ("hidden/d", .permissionDenied)]
        as [(DocumentKey, DocumentStatus.Code)])
    {
      let answer = try bench.ask(1, call, .commit(writes(key), transaction: [], nil), token: "ann")
      guard case .failure(let status) = answer else {
        Issue.record("\(key) was written")
        continue
      }
      #expect(status.code == code)
    }
  }

  @Test("a target of documents names each once, and not too many")
  func targets() throws {
    let bench = try bench()
    try bench.send(1, .open(stream: 1, DocumentCallOpening(.listen)))
    let many = Array(repeating: DocumentKey(unchecked: "hidden/1"), count: 50_000)
    try bench.say(1, 1, .listen(.add(WatchTarget(id: 1, subject: .documents(many)))))
    let answers = bench.responses(1, 1)
    guard case .listen(.target(let change))? = answers.last,
      case .removed(let status?) = change.kind
    else {
      Issue.record("\(answers)")
      return
    }
    #expect(status.code == .invalidArgument)
  }

  @Test("a query of too many filters is rejected before its alternatives are counted")
  func filters() throws {
    let bench = try bench()
    let filter = DocumentFilter.and(
      Array(repeating: .where("a", .equal, 1), count: 100_000))
    let query = DocumentQuery.assembled(hidden.source, filter: filter)
    guard case .failure(let status) = try bench.ask(1, 1, .query(query, .now)) else {
      Issue.record("a query of 100,000 filters")
      return
    }
    #expect(status.code == .invalidArgument)
  }

  private func code(
    _ answer: Result<[DocumentResponse], DocumentStatus>
  ) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  @Test("a list in too many orders is rejected before they are compared with each other")
  func orders() throws {
    let bench = try bench()
    var listing = DocumentListing(parent: nil, collectionID: "open")
    for (call, (count, expected)) in zip(
      UInt32(1)...,
      [(99, nil), (101, .invalidArgument), (200_000, .invalidArgument)]
        as [(Int, DocumentStatus.Code?)])
    {
      listing.orders = (0..<count).map { DocumentOrder(DocumentFieldPath(unchecked: ["a\($0)"])) }
      #expect(code(try bench.ask(1, call, .list(listing))) == expected, "\(count)")
    }
  }

  @Test("the denial of a commit of many array transforms costs no product of them")
  func arrayTransforms() throws {
    let bench = try bench()
    let flags = DocumentValue.array(Array(repeating: true, count: 100_000))
    let transforms = (0..<500).map { number -> DocumentFieldTransform in
      let operand = DocumentValue.integer(Int64(number))
      return DocumentFieldTransform(
        DocumentFieldPath(unchecked: ["a"]),
        number % 3 == 0 ? .arrayRemove([operand]) : .arrayUnion([operand]))
    }
    for (call, (key, expected)) in zip(
      UInt32(1)...,
      [("hidden/d", .permissionDenied), ("open/d", nil)]
        as [(DocumentKey, DocumentStatus.Code?)])
    {
      let write = DocumentMutation(
        key, .set(DocumentFields(DocumentMap([("a", flags)]))), transforms: transforms)
      let answer = try bench.ask(1, call, .commit([write], transaction: [], nil), token: "ann")
      #expect(code(answer) == expected, "\(key)")
    }
  }

  @Test("a denial ends the work on a commit, whose other writes are not even read")
  func denialsOfCommits() throws {
    let store = DamagedStore(MemoryStore())
    let bench = try bench(store)
    let later = DocumentKey(unchecked: "hidden/later")
    _ = try bench.ask(
      9, 2, .commit([bench.set(later, ["n": 1])], transaction: [], nil), token: "chief"
    ).get()
    #expect(try store.damage { String(decoding: $0, as: UTF8.self).contains("later") } > 0)
    let deletions = (0..<DocumentCommitReview.shortCount).map {
      DocumentMutation(DocumentKey(unchecked: "hidden/\($0)"), .delete)
    }
    let last = DocumentMutation(later, .delete)
    let failing = DocumentMutation("hidden/0", .delete, precondition: .exists(false))
    let allowed = bench.set("open/first", [:])
    let cases: [([DocumentMutation], DocumentStatus.Code)] = [
      (deletions + [last], .permissionDenied), ([failing] + deletions + [last], .permissionDenied),
      ([allowed] + deletions + [last], .dataLoss), ([last] + deletions, .dataLoss),
    ]
    for (call, (writes, expected)) in zip(UInt32(3)..., cases) {
      let answer = try bench.ask(1, call, .commit(writes, transaction: [], nil), token: "ann")
      #expect(code(answer) == expected)
    }
  }

  @Test("the first write of a long commit is judged by what the others make as well")
  func longCommits() throws {
    let bench = try bench()
    let others = (0..<50).map { bench.set(DocumentKey(unchecked: "open/\($0)"), [:]) }
    func set(_ key: DocumentKey, _ number: DocumentValue) -> DocumentMutation {
      bench.set(key, DocumentFields(DocumentMap([("n", number)])))
    }
    let (first, one, two) = (set("paired/a", 1), set("open/a", 1), set("open/a", 2))
    let stale = DocumentMutation("open/z", .delete, precondition: .exists(true))
    let broken = set("open/__z__", 1)
    let cases: [([DocumentMutation], DocumentStatus.Code?)] = [
      ([first] + others, .permissionDenied), ([first, two] + others, .permissionDenied),
      ([first] + others + [stale], .permissionDenied),
      ([first, one] + others + [stale], .notFound),
      ([first, one] + others + [broken], .invalidArgument), ([first, one] + others, nil),
      ([set("paired/a", 2)] + others, nil), ([first] + others + [two], .permissionDenied),
    ]
    for (call, (writes, expected)) in zip(UInt32(2)..., cases) {
      let answer = try bench.ask(1, call, .commit(writes, transaction: [], nil), token: "ann")
      #expect(code(answer) == expected, "\(call)")
      #expect(bench.lastCommits.isEmpty == (expected != nil))
    }
  }

  @Test("masks and selections have so many paths and no more, and are applied to what is there")
  func masks() throws {
    let bench = try bench()
    let name = DocumentKey(unchecked: "open/d")
    let set = bench.set(name, ["f1": 1, "f2": ["a": 1, "b": 2], "g": 3])
    _ = try bench.ask(1, 1, .commit([set], transaction: [], nil), token: "ann").get()
    let missing = (0..<40).map { DocumentKey(unchecked: "open/none\($0)") }
    var call: UInt32 = 2
    for (count, expected) in [(10_000, nil), (10_001, .invalidArgument)]
      as [(Int, DocumentStatus.Code?)]
    {
      let paths =
        [["f2", "b"], ["__name__"], ["f1", "x"]].map { DocumentFieldPath(unchecked: $0) }
        + (3..<count).map { DocumentFieldPath(unchecked: ["f\($0)"]) }
      let query = DocumentQuery.collection(CollectionPath(unchecked: "open")).selecting(paths)
      var listing = DocumentListing(parent: nil, collectionID: "open")
      listing.mask = paths
      let bodies: [DocumentRequest.Body] = [
        .get(name, mask: paths, .now), .batchGet([name] + missing, mask: paths, .now),
        .query(query, .now), .list(listing),
        .update(DocumentMutation(name, .patch([:], mask: .empty)), mask: paths),
      ]
      for body in bodies {
        call += 1
        let answer = try bench.ask(1, call, body, token: "ann")
        #expect(code(answer) == expected)
        guard case .success(let responses) = answer else { continue }
        let documents = responses.flatMap(\.found)
        #expect(documents.map(\.fields) == [["f2": ["b": 2]]])
      }
    }
  }

  @Test("a value of many unknown fields is read in little stack")
  func unknownFields() {
    var message: [UInt8] = []
    for _ in 0..<200_000 { message += [0x20, 0] }
    let value = message
    // An update of one document, whose field `a` is that value.
    func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
      var (length, varint) = (content.count, [UInt8]())
      repeat {
        varint.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
        length >>= 7
      } while length > 0
      return [number << 3 | 2] + varint + content
    }
    let entry = field(2, field(1, Array("a".utf8)) + field(2, value))
    let document = field(1, Array("\(benchDatabase.documentsName)/open/a".utf8)) + entry
    let commit =
      field(1, Array(benchDatabase.resourceName.utf8)) + field(2, field(1, document))
    #expect(throws: DocumentWireError.self) { try DocumentRequest.decode(.commit, commit) }
  }
}

extension DocumentResponse {
  /// The documents that are found, of whatever answer.
  fileprivate var found: [Document] {
    switch self {
    case .document(let document): [document]
    case .documents(let documents, _): documents
    case .batchGet(let answer): [answer.document].compactMap { $0 }.filter(\.isFound)
    case .query(let answer): [answer.document].compactMap { $0 }
    default: []
    }
  }
}
