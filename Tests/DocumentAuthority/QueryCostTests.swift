import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

@Suite("what queries cost on a server")
struct QueryCostTests {
  /// Three thousand documents: `s` has ten values, `r` three hundred, `n` is unique.
  private func filled() throws -> AuthorityStore {
    let store = try AuthorityStore()
    for part in 0..<30 {
      try store.write(
        (0..<100).map { index in
          let number = part * 100 + index
          return set(
            DocumentKey(unchecked: "c/\(number)"),
            [
              "s": .string("s\(number % 10)"), "r": .integer(Int64(number % 300)),
              "n": .integer(Int64(number)), "l": [.integer(Int64(number % 50))],
            ])
        })
    }
    return store
  }

  private func check(
    _ store: AuthorityStore, _ query: DocumentQuery, returns count: Int, readsAtMost rows: Int
  ) throws {
    let (keys, explanation) = try store.explain(query)
    #expect(keys.count == count, "\(query.id)")
    #expect(
      explanation.cost.rowsRead <= rows,
      "\(query.id) read \(explanation.cost): \(explanation.choices)")
  }

  @Test("what one index serves reads about what it hands out")
  func singleFields() throws {
    let store = try filled()
    let all = DocumentQuery.collection(try CollectionPath("c"))
    try check(store, all.first(10), returns: 10, readsAtMost: 50)
    try check(
      store, all.ordered(by: "n", isDescending: true).first(10), returns: 10, readsAtMost: 60)
    try check(store, all.where("r", .equal, 7), returns: 10, readsAtMost: 30)
    try check(store, all.where("n", .greaterThan, 2_990), returns: 9, readsAtMost: 30)
    try check(store, all.where("l", .arrayContains, 3), returns: 60, readsAtMost: 150)
    try check(store, all.where("r", .in, [1, 2, 3]), returns: 30, readsAtMost: 90)
    let page = try all.ordered(by: "n").starting(after: [1_500]).first(10)
    try check(store, page, returns: 10, readsAtMost: 60)
    let deep = try all.starting(
      at: Document("c/999", .found([:])), in: store.authority.rows.database,
      isInclusive: false)
    try check(store, deep, returns: 0, readsAtMost: 10)
  }

  @Test("the rarest of several values decides")
  func joins() throws {
    let store = try filled()
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let both = try all.where("s", .equal, "s7").where("r", .equal, 7)
    try check(store, both, returns: 10, readsAtMost: 150)
    let neither = try all.where("s", .equal, "s8").where("r", .equal, 7)
    try check(store, neither, returns: 0, readsAtMost: 150)
  }

  @Test("an index over several fields is made when a query needed one")
  func composites() throws {
    let store = try filled()
    let query = try DocumentQuery.collection(CollectionPath("c"))
      .where("s", .equal, "s3").ordered(by: "n", isDescending: true).first(10)
    let backwards = try DocumentQuery.collection(CollectionPath("c"))
      .where("s", .equal, "s3").where("n", .lessThan, 1_000).first(10)
    let before = try store.explain(query).explanation
    #expect(before.wishes.count == 1)
    try store.buildIndexes(wishedBy: before)
    try check(store, query, returns: 10, readsAtMost: 60)
    try check(store, backwards, returns: 10, readsAtMost: 60)
    try store.write([.delete("c/2993"), set("c/x", ["s": "s3", "n": 5_000])])
    let (keys, _) = try store.explain(query)
    #expect(keys.prefix(3) == ["c/x", "c/2983", "c/2973"])
    #expect(try store.explain(query).explanation.wishes.isEmpty)
  }

  @Test("of 100,000 documents are read about as many as are handed out")
  func manyDocuments() throws {
    let store = try AuthorityStore()
    for part in 0..<100 {
      try store.write(
        (0..<1_000).map { index in
          let number = part * 1_000 + index
          return set(
            DocumentKey(unchecked: "c/\(number)"),
            ["n": .integer(Int64(number)), "r": .integer(Int64(number % 10_000))])
        })
    }
    let all = DocumentQuery.collection(try CollectionPath("c"))
    try check(store, all.first(10), returns: 10, readsAtMost: 50)
    try check(
      store, all.ordered(by: "n", isDescending: true).first(10), returns: 10, readsAtMost: 60)
    try check(store, all.where("r", .equal, 7), returns: 10, readsAtMost: 30)
    try check(store, all.where("n", .greaterThan, 99_990), returns: 9, readsAtMost: 30)
    try check(
      store, all.where("r", .in, [1, 2]).ordered(by: "n").first(5), returns: 5, readsAtMost: 200)
    let page = try all.ordered(by: "n").starting(after: [50_000]).first(10)
    try check(store, page, returns: 10, readsAtMost: 60)
    try check(store, all.where("n", .equal, -1), returns: 0, readsAtMost: 1)
  }

  @Test("a query that was served well asks for no index")
  func modesty() throws {
    let store = try filled()
    let authority = store.authority
    let cheap = try DocumentQuery.collection(CollectionPath("c"))
      .where("r", .equal, 3).ordered(by: "n").first(10)
    let explanation = try store.explain(cheap).explanation
    let none = try store.read { reader throws(StorageError) in
      try authority.indexes(worth: explanation, in: reader)
    }
    #expect(none.isEmpty)
    let dear = try DocumentQuery.collection(CollectionPath("c"))
      .where("s", .equal, "s3").where("n", .greaterThan, 2_000).ordered(by: "n").first(3)
    let other = try store.explain(dear).explanation
    let some = try store.read { reader throws(StorageError) in
      try authority.indexes(worth: other, in: reader)
    }
    #expect(some.isEmpty == (other.cost.rowsRead < DocumentIndexLimits.rowsRead))
  }

  @Test("counting keeps no documents and obeys its bound")
  func aggregation() throws {
    let store = try filled()
    let query = try DocumentQuery.collection(CollectionPath("c")).where("s", .equal, "s3")
    let (values, explanation) = try store.read { reader throws(StorageError) in
      try store.authority.aggregate(
        [.init("n", .count(upTo: 5))], over: query, in: reader)
    }.get()
    #expect(values == [5])
    #expect(explanation.cost.rowsRead <= 50)
    let (sums, _) = try store.read { reader throws(StorageError) in
      try store.authority.aggregate(
        [.init("n", .count(upTo: nil)), .init("m", .average("n"))], over: query, in: reader)
    }.get()
    #expect(sums == [300, .double(1_498)])
  }
}
