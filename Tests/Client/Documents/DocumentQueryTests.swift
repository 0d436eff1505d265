import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync
import Testing

@Suite("Queries of documents in the client")
struct DocumentQueryTests {
  private func offline(
    _ home: Home, _ change: (inout ClientOptions) -> Void = { _ in }
  ) async throws -> Documents {
    let documents = try home.documentClient(change).documents
    await documents.goOffline()
    return documents
  }

  @Test("cursors from a snapshot begin and end at its document", .timeLimit(.minutes(10)))
  func cursors() async throws {
    let home = try await Home()
    let documents = try await offline(home)
    let cities = documents.collection("cities")
    for (id, people) in [("a", 1), ("b", 2), ("c", 2), ("d", 3)] as [(String, Int64)] {
      try await cities.document(id).set(["people": .value(.integer(people))])
    }
    func ids(_ query: DocumentQueryReference) async throws -> [String] {
      try await query.get(from: .cache).documents.map(\.id)
    }
    let c = try await cities.document("c").get(from: .cache)
    let byPeople = cities.order(by: "people")
    #expect(try await ids(byPeople.start(at: c)) == ["c", "d"])
    #expect(try await ids(byPeople.start(at: c, isInclusive: false)) == ["d"])
    #expect(try await ids(byPeople.end(at: c)) == ["a", "b", "c"])
    #expect(try await ids(byPeople.end(at: c, isInclusive: false)) == ["a", "b"])
    #expect(
      try await ids(cities.order(by: "people", isDescending: true).start(at: c)) == ["c", "b", "a"])
    #expect(try await ids(cities.queried.start(at: c)) == ["c", "d"])
    #expect(try await ids(byPeople.start(at: c).end(at: c)) == ["c"])
    try await cities.document("e").set(["x": 1])
    let e = try await cities.document("e").get(from: .cache)
    await #expect(throws: DocumentsError.invalidQuery(.cursorFieldMissing(["people"]))) {
      try await byPeople.start(at: e).get(from: .cache)
    }
    try await cities.document("e").remove()
    let gone = try await cities.document("e").get(from: .cache)
    await #expect(
      throws: DocumentsError.invalidQuery(.cursorDocumentMissing(try DocumentKey("cities/e")))
    ) {
      try await byPeople.start(at: gone).get(from: .cache)
    }
  }

  @Test(
    "documents are asked for by their ids, in a group by their paths", .timeLimit(.minutes(10)))
  func ids() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let cities = documents.collection("cities")
    for id in ["a", "b", "c", "d"] { try await cities.document(id).set(["n": 1]) }
    try await documents.document("cities/a/parts/p").set(["n": 2])
    try await documents.document("parts/q").set(["n": 2])
    try await documents.waitForPendingWrites()
    let parts = documents.collectionGroup("parts")
    let asked: [(DocumentQueryReference, [String])] = [
      (cities.where("__name__", .equals, "b"), ["b"]),
      (cities.where("__name__", .in, ["d", "a", "x"]), ["a", "d"]),
      (cities.where("__name__", .notIn, ["a", "b"]), ["c", "d"]),
      (cities.where("__name__", .greaterThan, "b"), ["c", "d"]),
      (cities.filtered(.or([.where(.key, .equal, "a"), .where(.key, .equal, "c")])), ["a", "c"]),
      (cities.order(by: "__name__").start(at: "c"), ["c", "d"]),
      (cities.order(by: "__name__", isDescending: true).end(at: "c"), ["d", "c"]),
      (cities.order(by: "n").order(by: "__name__").start(at: 1, "d"), ["d"]),
      (parts.where("__name__", .equals, "cities/a/parts/p"), ["p"]),
      (parts.order(by: "__name__").start(at: "cities/b/parts/x"), ["q"]),
    ]
    for (index, (query, expected)) in asked.enumerated() {
      for source in [DocumentGetSource.server, .cache] {
        let found = try await query.get(from: source).documents.map(\.id)
        #expect(found == expected, "query \(index)")
      }
    }
    for bad in [
      cities.where("__name__", .equals, "a/b"), cities.where("__name__", .equals, 5),
      parts.where("__name__", .equals, "p"), cities.order(by: "__name__").start(at: ""),
    ] {
      await #expect(throws: DocumentsError.invalidQuery(.invalidKeyOperand)) { try await bad.get() }
    }
  }

  @Test(
    "what is counted and summed may begin and end at a document, and be the last of an order",
    .timeLimit(.minutes(10)))
  func countedCursors() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    let cities = documents.collection("cities")
    for (id, people) in [("a", 1), ("b", 2), ("c", 2), ("d", 3)] as [(String, Int64)] {
      try await cities.document(id).set(["people": .value(.integer(people))])
    }
    try await cities.document("e").set(["other": 1]).acknowledged()
    let c = try await cities.document("c").get(from: .server)
    let byPeople = cities.order(by: "people")
    #expect(try await byPeople.start(at: c).count() == 2)
    #expect(try await byPeople.end(at: c, isInclusive: false).count() == 2)
    #expect(try await cities.queried.start(at: c).count() == 3)
    #expect(try await cities.where("people", .greaterThan, 1).start(at: c).count() == 2)
    #expect(try await byPeople.start(at: c).last(1).count() == 1)
    let sums = try await byPeople.last(2).aggregate([
      DocumentAggregation("sum", try .sum("people")),
      DocumentAggregation("mean", .average(["people"])),
    ])
    #expect(sums["sum"] == 5)
    #expect(sums["mean"] == 2.5)
    #expect(try await cities.sum("people") == .integer(8))
    #expect(try await byPeople.end(at: c).average("people") == 5.0 / 3)
    #expect(try await cities.average("none") == nil)
    await #expect(throws: DocumentsError.self) { try await cities.sum("a..b") }
    let either = DocumentFilter.or([
      try .where("people", .equals, 3), try .where("__name__", .equals, "e"),
    ])
    #expect(try await cities.filtered(either).count() == 2)
  }

  @Test("explain tells how a query is served, before and after an index", .timeLimit(.minutes(10)))
  func explain() async throws {
    let home = try await Home()
    let documents = try home.documentClient { $0.createsDocumentIndexes = false }.documents
    var batch = documents.batch()
    for number in 0..<150 {
      batch.set(
        documents.document("n/\(number)"), to: ["tens": .value(.integer(Int64(number / 10)))])
    }
    try await batch.commit().acknowledged()
    _ = try await documents.collection("n").get(from: .server)
    let query = documents.collection("n").where("tens", .equals, 3)
    var plan = try await query.explain()
    #expect(plan.strategy == .scan)
    #expect(plan.documentsRead == 150)
    #expect(plan.documentsReturned == 10)
    #expect(plan.createdIndexes.isEmpty)
    await documents.indexes.createAutomatically(true)
    let tens = DocumentIndex(group: "n", segments: [.init(["tens"], .ascending)])
    #expect(try await query.explain().createdIndexes == [tens])
    #expect(await !documents.indexes.areComplete)
    while await documents.indexes.backfill() > 0 {}
    #expect(await documents.indexes.areComplete)
    plan = try await query.explain()
    #expect(plan.strategy == .index)
    #expect(plan.indexes == [tens])
    #expect(plan.documentsRead == 10)
    #expect(plan.description == "index n(tens ascending), 10 documents read for 10")
    await documents.indexes.deleteAll()
    #expect(try await query.get(from: .cache).count == 10)
  }

  @Test("indexes are set by type and by configuration, all or none", .timeLimit(.minutes(10)))
  func configuration() async throws {
    let home = try await Home()
    let documents = try await offline(home) { $0.createsDocumentIndexes = true }
    let index = DocumentIndex(group: "cities", segments: [.init(["people"], .descending)])
    try await documents.indexes.set([index])
    #expect(await documents.indexes.all == [index])
    try await documents.indexes.set(
      json: """
        {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "fields":
          [{"fieldPath": "tags", "arrayConfig": "CONTAINS"}, {"fieldPath": "people", "order": "ASCENDING"}]}],
         "fieldOverrides": []}
        """)
    let other = DocumentIndex(
      group: "cities", segments: [.init(["tags"], .contains), .init(["people"], .ascending)])
    #expect(await documents.indexes.all == [other])
    await #expect(throws: DocumentIndexError.self) { try await documents.indexes.set(json: "[]") }
    #expect(await documents.indexes.all == [other])
  }

  @Test(
    "a batch above 10 MiB is rejected before any listener hears of it; one below arrives",
    .timeLimit(.minutes(10)))
  func largeBatch() async throws {
    let home = try await Home()
    let documents = try home.documentClient().documents
    func batch(of count: Int, bytes: Int) -> DocumentWriteBatch {
      var batch = documents.batch()
      for number in 0..<count {
        let bytes = [UInt8](repeating: 7, count: bytes)
        batch.set(documents.document("big/\(number)"), to: ["b": .value(.bytes(bytes))])
      }
      return batch
    }
    let limit = 10 * 1_048_576 - 1_024
    await #expect {
      try await batch(of: 11, bytes: 1_000_000).commit()
    } throws: { error in
      guard case .invalid(.batchTooLarge(let bytes, limit)) = error as? DocumentsError else {
        return false
      }
      return bytes > limit
    }
    #expect(await documents.queueStatus.pending.isEmpty)
    #expect(try await documents.collection("big").get(from: .cache).count == 0)
    try await batch(of: 10, bytes: 1_040_000).commit().acknowledged()
    #expect(try await documents.collection("big").count() == 10)
    var many = documents.batch()
    for number in 0..<1_200 { many.set(documents.document("many/\(number)"), to: ["n": 1]) }
    try await many.commit().acknowledged()
    #expect(try await documents.collection("many").count() == 1_200)
    try await documents.batch().commit().acknowledged()
  }
}
