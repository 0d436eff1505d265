import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import Testing

@testable import TernServer

@Suite("Calls about documents")
struct DocumentCallTests {
  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench()
    try bench.link(1)
    return bench
  }

  private let root = benchDatabase.documentsName

  private func keys(_ responses: [DocumentResponse]) -> [String] {
    responses.flatMap { response -> [String] in
      switch response {
      case .documents(let documents, _): documents.map(\.key.text)
      case .query(let answer): [answer.document?.key.text ?? "-"]
      case .batchGet(let answer): [answer.document?.key.text ?? "-"]
      default: []
      }
    }
  }

  @Test("documents are made, read, changed and deleted")
  func documents() throws {
    let bench = try bench()
    let path = try CollectionPath("cities")
    let made = try bench.ask(1, 1, .create(path, id: "a", ["x": 1, "y": 2], mask: ["y"])).get()
    guard case .document(let document)? = made.first else {
      Issue.record("the document comes back")
      return
    }
    #expect(document.fields == ["y": 2])
    #expect(document.created == document.version)
    let again = try bench.ask(1, 2, .create(path, id: "a", [:], mask: nil))
    #expect(throws: DocumentStatus(.alreadyExists, "Document already exists: \(root)/cities/a")) {
      try again.get()
    }
    let named = try bench.ask(1, 3, .create(path, id: nil, [:], mask: nil)).get()
    guard case .document(let other)? = named.first else { return }
    #expect(other.key.id.utf8.count == 20)
    let change = DocumentMutation("cities/a", .patch(["x": 5], mask: DocumentFieldMask(["x"])))
    _ = try bench.ask(1, 4, .update(change, mask: nil)).get()
    let read = try bench.ask(1, 5, .get("cities/a", mask: nil, .now)).get()
    guard case .document(let now)? = read.first else { return }
    #expect(now.fields == ["x": 5, "y": 2])
    #expect(now.created < now.version)
    // As it was before.
    let past = try bench.ask(1, 6, .get("cities/a", mask: ["x"], .time(document.version))).get()
    #expect(
      past.first
        == .document(
          Document(
            "cities/a", .found(["x": 1]), version: document.version, created: document.version)))
    #expect(try bench.ask(1, 7, .delete(DocumentMutation("cities/a", .delete))).get() == [.done])
    let gone = try bench.ask(1, 8, .get("cities/a", mask: nil, .now))
    #expect(throws: DocumentStatus(.notFound, "Document \"\(root)/cities/a\" not found.")) {
      try gone.get()
    }
  }

  private func fill(_ bench: DocumentBench, _ keys: [DocumentKey]) throws {
    let writes = keys.enumerated().map { index, key in
      bench.set(key, ["n": .integer(Int64(index)), "odd": .boolean(index % 2 == 1)])
    }
    _ = try bench.ask(1, 1, .commit(writes, transaction: [], nil)).get()
  }

  @Test("queries and aggregations are answered")
  func queries() throws {
    let bench = try bench()
    try fill(bench, ["c/a", "c/b", "c/c", "c/d", "d/e"])
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let query = try all.where("odd", .equal, true).ordered(by: "n", isDescending: true)
    #expect(keys(try bench.ask(1, 2, .query(query, .now)).get()) == ["c/d", "c/b"])
    let none = try all.where("n", .greaterThan, 99)
    let empty = try bench.ask(1, 3, .query(none, .now)).get()
    #expect(keys(empty) == ["-"])
    let sums: [DocumentAggregation] = [
      .init("count", .count(upTo: nil)), .init("sum", .sum("n")), .init("mean", .average("n")),
    ]
    guard
      case .aggregation(let answer)? = try bench.ask(1, 4, .aggregate(all, sums, .now)).get().first
    else {
      Issue.record("numbers come back")
      return
    }
    #expect(answer.values == ["count": 4, "sum": 6, "mean": 1.5])
  }

  @Test("lists come page by page, missing documents among them when asked for")
  func lists() throws {
    let bench = try bench()
    try fill(bench, ["c/a", "c/b", "c/d", "c/m/x/y", "c/z/x/y", "e/f/g/h"])
    var listing = DocumentListing(
      parent: nil, collectionID: "c", page: DocumentPageRequest(size: 2))
    func pages(_ call: UInt32) throws -> [[String]] {
      var (pages, call): ([[String]], UInt32) = ([], call)
      listing.page.token = ""
      repeat {
        let answer = try bench.ask(1, call, .list(listing)).get()
        pages.append(keys(answer))
        guard case .documents(_, let token)? = answer.first else { return pages }
        listing.page.token = token
        call += 1
      } while !listing.page.token.isEmpty && pages.count < 9
      return pages
    }
    #expect(try pages(10) == [["c/a", "c/b"], ["c/d"]])
    listing.showsMissing = true
    #expect(try pages(20) == [["c/a", "c/b"], ["c/d", "c/m"], ["c/z"]])
    listing.showsMissing = false
    listing.orders = [DocumentOrder("n", isDescending: true)]
    #expect(try pages(30) == [["c/d", "c/b"], ["c/a"]])
    let first = try bench.ask(
      1, 40, .listCollections(below: nil, DocumentPageRequest(size: 1), .now))
    guard case .collectionIDs(["c"], let token)? = try first.get().first else {
      Issue.record("the first collection")
      return
    }
    let next = DocumentPageRequest(size: 5, token: token)
    let second = try bench.ask(1, 41, .listCollections(below: nil, next, .now))
    #expect(try second.get() == [.collectionIDs(["e"], nextPageToken: "")])
    let below = try bench.ask(1, 42, .listCollections(below: "c/m", DocumentPageRequest(), .now))
    #expect(try below.get() == [.collectionIDs(["x"], nextPageToken: "")])
  }

  @Test("a group is cut into parts of like size")
  func partitions() throws {
    let bench = try bench()
    try fill(bench, (100..<400).map { DocumentKey(unchecked: "c/\($0)") })
    let query = try DocumentQuery.group("c").ordered(by: .key)
    let answer = try bench.ask(1, 2, .partition(DocumentPartitioning(query: query, count: 2))).get()
    let cursors = ["c/200", "c/300"].map {
      WireCursor(
        [.reference(DocumentName(DocumentKey(unchecked: $0), in: benchDatabase))], isBefore: true)
    }
    #expect(answer == [.partitions(cursors, nextPageToken: "")])
    var page = DocumentPartitioning(query: query, count: 2, page: DocumentPageRequest(size: 1))
    #expect(
      try bench.ask(1, 4, .partition(page)).get()
        == [.partitions([cursors[0]], nextPageToken: "1")])
    page.page.token = "1"
    #expect(
      try bench.ask(1, 5, .partition(page)).get() == [.partitions([cursors[1]], nextPageToken: "")])
    let other = DocumentQuery.collection(try CollectionPath("c"))
    let refused = try bench.ask(1, 6, .partition(DocumentPartitioning(query: other, count: 2)))
    #expect(throws: DocumentStatus.self) { try refused.get() }
  }

  @Test("a transaction commits only over what it has read")
  func transactions() throws {
    let bench = try bench()
    try fill(bench, ["c/a", "c/b"])
    func begin(_ call: UInt32) throws -> [UInt8] {
      let body = DocumentRequest.Body.batchGet(["c/a"], mask: nil, .begin(.readWrite(retrying: [])))
      guard case .batchGet(let head)? = try bench.ask(1, call, body).get().first else { return [] }
      #expect(head.document == nil)
      return head.transaction
    }
    let one = try begin(2)
    let two = try begin(3)
    #expect(!one.isEmpty && one != two)
    let first = try bench.ask(1, 4, .commit([bench.set("c/a", ["n": 9])], transaction: one, nil))
    #expect(throws: Never.self) { try first.get() }
    let second = try bench.ask(1, 5, .commit([bench.set("c/b", ["n": 8])], transaction: two, nil))
    guard case .failure(let status) = second else {
      Issue.record("what the second has read has changed")
      return
    }
    #expect(status.code == .aborted)
    // It has ended, as have those that were rolled back, and those that were left.
    let third = try begin(6)
    #expect(try bench.ask(1, 7, .rollback(transaction: third)).get() == [.done])
    let fourth = try begin(8)
    bench.uptime += 60_001
    let ends: [DocumentStatus.Code] = [.aborted, .aborted, .aborted]
    for (call, (id, code)) in zip(UInt32(9)..., zip([two, third, fourth], ends)) {
      guard case .failure(let status) = try bench.ask(1, call, .commit([], transaction: id, nil))
      else {
        Issue.record("the transaction is over")
        continue
      }
      #expect(status.code == code)
    }
  }

  @Test("a transaction for reading sees one moment and writes nothing")
  func readOnly() throws {
    let bench = try bench()
    try fill(bench, ["c/a"])
    guard case .transaction(let id)? = try bench.ask(1, 2, .begin(.readOnly(nil))).get().first
    else {
      Issue.record("it has a name")
      return
    }
    _ = try bench.ask(1, 3, .commit([bench.set("c/b", [:])], transaction: [], nil)).get()
    let all = DocumentQuery.collection(try CollectionPath("c"))
    #expect(keys(try bench.ask(1, 4, .query(all, .transaction(id))).get()) == ["c/a"])
    #expect(keys(try bench.ask(1, 5, .query(all, .now)).get()) == ["c/a", "c/b"])
    let write = try bench.ask(1, 6, .commit([bench.set("c/x", [:])], transaction: id, nil))
    #expect(throws: DocumentStatus.self) { try write.get() }
  }

  @Test("each write of a batch succeeds or fails by itself")
  func batches() throws {
    let bench = try bench()
    try fill(bench, ["c/a"])
    let writes = [
      bench.set("c/b", [:]), DocumentMutation("c/a", .set(.empty), precondition: .exists(false)),
      DocumentMutation("c/c", .delete),
    ]
    guard
      case .batchWrite(let results, let statuses)? = try bench.ask(1, 2, .batchWrite(writes)).get()
        .first
    else {
      Issue.record("each has a status")
      return
    }
    #expect(results.count == 3)
    #expect(statuses.map { $0?.code } == [nil, .alreadyExists, nil])
  }

  @Test("what is not allowed is not done, by any client in any way")
  func denied() throws {
    let bench = try DocumentBench(authorizer: AllowLocal(), authenticator: OwnerAuthenticator())
    try bench.link(1, isLocal: false)
    try bench.link(2)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let bodies: [DocumentRequest.Body] = [
      .get("c/a", mask: nil, .now), .batchGet(["c/a"], mask: nil, .now), .query(all, .now),
      .aggregate(all, [.init("n", .count(upTo: nil))], .now),
      .list(DocumentListing(parent: nil, collectionID: "c")),
      .listCollections(below: nil, DocumentPageRequest(), .now),
      .commit([bench.set("c/a", [:])], transaction: [], nil),
      .update(bench.set("c/a", [:]), mask: nil), .delete(.delete("c/a")),
    ]
    for (call, body) in zip(UInt32(1)..., bodies) {
      guard case .failure(let status) = try bench.ask(1, call, body) else {
        Issue.record("\(body)")
        continue
      }
      #expect(status.code == .permissionDenied)
      #expect(bench.lastCommits.isEmpty)
    }
    let forged = try bench.ask(2, 1, .get("c/a", mask: nil, .now), token: "x")
    guard case .failure(let status) = forged else {
      Issue.record("a token that nobody knows")
      return
    }
    #expect(status.code == .unauthenticated)
    let owner = try bench.ask(
      2, 2, .commit([bench.set("c/a", [:])], transaction: [], nil), token: "owner")
    #expect(throws: Never.self) { try owner.get() }
  }
}
