import TernCore
import TernDocumentWire
import TernQuery
import Testing

@testable import TernServer

@Suite("Queries of documents as the service answers them")
struct DocumentQueryTests {
  private func bench() throws -> DocumentBench {
    let bench = try DocumentBench()
    try bench.link(1)
    return bench
  }

  private func write(_ bench: DocumentBench, _ call: UInt32, _ keys: [DocumentKey]) throws {
    let writes = keys.enumerated().map { index, key in
      bench.set(key, ["n": .integer(Int64(index))])
    }
    _ = try bench.ask(1, call, .commit(writes, transaction: [], nil)).get()
  }

  private func answers(_ responses: [DocumentResponse]) -> [DocumentQueryAnswer] {
    responses.compactMap { if case .query(let answer) = $0 { answer } else { nil } }
  }

  private func run(
    _ bench: DocumentBench, _ call: UInt32, _ query: DocumentQuery,
    _ point: DocumentReadPoint = .now
  ) throws -> [DocumentQueryAnswer] {
    answers(try bench.ask(1, call, .query(query, point)).get())
  }

  private func keys(_ answers: [DocumentQueryAnswer]) -> [String] {
    answers.compactMap { $0.document?.key.text }
  }

  private func reference(_ key: DocumentKey) -> DocumentValue {
    .reference(DocumentName(key, in: benchDatabase))
  }

  @Test("without a collection hand out what lies in all of them")
  func descendants() throws {
    let bench = try bench()
    try write(
      bench, 1, ["a/1", "a/1/b/2", "a/1/b/2/c/3", "a/1/d/1", "a/2/b/1", "a/3", "b/1", "z/1/y/1"])
    let time = bench.now * 1_000
    func all(_ parent: DocumentKey?, _ isRecursive: Bool) -> DocumentQuery {
      .assembled(.all(below: parent, isRecursive: isRecursive), orders: [DocumentOrder(.key)])
    }
    let everything = try run(bench, 2, all(nil, true))
    #expect(
      keys(everything)
        == ["a/1", "a/1/b/2", "a/1/b/2/c/3", "a/1/d/1", "a/2/b/1", "a/3", "b/1", "z/1/y/1"])
    #expect(keys(try run(bench, 3, all(nil, false))) == ["a/1", "a/3", "b/1"])
    #expect(keys(try run(bench, 4, all("a/1", true))) == ["a/1/b/2", "a/1/b/2/c/3", "a/1/d/1"])
    #expect(keys(try run(bench, 5, all("a/1", false))) == ["a/1/b/2", "a/1/d/1"])
    #expect(keys(try run(bench, 6, all("a/2", false))) == ["a/2/b/1"])
    // From the middle, as those who delete everything ask for it.
    for (call, first) in zip(UInt32(10)..., everything.compactMap(\.document?.key)) {
      let rest = DocumentQuery.assembled(
        .all(below: nil, isRecursive: true), orders: [DocumentOrder(.key)],
        start: DocumentCursor([reference(first)], isInclusive: false), limit: (.first, 2))
      let behind = keys(everything).drop { $0 != first.text }.dropFirst().prefix(2)
      #expect(keys(try run(bench, call, rest)) == Array(behind), "\(first)")
    }
    // As it was before.
    bench.now += 10
    _ = try bench.ask(1, 30, .commit([.init("a/1/b/2", .delete)], transaction: [], nil))
    try write(bench, 31, ["c/1"])
    let then = DocumentReadPoint.time(DocumentVersion(microseconds: time))
    #expect(keys(try run(bench, 32, all(nil, true), then)) == keys(everything))
    #expect(keys(try run(bench, 33, all("a/1", true))) == ["a/1/b/2/c/3", "a/1/d/1"])
    let listing = DocumentListing(parent: "a/1", collectionID: nil)
    guard
      case .documents(let listed, "")? = try bench.ask(1, 34, .list(listing)).get().first
    else {
      Issue.record("the documents of all collections")
      return
    }
    #expect(listed.map(\.key.text) == ["a/1/d/1"])
  }

  @Test("tell first how many an offset leaves out")
  func offsets() throws {
    let bench = try bench()
    try write(bench, 1, ["c/a", "c/b", "c/c"])
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let some = try run(bench, 2, all.skipping(2))
    #expect(some.map(\.skipped) == [2, 0])
    #expect(some.map { $0.document?.key.text } == [nil, "c/c"])
    let none = try run(bench, 3, all.skipping(7))
    #expect(none.map(\.skipped) == [3])
    #expect(none.allSatisfy { $0.readTime != .none && $0.document == nil })
    let begun = try run(bench, 4, all.skipping(1), .begin(.readOnly(nil)))
    #expect(begun.map(\.transaction.isEmpty) == [false, true, true])
    #expect(begun.map(\.skipped) == [1, 0, 0])
    let alone = try run(bench, 5, all, .begin(.readOnly(nil)))
    #expect(alone.map(\.transaction.isEmpty) == [false, true, true, true])
    #expect(alone.map { $0.readTime == .none } == [true, false, false, false])
  }

  @Test("with explanations hand out the plan, and what was read")
  func explanations() throws {
    let bench = try bench()
    try write(bench, 1, ["c/a", "c/b"])
    var query = try DocumentQuery.collection(try CollectionPath("c")).where("n", .greaterThan, 0)
    query.explaining = .plan
    #expect(query.indexText == "(n ASC, __name__ ASC)")
    #expect(keys(try run(bench, 2, query)) == [])
    query.explaining = .analysis
    #expect(keys(try run(bench, 3, query)) == ["c/b"])
  }

  @Test(
    "hand out the nearest documents",
    arguments: [
      (DocumentVectorSearch.Measure.euclidean, ["c/a", "c/b", "c/c"], 0.0),
      (.cosine, ["c/a", "c/c", "c/b"], 0.0), (.dotProduct, ["c/c", "c/b", "c/a"], 50.0),
    ])
  func vectors(
    measure: DocumentVectorSearch.Measure, order: [String], nearest: Double
  ) throws {
    let bench = try bench()
    let vectors: [(DocumentKey, DocumentValue)] = [
      ("c/a", .vector([1, 0])), ("c/b", .vector([2, 3])), ("c/c", .vector([50, 1])),
      ("c/d", .vector([1, 2, 3])), ("c/e", "text"), ("c/f", .vector([0, 0])),
    ]
    let writes = vectors.map { bench.set($0.0, ["v": $0.1, "other": 1]) }
    _ = try bench.ask(1, 1, .commit(writes, transaction: [], nil)).get()
    var query = DocumentQuery.collection(try CollectionPath("c")).selecting(["other"])
    query.vectorSearch = DocumentVectorSearch(
      "v", [1, 0], by: measure, limit: 10, distanceField: "far")
    let found = try run(bench, 2, query)
    #expect(keys(found).filter { $0 != "c/f" } == order)
    // Nothing is near the zero vector by its angle.
    #expect(keys(found).contains("c/f") == (measure != .cosine))
    #expect(found.first?.document?.fields == ["other": 1, "far": .double(nearest)])
    let threshold = measure == .dotProduct ? 2.0 : 4.0
    query.vectorSearch = DocumentVectorSearch(
      "v", [1, 0], by: measure, limit: 2, threshold: threshold)
    let near = keys(try run(bench, 3, query))
    #expect(near == (measure == .euclidean ? ["c/a", "c/f"] : Array(order.prefix(2))))
  }

  @Test("large results go out in portions, as of one time, however much is written meanwhile")
  func portions() throws {
    let bench = try bench()
    let text = DocumentValue.string(String(repeating: "x", count: 1_000))
    for part in 0..<10 {
      let writes = (0..<100).map { index -> DocumentMutation in
        let n = Int64((part * 100 + index) * 7 % 1_000)
        return bench.set(
          DocumentKey(unchecked: "c/\(10_000 + part * 100 + index)"),
          ["n": .integer(n), "m": .integer(n % 3), "t": text])
      }
      _ = try bench.ask(1, UInt32(1 + part), .commit(writes, transaction: [], nil)).get()
    }
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let queries = [
      all, try all.ordered(by: "n", isDescending: true).selecting(["m"]),
      try all.where("m", .equal, 1).ordered(by: "n"), try all.skipping(10).first(777),
    ]
    for (index, query) in queries.enumerated() {
      let whole = try run(bench, UInt32(100 + 2 * index), query)
      bench.portion = BatchPortion(linkBytes: 100_000, totalBytes: 1 << 20)
      let call = UInt32(101 + 2 * index)
      let request = DocumentRequest(.query(query, .now), in: benchDatabase)
      try bench.send(
        1, .open(stream: call, .init(.runQuery, metadata: [], message: request.encode())))
      var (told, largest, batches) = ([DocumentQueryAnswer](), 0, 1)
      func hear() {
        let bytes = bench.lastOutputs.reduce(0) { sum, output in
          if case .send(_, let frame) = output { sum + frame.count } else { sum }
        }
        largest = max(largest, bytes)
        told += answers(bench.responses(1, call))
      }
      hear()
      while !bench.lastDeferred.isEmpty, batches < 500 {
        let deferred = bench.lastDeferred
        bench.portion = .unlimited
        bench.now += 1
        let key = DocumentKey(unchecked: "c/\(10_000 + batches * 31 % 1_000)")
        try bench.link(2 + index * 1_000 + batches)
        bench.portion = BatchPortion(linkBytes: 100_000, totalBytes: 1 << 20)
        let write = DocumentRequest(
          .commit([bench.set(key, ["n": 5, "m": 1, "t": text])], transaction: [], nil),
          in: benchDatabase)
        try bench.run([
          bench.frame(
            2 + index * 1_000 + batches,
            .open(
              stream: 1, .init(.commit, metadata: [], message: write.encode())))
        ])
        try bench.run(deferred)
        hear()
        batches += 1
      }
      bench.portion = .unlimited
      #expect(batches > 1)
      #expect(largest < 600_000, "\(largest) bytes at once")
      #expect(told == whole, "query \(index)")
    }
  }
}
